//! In a terminal, with somebody in front of it.

use std::fs;

use serde_json::json;

use super::{HANDSHAKE, STATELESS, rig};
use crate::{
    rig::{Rig, example},
    terminal::Terminal,
};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

#[test]
fn a_form_is_filled_in_field_by_field() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let mut terminal = Terminal::run(&rig, &["call", "asker.every_field", "--protocol", era]);
        terminal.wait_for("asker asks:\n  Who travels, and how?");
        terminal.wait_for("Name (text, at least 1 character; required)\n  Who travels?");
        terminal.wait_for("> ").type_line("Ada");
        terminal
            .wait_for("mail (e-mail address; optional)")
            .wait_for("> ")
            .type_line("");
        terminal
            .wait_for("day (date")
            .wait_for("> ")
            .type_line("2026-02-30");
        terminal
            .wait_for("this is not a date")
            .wait_for("> ")
            .type_line("2026-02-28");
        terminal.wait_for("bags (whole number, 0 to 9; required)");
        terminal.wait_for("[1] > ").type_line("ten");
        terminal
            .wait_for("expected a number")
            .wait_for("> ")
            .type_line("10");
        terminal
            .wait_for("10 is greater than 9")
            .wait_for("> ")
            .type_line("2");
        terminal
            .wait_for("Weight (number")
            .wait_for("> ")
            .type_line("-2.5");
        terminal
            .wait_for("At the window (yes or no")
            .wait_for("[yes] > ")
            .type_line("");
        terminal.wait_for("class (one of these; required)");
        terminal.wait_for(" 1  economy").wait_for(" 2  business");
        terminal.wait_for("> ").type_line("");
        terminal
            .wait_for("a value is required")
            .wait_for("> ")
            .type_line("bussiness");
        terminal
            .wait_for("did you mean `business`?")
            .wait_for("> ")
            .type_line("2");
        terminal
            .wait_for("seat (one of these")
            .wait_for(" 1  Front (f)");
        terminal.wait_for("[b] > ").type_line("front");
        terminal.wait_for("meals (at most 2 of these; optional)");
        terminal.wait_for("> ").type_line("1, 2, 3");
        terminal
            .wait_for("3 choices; the maximum is 2")
            .wait_for("> ")
            .type_line("lunch,3");
        terminal
            .wait_for("Name           Ada")
            .wait_for("At the window  yes");
        terminal.wait_for("Send this to asker? [Y]es, [e]dit, [d]ecline or [c]ancel: ");
        terminal.type_line("y");
        let ran = terminal.end();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let answer: serde_json::Value = serde_json::from_str(ran.text()).expect("JSON");
        let content = json!({
            "bags": 2, "class": "business", "day": "2026-02-28", "meals": ["lunch", "dinner"],
            "name": "Ada", "seat": "f", "weight": -2.5, "window": true,
        });
        assert_eq!(
            answer,
            json!({"action": "accept", "content": content}),
            "{era}"
        );
    }
}

#[test]
fn a_form_can_be_edited_declined_and_cancelled() {
    let endings = [
        ("d", "\"decline\""),
        ("c", "\"cancel\""),
        (CTRL_D, "\"cancel\""),
    ];
    for (keys, action) in endings {
        let rig = rig();
        let mut terminal = Terminal::run(&rig, &["call", "asker.secret"]);
        terminal.wait_for("> ").type_line("a");
        terminal
            .wait_for("password  a")
            .wait_for("[c]ancel: ")
            .type_line("edit");
        terminal.wait_for("[a] > ").type_line("b");
        terminal
            .wait_for("password  b")
            .wait_for("[c]ancel: ")
            .type_line("what?");
        terminal
            .wait_for("Please type one of y, e, d, c.")
            .wait_for("[c]ancel: ");
        if keys == CTRL_D {
            terminal.press(keys);
        } else {
            terminal.type_line(keys);
        }
        let ran = terminal.end();
        assert_eq!(ran.text(), format!("{{\"action\":{action}}}\n"), "{ran:?}");
    }
}

#[test]
fn secrets_are_warned_of_and_nothing_steers_the_terminal() {
    let rig = rig();
    let mut terminal = Terminal::run(&rig, &["call", "asker.secret"]);
    terminal
        .wait_for("Sign in\\u{1b}[2J")
        .wait_for("This looks like a secret.");
    terminal.wait_for("> ").press(CTRL_D);
    let ran = terminal.end();
    assert!(!ran.stderr.contains("\u{1b}[2J"), "{ran:?}");
}

#[test]
fn the_terminal_is_asked_though_input_comes_from_elsewhere() {
    let rig = rig();
    let words = ["call", "asker.nothing", "--protocol", HANDSHAKE];
    let mut terminal = Terminal::run_without_input(&rig, &words);
    terminal
        .wait_for("Go on?")
        .wait_for("[y]es, [d]ecline or [c]ancel: ")
        .type_line("");
    terminal
        .wait_for("Please type one of")
        .wait_for(": ")
        .type_line("yes");
    assert_eq!(
        terminal.end().text(),
        "{\"action\":\"accept\",\"content\":{}}\n"
    );
}

#[test]
fn nobody_is_asked_where_that_is_forbidden() {
    let rig = rig();
    let words = [
        "call",
        "asker.nothing",
        "--no-input",
        "--protocol",
        HANDSHAKE,
    ];
    let ran = Terminal::run(&rig, &words).end();
    assert_eq!(ran.text(), "{\"action\":\"decline\"}\n", "{ran:?}");
    let ran = Terminal::run(&rig, &["call", "asker.nothing", "--no-input"]).end();
    assert!(ran.stderr.contains("the call is suspended as"), "{ran:?}");
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let rig = rig();
    let words = [
        "call",
        "asker.two_at_once",
        "--answer=row=99",
        "--answer=dish=soup",
    ];
    let mut terminal = Terminal::run(&rig, &words);
    terminal
        .wait_for("row: 99 is greater than 40")
        .wait_for("> ")
        .type_line("4");
    terminal.wait_for("Send this").type_line("y");
    assert_eq!(terminal.end().text(), "row 4 with soup\n");
}

#[test]
fn questions_that_come_at_once_are_asked_one_by_one() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let words = ["call", "asker.two_at_once", "--protocol", era];
        let mut terminal = Terminal::run(&rig, &words);
        terminal
            .wait_for("Which row?")
            .wait_for("> ")
            .type_line("4");
        terminal.wait_for("Send this").type_line("y");
        terminal
            .wait_for("Which dish?")
            .wait_for("> ")
            .type_line("soup");
        terminal.wait_for("Send this").type_line("y");
        let ran = terminal.end();
        assert_eq!(ran.text(), "row 4 with soup\n", "{ran:?}");
        assert_eq!(ran.stderr.matches("asker asks:").count(), 2, "{ran:?}");
    }
}

#[test]
fn a_suspended_call_is_gone_on_with() {
    let rig = rig();
    let told = rig
        .run(&["call", "asker.in_turn", "--json", "--answer=row=3"])
        .json();
    let id = told["suspended"].as_str().expect("a name");
    let mut terminal = Terminal::run(&rig, &["resume", id]);
    terminal
        .wait_for("Which dish?")
        .wait_for("> ")
        .type_line("soup");
    terminal.wait_for("Send this").type_line("y");
    assert_eq!(terminal.end().text(), "row 3 with soup\n");
}

/// A browser that writes down what it is to open.
fn browser(rig: &Rig) -> String {
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > opened\n";
    let path = rig.file("browser", script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, executable).expect("it can be made a program");
    path.to_str().expect("the path is text").to_owned()
}

#[test]
fn a_page_is_opened_when_the_person_agrees() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let mut command = rig.command(&["call", "asker.visit", "--protocol", era]);
        command.env("BROWSER", browser(&rig));
        let command = pty_process::blocking::Command::from(command);
        let mut terminal = Terminal::start(command.stdout(std::process::Stdio::piped()));
        terminal.wait_for("asker asks you to visit a page:\n  Please sign in.");
        terminal.wait_for("  https://xn--bcher-kva.example/sign-in?for=asker\n");
        terminal.wait_for("The host is xn--bcher-kva.example.");
        terminal.wait_for("letters that may look like others");
        terminal
            .wait_for("[c]ancel: ")
            .type_line("y")
            .wait_for("Opening it in your browser.");
        assert_eq!(terminal.end().text(), "on the way\n");
        let opened = fs::read_to_string(rig.work().join("opened")).expect("it was opened");
        assert_eq!(opened, "https://xn--bcher-kva.example/sign-in?for=asker\n");
    }
}

#[test]
fn a_page_is_shown_where_there_is_no_browser() {
    let rig = rig();
    let mut terminal = Terminal::run(&rig, &["call", "asker.visit"]);
    terminal.wait_for("[c]ancel: ").type_line("y");
    terminal
        .wait_for("Please open it yourself:")
        .wait_for("https://xn--bcher-kva.example");
    assert_eq!(terminal.end().text(), "on the way\n");
    let mut terminal = Terminal::run(&rig, &["call", "asker.visit"]);
    terminal.wait_for("[c]ancel: ").type_line("decline");
    assert_eq!(terminal.end().text(), "the user declined\n");
}

/// A server that refuses the first call until a page was visited.
const GATE: &str = r#"
page='{"mode":"url","message":"Please sign in.","url":"https://gate.example/","elicitationId":"1"}'
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*)
        result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
        result="$result"'"serverInfo":{"name":"gate","version":"1"}}' ;;
    *'"tools/call"'*)
        if [ -e visited ]; then
            result='{"content":[{"type":"text","text":"come in"}]}'
        else
            touch visited
            error='{"code":-32042,"message":"first","data":{"elicitations":['"$page"']}}'
            printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$id" "$error"
            continue
        fi ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

#[test]
fn a_call_that_needs_a_visit_first_is_made_again() {
    let rig = rig();
    rig.file("gate", GATE);
    let words = [
        "call",
        "enter",
        "--no-check",
        "--protocol",
        HANDSHAKE,
        "--",
        "sh",
        "gate",
    ];
    let mut terminal = Terminal::run(&rig, &words);
    terminal
        .wait_for("gate asks you to visit a page:")
        .wait_for("https://gate.example/");
    terminal.wait_for("[c]ancel: ").type_line("y");
    terminal
        .wait_for("Press Enter when you are done")
        .type_line("");
    let ran = terminal.end();
    assert_eq!((ran.code, ran.text()), (Some(0), "come in\n"), "{ran:?}");

    fs::remove_file(rig.work().join("visited")).expect("it was there");
    let ran = rig.run(&words);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(
        ran.stderr.contains("Please sign in. https://gate.example/"),
        "{ran:?}"
    );
}

#[test]
fn a_person_answers_for_a_model() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let mut terminal = Terminal::run(&rig, &["call", "asker.haiku", "--protocol", era]);
        terminal.wait_for(
            "asker requests sampling from a model:\n  user:\n  Write a haiku about knots.",
        );
        terminal
            .wait_for("(at most 100 tokens)")
            .wait_for("[n]o: ")
            .type_line("y");
        terminal.wait_for("  | ").type_line("Over, under,");
        terminal.wait_for("  | ").type_line("through.");
        terminal.wait_for("  | ").type_line(".");
        let ran = terminal.end();
        assert_eq!(
            ran.text(),
            "the model wrote: Over, under,\nthrough.\n",
            "{ran:?}"
        );
        let mut terminal = Terminal::run(&rig, &["call", "asker.haiku", "--protocol", era]);
        terminal.wait_for("[n]o: ").type_line("n");
        let ran = terminal.end();
        assert_eq!(ran.code, Some(5), "{ran:?}");
    }
}

#[test]
fn a_command_is_asked_and_its_answer_shown_first() {
    let rig = rig();
    let words = ["call", "asker.haiku", "--sampling-command", "echo knots"];
    let mut terminal = Terminal::run(&rig, &words);
    terminal
        .wait_for("Pass this to `echo knots`?")
        .type_line("y");
    terminal
        .wait_for("  echo answers:\n  knots")
        .wait_for("Send this to asker?")
        .type_line("");
    assert_eq!(terminal.end().text(), "the model wrote: knots\n");
    let words = ["call", "asker.haiku", "--sampling-command", "exit 3"];
    let mut terminal = Terminal::run(&rig, &words);
    terminal.wait_for("Pass this to `exit 3`?").type_line("y");
    terminal
        .wait_for("failed (exit status: 3)")
        .wait_for("yourself instead?")
        .type_line("y");
    terminal.wait_for("  | ").type_line("rope").type_line(".");
    assert_eq!(terminal.end().text(), "the model wrote: rope\n");
}

#[test]
fn progress_stands_at_the_bottom_and_log_messages_above_it() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let ran = Terminal::run(&rig, &["call", "asker.work", "--protocol", era]).end();
        assert_eq!(ran.text(), "all done\n");
        assert!(
            ran.stderr
                .contains("] 100 % part 4\u{1b}[2K[info] works: part 1"),
            "{ran:?}"
        );
        assert!(
            ran.stderr.ends_with("\u{1b}[2K"),
            "the line is taken away: {ran:?}"
        );
    }
}

#[test]
fn ctrl_c_cancels_the_call_on_the_wire() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let asker = example("asker");
        let script = format!("tee sent | {}", asker.display());
        let words = ["call", "wait", "--protocol", era, "--", "sh", "-c", &script];
        let mut terminal = Terminal::run(&rig, &words);
        terminal.wait_for("wait [1] waiting").press(CTRL_C);
        let ran = terminal.end();
        assert_eq!(ran.code, Some(130), "{ran:?}");
        assert!(ran.stderr.contains("error: interrupted"), "{ran:?}");
        let sent = fs::read_to_string(rig.work().join("sent")).expect("something was sent");
        assert!(sent.contains("notifications/cancelled"), "{era}: {sent}");
    }
}

#[test]
fn ctrl_c_leaves_a_question() {
    for era in [HANDSHAKE, STATELESS] {
        let rig = rig();
        let mut terminal = Terminal::run(&rig, &["call", "asker.nothing", "--protocol", era]);
        terminal.wait_for("[c]ancel: ").press(CTRL_C);
        let ran = terminal.end();
        assert_eq!(ran.code, Some(130), "{ran:?}");
    }
}
