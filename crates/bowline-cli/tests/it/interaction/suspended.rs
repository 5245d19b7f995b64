//! Calls that wait for answers, from one run to the next.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{configure, rig};
use crate::rig::{Rig, example, finish};

/// Calls a tool that nobody answers, and gives the name of what is suspended.
#[track_caller]
fn suspend(rig: &Rig, words: &[&str]) -> String {
    let ran = rig.run(&[&["call", "--json"], words].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = ran.json();
    let id = told["suspended"].as_str().expect("a name").to_owned();
    assert!(told["questions"].is_object(), "{told}");
    assert!(file(rig, &id).is_file());
    id
}

fn file(rig: &Rig, id: &str) -> PathBuf {
    let folder = rig.home().join(".local/state/bowline/suspended");
    folder.join(format!("{id}.json"))
}

#[test]
fn a_call_goes_on_with_answers_round_by_round() {
    let rig = rig();
    let id = suspend(&rig, &["asker.in_turn"]);
    let ran = rig.run(&["resume", &id, "row=7"]);
    assert_eq!((ran.code, ran.text()), (Some(0), ""), "{ran:?}");
    assert!(
        ran.stderr.contains(&format!("bowline resume {id} dish=…")),
        "{ran:?}"
    );
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(
        (ran.code, ran.text()),
        (Some(0), "row 7 with soup\n"),
        "{ran:?}"
    );
    assert!(!file(&rig, &id).exists());
}

#[test]
fn answers_are_for_what_was_asked_and_not_for_what_comes_later() {
    let rig = rig();
    let id = suspend(&rig, &["asker.same_name"]);
    let ran = rig.run(&["resume", &id, "value=red"]);
    assert_eq!((ran.code, ran.text()), (Some(0), ""), "{ran:?}");
    assert!(ran.stderr.contains("  The door? ("), "{ran:?}");
    let ran = rig.run(&["resume", &id, "value=blue"]);
    let both = "a red wall and a blue door\n";
    assert_eq!((ran.code, ran.text()), (Some(0), both), "{ran:?}");
    // Unless that is asked for.
    let id = suspend(&rig, &["asker.same_name"]);
    let ran = rig.run(&["resume", &id, "value=red", "--answer=value=green"]);
    assert_eq!(ran.text(), "a red wall and a green door\n", "{ran:?}");
}

#[test]
fn several_answers_make_a_list_or_an_error() {
    let rig = rig();
    let id = suspend(&rig, &["asker.every_field"]);
    let words = ["resume", &id, "name=Ada", "class=economy"];
    let twice = rig.run(&[&words[..], &["bags=1", "bags=2"]].concat());
    assert_eq!((twice.code, twice.text()), (Some(1), ""), "{twice:?}");
    let why = "error: asker.every_field: bags: answered more than once, but takes one value\n";
    assert!(twice.stderr.ends_with(why), "{twice:?}");
    let lists = ["bags=1", "meals=lunch", "meals:=[dinner]"];
    let ran = rig.run(&[&words[..], &lists].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answer: Value = serde_json::from_str(ran.text()).expect("JSON");
    assert_eq!(answer["content"]["meals"], json!(["lunch", "dinner"]));
}

#[test]
fn an_answer_to_no_question_is_an_error_before_anything_is_sent() {
    let rig = rig();
    let id = suspend(&rig, &["asker.two_at_once"]);
    let before = fs::read(file(&rig, &id)).expect("it is there");
    // The server is not even started.
    rig.configure(&json!({"mcpServers": {"asker": {"command": "false"}}}));
    let ran = rig.run(&["resume", &id, "row=7", "dsh=soup"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said =
        "error: no question has a field `dsh`; nothing was sent\n  hint: did you mean `dish`?\n";
    assert!(ran.stderr.starts_with(said), "{ran:?}");
    assert_eq!(fs::read(file(&rig, &id)).expect("it is there"), before);
    configure(&rig, &json!({}));
    // A file may say more than is asked for.
    rig.file(
        "answers.json",
        r#"{"row": 7, "dish": "soup", "wine": "red"}"#,
    );
    let ran = rig.run(&["resume", &id, "@answers.json"]);
    assert_eq!(
        (ran.code, ran.text()),
        (Some(0), "row 7 with soup\n"),
        "{ran:?}"
    );
    assert_eq!(ran.stderr, "no question has a field `wine`\n");
}

#[test]
fn what_is_open_is_told_with_the_line_to_type() {
    let rig = rig();
    let ran = rig.run(&["call", "asker.every_field", "--answer=mail=nobody"]);
    assert_eq!((ran.code, ran.text()), (Some(1), ""), "{ran:?}");
    assert!(
        ran.stderr
            .ends_with("error: asker.every_field: mail: this is not an e-mail address\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("the call is suspended as"), "{ran:?}");
    assert!(
        ran.stderr.contains("          Name: Who travels?\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("f (Front), b (Back)"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("one of these: economy, business; required\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains(" name=… bags=1 class=…\n"), "{ran:?}");
}

#[test]
fn what_was_answered_is_kept() {
    let rig = rig();
    let id = suspend(&rig, &["asker.two_at_once", "--answer=row=7"]);
    let listed = rig.run(&["resume"]);
    assert!(
        listed
            .text()
            .contains(&format!("  bowline resume {id} dish=…\n")),
        "{listed:?}"
    );
    let wrong = rig.run(&["resume", &id, "row=99", "dish=soup"]);
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(
        wrong.stderr.contains("row: 99 is greater than 40"),
        "{wrong:?}"
    );
    let ran = rig.run(&["resume", &id, "row=8"]);
    assert_eq!(ran.text(), "row 8 with soup\n", "{ran:?}");
}

#[test]
fn a_command_after_dashes_is_found_again() {
    let rig = rig();
    let asker = example("asker");
    let asker = asker.to_str().expect("the path is text");
    let id = suspend(&rig, &["in_turn", "--answer=row=1", "--", asker]);
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.text(), "row 1 with soup\n", "{ran:?}");
}

/// Configures the server `asker` as a script, which then can do something
/// else although the entry says the same.
#[cfg(unix)]
fn scripted(rig: &Rig, script: &str) {
    let path = rig.file("asker.sh", script);
    let entry = json!({"command": "sh", "args": [path]});
    rig.configure(&json!({"mcpServers": {"asker": entry}}));
}

#[test]
fn a_call_goes_on_only_where_it_was_made() {
    let rig = rig();
    let id = suspend(&rig, &["asker.in_turn"]);
    let before = fs::read(file(&rig, &id)).expect("it is there");
    let refused = |id: &str, answer: &str| {
        let ran = rig.run(&["resume", id, answer]);
        assert_eq!((ran.code, ran.text()), (Some(1), ""), "{ran:?}");
        let why = "error: `asker` is no longer the server that the call was made to: its entry in ";
        assert!(ran.stderr.starts_with(why), "{ran:?}");
        let advice = format!("discard the call with `bowline resume {id} --discard`");
        assert!(ran.stderr.contains(&advice), "{ran:?}");
    };
    // Another server has the name now. It is not even started.
    let other = json!({"command": "sh", "args": ["-c", "touch started"]});
    rig.configure(&json!({"mcpServers": {"asker": other}}));
    refused(&id, "row=7");
    assert!(!rig.work().join("started").exists());
    // Nor is the same program with other variables.
    configure(&rig, &json!({"ASKER_SECRET": "something else"}));
    refused(&id, "row=7");
    assert_eq!(fs::read(file(&rig, &id)).expect("it is there"), before);
    configure(&rig, &json!({}));
    let ran = rig.run(&["resume", &id, "row=7"]);
    assert_eq!((ran.code, ran.text()), (Some(0), ""), "{ran:?}");
    // A file that does not say what the server was is not believed.
    let text = fs::read(file(&rig, &id)).expect("it is there");
    let mut suspended: Value = serde_json::from_slice(&text).expect("JSON");
    let place = suspended["server"].as_object_mut().expect("an object");
    assert!(place.remove("digest").is_some());
    fs::write(file(&rig, &id), suspended.to_string()).expect("it can be written");
    refused(&id, "dish=soup");
}

#[test]
fn a_call_does_not_go_on_in_another_folder() {
    let rig = rig();
    let folder = rig.work().join("project");
    fs::create_dir(&folder).expect("it can be made");
    let asker = example("asker");
    let asker = asker.to_str().expect("the path is text");
    let suspended = |words: &[&str]| {
        let mut command = rig.command(&[&["call", "--json"], words].concat());
        let child = command.current_dir(&folder).spawn().expect("it starts");
        let told = finish(child).json();
        told["suspended"].as_str().expect("a name").to_owned()
    };
    let by_command = suspended(&["in_turn", "--", asker]);
    let by_name = suspended(&["asker.in_turn"]);
    let built_in = suspended(&["demo.book_flight", "destination=Oslo"]);
    fs::remove_dir(&folder).expect("it is empty");
    for id in [by_command, by_name] {
        let ran = rig.run(&["resume", &id, "row=1"]);
        assert_eq!((ran.code, ran.text()), (Some(1), ""), "{ran:?}");
        let why = "in which the call was made, no longer exists";
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert!(ran.stderr.contains("--discard"), "{ran:?}");
        assert!(file(&rig, &id).is_file());
    }
    // What is built in is the same everywhere.
    let ran = rig.run(&["resume", &built_in, "flight=Gull-2"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
#[cfg(unix)]
fn a_lost_answer_is_sent_again() {
    let rig = Rig::empty();
    let works = format!("exec {}", example("asker").display());
    scripted(&rig, &works);
    let id = suspend(&rig, &["asker.in_turn", "--answer=row=1"]);
    scripted(&rig, "exit 1");
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(file(&rig, &id).is_file());
    rig.configure(&json!({"mcpServers": {}}));
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("server `asker` no longer exists in"),
        "{ran:?}"
    );
    scripted(&rig, &works);
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.text(), "row 1 with soup\n", "{ran:?}");
}

#[test]
#[cfg(unix)]
fn a_server_that_dies_amid_the_last_round_gets_the_answers_again() {
    let rig = Rig::empty();
    let asker = example("asker");
    let works = format!("exec {}", asker.display());
    scripted(&rig, &works);
    let id = suspend(&rig, &["asker.in_turn", "--answer=row=1"]);
    // It opens a session, and dies of the first call.
    let dying = format!("sed -u '/tools.call/,$d' | {}", asker.display());
    scripted(&rig, &dying);
    let ran = rig.run(&["resume", &id, "dish=soup", "--timeout", "1"]);
    assert!(matches!(ran.code, Some(4 | 124)), "{ran:?}");
    assert!(
        ran.stderr.contains("still suspended, with its answers"),
        "{ran:?}"
    );
    scripted(&rig, &works);
    let ran = rig.run(&["resume", &id]);
    assert_eq!(ran.text(), "row 1 with soup\n", "{ran:?}");
}

#[test]
#[cfg(unix)]
fn a_refusal_ends_it() {
    let rig = Rig::empty();
    let asker = example("asker");
    scripted(&rig, &format!("exec {}", asker.display()));
    let id = suspend(&rig, &["asker.in_turn"]);
    let secret = "ASKER_SECRET='another secret than the one before'";
    scripted(&rig, &format!("{secret} exec {}", asker.display()));
    let ran = rig.run(&["resume", &id, "row=1"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("make a new one"), "{ran:?}");
    assert!(!file(&rig, &id).exists());
}

#[test]
fn calls_are_listed_and_forgotten() {
    let rig = rig();
    let ran = rig.run(&["resume"]);
    assert_eq!((ran.code, ran.text()), (Some(0), ""));
    assert_eq!(ran.stderr, "no suspended calls\n");
    let id = suspend(&rig, &["asker.haiku"]);
    let listed = rig.run(&["resume", "--json"]).json();
    assert_eq!(listed[0]["suspended"], *id);
    assert_eq!(listed[0]["tool"], "haiku");
    let ran = rig.run(&["resume", &format!("{id}9")]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains(&format!("did you mean `{id}`?")),
        "{ran:?}"
    );
    let ran = rig.run(&["resume", "../../../etc/passwd"]);
    assert!(ran.stderr.contains("unknown suspended call"), "{ran:?}");
    let ran = rig.run(&["resume", &id, "--discard"]);
    assert_eq!(ran.stderr, format!("discarded {id}\n"));
    assert_eq!(rig.run(&["resume", "--json"]).json(), json!([]));
}

#[test]
fn what_is_too_old_goes() {
    let rig = rig();
    let id = suspend(&rig, &["asker.haiku"]);
    let path = file(&rig, &id);
    let text = fs::read_to_string(&path).expect("it is there");
    let mut old: Value = serde_json::from_str(&text).expect("JSON");
    old["at"] = 1_700_000_000.into();
    fs::write(&path, old.to_string()).expect("it can be written");
    assert_eq!(rig.run(&["resume", "--json"]).json(), json!([]));
    assert!(!path.exists());
}

#[test]
#[cfg(unix)]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let rig = rig();
    let id = suspend(&rig, &["asker.haiku"]);
    let mode = fs::metadata(file(&rig, &id))
        .expect("it is there")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}
