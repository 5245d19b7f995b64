//! Calls that wait for answers, from one run to the next.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{configure, rig};
use crate::rig::{Rig, example};

/// Calls a tool that nobody answers, and gives the name of what is parked.
#[track_caller]
fn park(rig: &Rig, words: &[&str]) -> String {
    let ran = rig.run(&[&["call", "--json"], words].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = ran.json();
    let id = told["parked"].as_str().expect("a name").to_owned();
    assert!(told["questions"].is_object(), "{told}");
    assert!(file(rig, &id).is_file());
    id
}

fn file(rig: &Rig, id: &str) -> PathBuf {
    let folder = rig.home().join(".local/state/bowline/parked");
    folder.join(format!("{id}.json"))
}

#[test]
fn a_call_goes_on_with_answers_round_by_round() {
    let rig = rig();
    let id = park(&rig, &["talker.in_turn"]);
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
    let id = park(&rig, &["talker.same_name"]);
    let ran = rig.run(&["resume", &id, "value=red"]);
    assert_eq!((ran.code, ran.text()), (Some(0), ""), "{ran:?}");
    assert!(ran.stderr.contains("  The door? ("), "{ran:?}");
    let ran = rig.run(&["resume", &id, "value=blue"]);
    let both = "a red wall and a blue door\n";
    assert_eq!((ran.code, ran.text()), (Some(0), both), "{ran:?}");
    // Unless that is asked for.
    let id = park(&rig, &["talker.same_name"]);
    let ran = rig.run(&["resume", &id, "value=red", "--answer=value=green"]);
    assert_eq!(ran.text(), "a red wall and a green door\n", "{ran:?}");
}

#[test]
fn several_answers_make_a_list_or_an_error() {
    let rig = rig();
    let id = park(&rig, &["talker.every_field"]);
    let words = ["resume", &id, "name=Ada", "class=economy"];
    let twice = rig.run(&[&words[..], &["bags=1", "bags=2"]].concat());
    assert_eq!((twice.code, twice.text()), (Some(1), ""), "{twice:?}");
    let why =
        "error: talker.every_field: bags: it is answered more than once, and takes one value\n";
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
    let id = park(&rig, &["talker.two_at_once"]);
    let before = fs::read(file(&rig, &id)).expect("it is there");
    // The server is not even started.
    rig.configure(&json!({"mcpServers": {"talker": {"command": "false"}}}));
    let ran = rig.run(&["resume", &id, "row=7", "dsh=soup"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = "error: nobody asked for `dsh`; nothing was sent\n  hint: did you mean `dish`?\n";
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
    assert_eq!(ran.stderr, "nobody asked for `wine`\n");
}

#[test]
fn what_is_open_is_told_with_the_line_to_type() {
    let rig = rig();
    let ran = rig.run(&["call", "talker.every_field", "--answer=mail=nobody"]);
    assert_eq!((ran.code, ran.text()), (Some(1), ""), "{ran:?}");
    assert!(
        ran.stderr
            .ends_with("error: talker.every_field: mail: this is not an e-mail address\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("the call is parked as"), "{ran:?}");
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
    let id = park(&rig, &["talker.two_at_once", "--answer=row=7"]);
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
    let talker = example("talker");
    let talker = talker.to_str().expect("the path is text");
    let id = park(&rig, &["in_turn", "--answer=row=1", "--", talker]);
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.text(), "row 1 with soup\n", "{ran:?}");
}

#[test]
fn a_lost_answer_is_sent_again() {
    let rig = rig();
    let id = park(&rig, &["talker.in_turn", "--answer=row=1"]);
    let broken = json!({"command": "false"});
    rig.configure(&json!({"mcpServers": {"talker": broken}}));
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(file(&rig, &id).is_file());
    rig.configure(&json!({"mcpServers": {}}));
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("there is no server `talker`"),
        "{ran:?}"
    );
    configure(&rig, &json!({}));
    let ran = rig.run(&["resume", &id, "dish=soup"]);
    assert_eq!(ran.text(), "row 1 with soup\n", "{ran:?}");
}

#[test]
#[cfg(unix)]
fn a_server_that_dies_amid_the_last_round_gets_the_answers_again() {
    let rig = rig();
    let id = park(&rig, &["talker.in_turn", "--answer=row=1"]);
    // It opens a session, and dies of the first call.
    let talker = example("talker");
    let script = format!("sed -u '/tools.call/,$d' | {}", talker.display());
    let dying = json!({"command": "sh", "args": ["-c", script]});
    rig.configure(&json!({"mcpServers": {"talker": dying}}));
    let ran = rig.run(&["resume", &id, "dish=soup", "--timeout", "1"]);
    assert!(matches!(ran.code, Some(4 | 124)), "{ran:?}");
    assert!(
        ran.stderr.contains("still parked, with its answers"),
        "{ran:?}"
    );
    configure(&rig, &json!({}));
    let ran = rig.run(&["resume", &id]);
    assert_eq!(ran.text(), "row 1 with soup\n", "{ran:?}");
}

#[test]
fn a_refusal_ends_it() {
    let rig = rig();
    let id = park(&rig, &["talker.in_turn"]);
    configure(
        &rig,
        &json!({"TALKER_SECRET": "another secret than the one before"}),
    );
    let ran = rig.run(&["resume", &id, "row=1"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("make it anew"), "{ran:?}");
    assert!(!file(&rig, &id).exists());
}

#[test]
fn calls_are_listed_and_forgotten() {
    let rig = rig();
    let ran = rig.run(&["resume"]);
    assert_eq!((ran.code, ran.text()), (Some(0), ""));
    assert_eq!(ran.stderr, "no call waits for answers\n");
    let id = park(&rig, &["talker.haiku"]);
    let listed = rig.run(&["resume", "--json"]).json();
    assert_eq!(listed[0]["parked"], *id);
    assert_eq!(listed[0]["tool"], "haiku");
    let ran = rig.run(&["resume", &format!("{id}9")]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains(&format!("did you mean `{id}`?")),
        "{ran:?}"
    );
    let ran = rig.run(&["resume", "../../../etc/passwd"]);
    assert!(ran.stderr.contains("no call is parked as"), "{ran:?}");
    let ran = rig.run(&["resume", &id, "--discard"]);
    assert_eq!(ran.stderr, format!("forgot {id}\n"));
    assert_eq!(rig.run(&["resume", "--json"]).json(), json!([]));
}

#[test]
fn what_is_too_old_goes() {
    let rig = rig();
    let id = park(&rig, &["talker.haiku"]);
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
    let id = park(&rig, &["talker.haiku"]);
    let mode = fs::metadata(file(&rig, &id))
        .expect("it is there")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}
