//! The picture in the README: what the command really shows, drawn.
//!
//! `TRYCMD=overwrite cargo test -p bowline-cli picture` draws it anew.

mod screen;
mod svg;

use std::fs;

use pty_process::blocking::Command;

use crate::{peers::top, rig::Rig, terminal::Terminal};

/// Answers for a model.
const MODEL: &str = "#!/bin/sh\necho 'You fly to Lisbon in the evening, for 140 euros.'\n";

#[test]
fn the_picture_is_true() {
    let rig = Rig::empty();
    make_executable(&rig.file("model", MODEL));
    let mut shown = String::new();
    let mut show = |words: &str, talk: fn(&mut Terminal)| {
        let words: Vec<&str> = words.split(' ').collect();
        shown.push_str(&format!(
            "\u{1b}[32m$\u{1b}[0m bowline {}\n",
            words.join(" ")
        ));
        let command = Command::from(rig.command(&words)).env_remove("NO_COLOR");
        let mut terminal = Terminal::start(command);
        talk(&mut terminal);
        let ran = terminal.end();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        shown.push_str(&ran.stderr);
    };
    show("list demo.book_flight", |_| {});
    show(
        "call demo.book_flight destination=Lisbon --accept --sampling-command ./model",
        |terminal| {
            terminal.wait_for("> ").type_line("Swift-1");
            terminal.wait_for("[c]ancel: ").type_line("yes");
            terminal.wait_for("> ").type_line("yes");
            terminal.wait_for("[c]ancel: ").type_line("yes");
        },
    );
    compare(&svg::draw(&screen::lines(&shown)), &shown);
}

fn compare(drawn: &str, shown: &str) {
    let file = top().join("docs").join("terminal.svg");
    if std::env::var("TRYCMD").is_ok_and(|wanted| wanted == "overwrite") {
        fs::write(&file, drawn).expect("it can be written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        drawn == kept,
        "docs/terminal.svg shows something else; TRYCMD=overwrite draws it anew.\n{shown}",
    );
}

fn make_executable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(file, all).expect("it is ours");
}
