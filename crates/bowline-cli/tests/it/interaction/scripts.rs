//! Without a terminal: answers that were given beforehand, or none.

use super::{HANDSHAKE, STATELESS, rig};
use crate::rig::Ran;

#[track_caller]
fn call(words: &[&str]) -> Ran {
    let ran = rig().run(&[&["call"], words].concat());
    assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
    ran
}

#[test]
fn options_answer_forms_in_every_era() {
    for era in [HANDSHAKE, STATELESS] {
        // Where questions have no names, nothing can be for one of them.
        let (bags, option) = match era {
            HANDSHAKE => (2, "--answer=bags=2"),
            _ => (3, "--answer=trip.bags=3"),
        };
        let ran = call(&[
            "asker.every_field",
            "--protocol",
            era,
            "--answer=name=Ada",
            option,
            "--answer=class=2",
            "--answer=window=no",
            "--answer=seat=Front",
            "--answer=meals:=[\"lunch\"]",
            "--answer=meals=dinner",
        ]);
        let answer: serde_json::Value = serde_json::from_str(ran.text()).expect("JSON");
        let content = serde_json::json!({
            "name": "Ada", "bags": bags, "class": "business", "window": false, "seat": "f",
            "meals": ["lunch", "dinner"],
        });
        assert_eq!(answer["content"], content, "{era}");
    }
}

#[test]
fn a_file_answers_forms() {
    let rig = rig();
    rig.file("answers.json", r#"{"seat": {"row": 12}, "dish": "soup"}"#);
    let words = ["call", "asker.two_at_once", "--answer", "@answers.json"];
    let ran = rig.run(&words);
    assert_eq!(ran.text(), "row 12 with soup\n", "{ran:?}");
    assert_eq!(ran.stderr, "");
    rig.file("answers.json", "[]");
    let ran = rig.run(&words);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("answers.json: expected an object"),
        "{ran:?}"
    );
}

#[test]
fn defaults_are_enough_for_those_who_accept() {
    for era in [HANDSHAKE, STATELESS] {
        let ran = call(&["asker.nothing", "--accept", "--protocol", era]);
        assert_eq!(ran.text(), "{\"action\":\"accept\",\"content\":{}}\n");
        let ran = call(&["asker.visit", "--accept", "--protocol", era]);
        assert_eq!(ran.text(), "on the way\n");
        assert!(
            ran.stderr.contains("visit https://xn--bcher-kva.example/"),
            "{ran:?}"
        );
    }
}

#[test]
fn what_nobody_answers_is_declined_where_there_is_no_later() {
    let ran = call(&["asker.every_field", "--protocol", HANDSHAKE]);
    assert_eq!(ran.text(), "{\"action\":\"decline\"}\n");
    assert!(
        ran.stderr
            .contains("--answer name=… --answer bags=1 --answer class=…"),
        "{ran:?}"
    );
    let answers = [
        ("--answer=name=Ada", "no answer was given for bags, class"),
        ("--answer=bags=10", "bags: 10 is greater than 9"),
    ];
    for (answer, why) in answers {
        let words = ["call", "asker.every_field", "--protocol", HANDSHAKE, answer];
        let ran = rig().run(&words);
        assert_eq!(ran.text(), "{\"action\":\"decline\"}\n");
        assert!(
            ran.stderr.contains(&format!("declined, because {why}\n")),
            "{ran:?}"
        );
        // What was typed was not sent.
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let error = format!("error: asker.every_field: {why}\n");
        assert!(ran.stderr.ends_with(&error), "{ran:?}");
    }
}

#[test]
fn an_answer_that_is_not_sent_is_a_failure() {
    // Whoever declines all else has answered this.
    for more in ["--decline", "--no-input"] {
        let words = ["call", "asker.every_field", "--answer=name=Ada", more];
        let ran = rig().run(&words);
        assert_eq!((ran.code, ran.text()), (Some(1), ""), "{ran:?}");
        let error = "error: asker.every_field: no answer was given for bags, class\n";
        assert!(ran.stderr.ends_with(error), "{ran:?}");
        assert!(ran.stderr.contains("the call is suspended as"), "{ran:?}");
    }
    let ran = rig().run(&["call", "asker.every_field", "--json", "--answer=bags=10"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.json()["suspended"].is_string(), "{ran:?}");
}

#[test]
fn what_is_piped_in_is_no_answer() {
    let words = ["call", "asker.nothing", "--protocol", HANDSHAKE];
    let ran = rig().run_with(&words, "y\n");
    assert_eq!(ran.text(), "{\"action\":\"decline\"}\n", "{ran:?}");
}

#[test]
fn whoever_declines_is_asked_nothing() {
    for era in [HANDSHAKE, STATELESS] {
        let ran = call(&["asker.every_field", "--decline", "--protocol", era]);
        assert_eq!(ran.text(), "{\"action\":\"decline\"}\n");
        assert_eq!(ran.stderr, "");
        let ran = rig().run(&["call", "asker.haiku", "--decline", "--protocol", era]);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        assert!(
            ran.stderr
                .contains("the user rejected the sampling request"),
            "{ran:?}"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_command_answers_for_a_model() {
    let rig = rig();
    let seen = rig.work().join("seen");
    let command = format!("cat > {}; echo Over, under, through.", seen.display());
    for era in [HANDSHAKE, STATELESS] {
        let words = [
            "call",
            "asker.haiku",
            "--sampling-command",
            &command,
            "--protocol",
            era,
        ];
        let ran = rig.run(&words);
        assert_eq!(
            ran.text(),
            "the model wrote: Over, under, through.\n",
            "{ran:?}"
        );
        let seen = std::fs::read_to_string(&seen).expect("it was asked");
        let seen: serde_json::Value = serde_json::from_str(&seen).expect("JSON");
        assert_eq!(
            seen["messages"][0]["content"]["text"],
            "Write a haiku about knots."
        );
        assert_eq!(seen["maxTokens"], 100);
    }
}

#[test]
#[cfg(unix)]
fn a_command_is_found_in_the_settings() {
    let rig = rig();
    let settings = r#"{"sampling": {"command": ["printf", "%s", "{\"content\": \"knots\"}"]}}"#;
    let path = rig.home().join(".config/bowline/settings.json");
    std::fs::write(path, settings).expect("it can be written");
    let ran = rig.run(&["call", "asker.haiku"]);
    assert_eq!(ran.text(), "the model wrote: knots\n", "{ran:?}");
}

#[test]
#[cfg(unix)]
fn a_command_that_fails_or_hangs_ends_nothing_else() {
    let rig = rig();
    let settings = r#"{"sampling": {"command": "sleep 100", "timeout": 0.1}}"#;
    let path = rig.home().join(".config/bowline/settings.json");
    std::fs::write(path, settings).expect("it can be written");
    let ran = rig.run(&["call", "asker.haiku", "--protocol", HANDSHAKE]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(
        ran.stderr.contains("`sleep 100`: timed out after 0.1 s"),
        "{ran:?}"
    );
    let failing = "echo no key >&2; exit 3";
    let ran = rig.run(&["call", "asker.haiku", "--sampling-command", failing]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let error = format!("error: asker.haiku: `{failing}`: failed (exit status: 3): no key\n");
    assert!(ran.stderr.ends_with(&error), "{ran:?}");
    assert!(ran.stderr.contains("the call is suspended as"), "{ran:?}");
}

#[test]
fn roots_are_told_where_there_are_any() {
    let rig = rig();
    for era in [HANDSHAKE, STATELESS] {
        let ran = rig.run(&["call", "asker.places", "--root", ".", "--protocol", era]);
        let text = ran.text().trim_end();
        assert!(
            text.starts_with("file:///") && text.ends_with("/work"),
            "{ran:?}"
        );
        let ran = rig.run(&["call", "asker.places", "--protocol", era]);
        assert_eq!(ran.code, Some(5), "{ran:?}");
    }
}

#[test]
fn progress_and_log_messages_are_remarks() {
    for era in [HANDSHAKE, STATELESS] {
        let ran = call(&["asker.work", "--progress", "--log=info", "--protocol", era]);
        assert_eq!(ran.text(), "all done\n");
        let bar = "=".repeat(24);
        assert!(
            ran.stderr.contains(&format!("work [{bar}] 100 % part 4\n")),
            "{ran:?}"
        );
        assert!(
            ran.stderr
                .contains("[info] works: part 2\\u{1b}[2J is done\n"),
            "{ran:?}"
        );
        assert!(ran.stderr.contains("[warning] {\"left\":0}\n"), "{ran:?}");
        let ran = call(&["asker.work", "--log=off", "--protocol", era]);
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn answers_that_nobody_wanted_are_told() {
    let ran = rig().run(&[
        "call",
        "asker.two_at_once",
        "--answer=row=1",
        "--answer=dish=a",
        "--answer=rwo=2",
    ]);
    assert_eq!(
        (ran.code, ran.text()),
        (Some(1), "row 1 with a\n"),
        "{ran:?}"
    );
    let error = "error: asker.two_at_once: no question has a field `rwo`; did you mean `row`?\n";
    assert_eq!(ran.stderr, error);
}

/// How often a command that answers for a model was run.
#[cfg(unix)]
fn asked_of_a_model(rig: &crate::rig::Rig, words: &[&str]) -> (Ran, usize) {
    let asked = rig.work().join("asked");
    // There may be none yet.
    let _ = std::fs::remove_file(&asked);
    let line = "--sampling-command=echo once >> asked; echo knots";
    let ran = rig.run(&[&["call", "asker.haikus", line], words].concat());
    let asked = std::fs::read_to_string(asked).unwrap_or_default();
    (ran, asked.lines().count())
}

#[test]
#[cfg(unix)]
fn a_call_asks_a_model_only_so_often() {
    let rig = rig();
    let (ran, asked) = asked_of_a_model(&rig, &["--protocol", HANDSHAKE]);
    assert_eq!((ran.code, asked), (Some(5), 16), "{ran:?}");
    assert_eq!(ran.text(), "16 haikus\n", "{ran:?}");
    let why = "a model was asked 16 times in this call, which is the limit";
    assert_eq!(ran.stderr.matches(why).count(), 2, "{ran:?}");
    assert!(ran.stderr.contains("--max-sampling"), "{ran:?}");
    let (ran, asked) = asked_of_a_model(&rig, &["--protocol", HANDSHAKE, "--max-sampling=30"]);
    assert_eq!((ran.code, asked), (Some(0), 30), "{ran:?}");
    // Where there is a later, the call waits for it.
    let (ran, asked) = asked_of_a_model(&rig, &["--protocol", STATELESS, "--max-sampling=3"]);
    assert_eq!((ran.code, asked, ran.text()), (Some(5), 3, ""), "{ran:?}");
    assert!(ran.stderr.contains("the call is suspended as"), "{ran:?}");
    let (ran, asked) = asked_of_a_model(&rig, &["--max-sampling=0"]);
    assert_eq!((ran.code, asked), (Some(5), 0), "{ran:?}");
}
