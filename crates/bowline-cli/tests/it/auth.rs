//! Signing in, from the first refusal to the last farewell.
//!
//! The server and its guard are the example `guarded`; so is the browser.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    rig::{Ran, Rig, example},
    terminal::Terminal,
};

const CTRL_C: &str = "\u{3}";

/// What nobody may see: names of tokens and codes begin like this.
const SECRETS: [&str; 3] = ["access-hush", "refresh-hush", "code-hush"];

/// A protected server, and somebody's home.
struct Scene {
    rig: Rig,
    server: Child,
    url: String,
}

impl Scene {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(how: &[&str]) -> Self {
        let mut server = Command::new(example("guarded"))
            .args(how)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut url = String::new();
        let stdout = server.stdout.as_mut().expect("an output");
        let read = BufReader::new(stdout).read_line(&mut url);
        read.expect("it says where it is");
        Self {
            rig: Rig::empty(),
            server,
            url: url.trim().to_owned(),
        }
    }

    /// The command in a terminal, with this browser.
    fn terminal(&self, words: &[&str], browser: &str) -> Terminal {
        let mut command = self.rig.command(words);
        command.env("BROWSER", browser);
        let command = pty_process::blocking::Command::from(command);
        Terminal::start(command.stdout(Stdio::piped()))
    }

    /// The same, with a browser that goes where it is sent.
    fn attended(&self, words: &[&str]) -> Ran {
        let browser = format!("{} visit", example("guarded").display());
        checked(self.terminal(words, &browser).end())
    }

    /// The command without a terminal.
    fn run(&self, words: &[&str]) -> Ran {
        checked(self.rig.run(words))
    }

    fn sign_in(&self) {
        let ran = self.attended(&["auth", "login", &self.url]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    fn tokens(&self) -> PathBuf {
        self.rig.home().join(".local/state/bowline/tokens")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What a command said, with nothing in it that is secret.
#[track_caller]
fn checked(ran: Ran) -> Ran {
    for secret in SECRETS {
        assert!(!ran.text().contains(secret), "{ran:?}");
        assert!(!ran.stderr.contains(secret), "{ran:?}");
    }
    ran
}

#[test]
fn a_person_signs_in_and_out() {
    let scene = Scene::new();
    let url = &*scene.url;
    let ran = scene.run(&["auth", "status", url]);
    assert_eq!(ran.text(), format!("{url}: not signed in\n"));
    assert!(
        !scene.tokens().exists(),
        "nothing was made to find that out"
    );

    let ran = scene.attended(&["auth", "login", url]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = format!(
        "{url} requires you to sign in. This page opens in your browser:\n  http://127.0.0.1:"
    );
    assert!(ran.stderr.contains(&told), "{ran:?}");
    assert!(ran.stderr.contains("\nRequested scopes: read\n"), "{ran:?}");
    assert!(
        ran.text()
            .starts_with(&format!("{url}: signed in at http://127.0.0.1:"))
    );
    assert!(
        ran.text()
            .ends_with(", scopes: read; renewed automatically\n"),
        "{ran:?}"
    );
    let again = scene.attended(&["auth", "login", url]);
    assert_eq!(again.text(), ran.text());
    assert!(!again.stderr.contains("sign in"), "they are: {again:?}");

    let status = scene.run(&["auth", "status", url, "--json"]).json();
    let known = &status[0];
    assert_eq!(known["server"], url);
    assert_eq!(known["resource"], url);
    assert_eq!(known["signed_in"], true);
    assert_eq!(known["scopes"], "read");
    assert_eq!(known["renewable"], true);
    assert_eq!(known["dpop"], false);
    assert!(known["until"].is_u64() && known["issuer"].is_string());
    assert_eq!(scene.run(&["call", url, "look"]).text(), "ada may\n");

    let ran = scene.run(&["auth", "logout", url]);
    assert_eq!(ran.text(), format!("{url}: signed out\n"));
    let ran = scene.run(&["auth", "logout", url, "--json"]);
    assert_eq!(ran.json(), json!({"server": url, "was_signed_in": false}));
    assert_eq!(scene.run(&["list", url]).code, Some(3));
}

#[test]
fn whoever_is_not_signed_in_is_asked_on_the_way() {
    let scene = Scene::new();
    let ran = scene.attended(&["list", &scene.url]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text().contains("look()"), "{ran:?}");
    assert!(ran.stderr.contains("requires you to sign in"), "{ran:?}");
    let ran = scene.run(&["list", &scene.url]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn programs_are_told_what_to_do_instead() {
    let scene = Scene::new();
    let url = &*scene.url;
    let ran = scene.run(&["list", url]);
    assert_eq!((ran.code, ran.text()), (Some(3), ""), "{ran:?}");
    let hint = format!("hint: sign in with `bowline auth login {url}`\n");
    assert!(ran.stderr.contains(&hint), "{ran:?}");
    assert!(
        ran.stderr.contains("--header 'Authorization: Bearer …'"),
        "{ran:?}"
    );
    let ran = scene.run(&["auth", "login", url]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("requires a terminal"), "{ran:?}");
    let header = "Authorization: Bearer stale";
    let ran = scene.run(&["list", url, "--header", header]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        !ran.stderr.contains("auth login"),
        "they chose another way: {ran:?}"
    );
}

#[test]
fn more_is_asked_for_in_the_middle_of_a_call() {
    for era in ["2025-11-25", "2026-07-28"] {
        let scene = Scene::new();
        let url = &*scene.url;
        scene.sign_in();
        let call = ["call", url, "put", "--protocol", era];
        let ran = scene.run(&call);
        assert_eq!((ran.code, ran.text()), (Some(3), ""), "{ran:?}");
        assert!(
            ran.stderr
                .contains("requires additional scopes: read write"),
            "{ran:?}"
        );
        let hint = format!("`bowline auth login {url} --scope 'read write'`");
        assert!(ran.stderr.contains(&hint), "{ran:?}");

        let ran = scene.attended(&call);
        assert_eq!((ran.code, ran.text()), (Some(0), "ada may\n"), "{ran:?}");
        assert!(
            ran.stderr.contains("Requested scopes: read write\n"),
            "{ran:?}"
        );
        assert_eq!(scene.run(&call).text(), "ada may\n");
    }
}

#[test]
fn more_can_be_asked_for_beforehand() {
    let scene = Scene::new();
    let url = &*scene.url;
    scene.sign_in();
    let ran = scene.attended(&["auth", "login", url, "--scope", "write"]);
    assert!(ran.text().contains("scopes: read write;"), "{ran:?}");
    assert_eq!(scene.run(&["call", url, "put"]).text(), "ada may\n");
}

#[test]
fn an_address_is_carried_over_by_hand() {
    let scene = Scene::new();
    let words = ["auth", "login", &scene.url, "--no-browser"];
    let mut terminal = scene.terminal(&words, "false");
    terminal.wait_for("Open this page in a browser:\n  ");
    let page = terminal.rest_of_line();
    let ends = Command::new(example("guarded"))
        .args(["ends", &page])
        .output();
    let ends = String::from_utf8(ends.expect("it runs").stdout).expect("text");
    assert!(
        ends.starts_with("http://127.0.0.1:8914/callback?code="),
        "{ends}"
    );
    terminal
        .wait_for("The URL, or the code in it: ")
        .type_line(ends.trim());
    let ran = terminal.end();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text().contains("signed in at"), "{ran:?}");

    let mut terminal = scene.terminal(
        &[
            "auth",
            "login",
            &scene.url,
            "--no-browser",
            "--scope",
            "write",
        ],
        "false",
    );
    terminal.wait_for("in it: ").type_line("");
    let ran = checked(terminal.end());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!ran.stderr.contains("use --no-browser"), "they do: {ran:?}");
    assert_eq!(
        scene.run(&["list", &scene.url]).code,
        Some(0),
        "what they had is good"
    );
}

#[test]
fn a_page_that_no_browser_opens_can_be_opened_by_hand() {
    let scene = Scene::new();
    let mut terminal = scene.terminal(&["auth", "login", &scene.url], "false");
    terminal.wait_for("This page opens in your browser:\n  ");
    let page = terminal.rest_of_line();
    terminal.wait_for("Please open it yourself.");
    terminal.wait_for("use --no-browser");
    let visited = Command::new(example("guarded"))
        .args(["visit", &page])
        .status();
    assert!(visited.expect("it runs").success());
    let ran = checked(terminal.end());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn one_who_says_no_is_not_let_in() {
    let scene = Scene::with(&["refuse"]);
    for words in [&["auth", "login", &*scene.url], &["list", &*scene.url][..]] {
        let ran = scene.attended(words);
        assert_eq!((ran.code, ran.text()), (Some(3), ""), "{ran:?}");
        assert!(ran.stderr.contains("access_denied"), "{ran:?}");
        assert_eq!(
            ran.stderr.matches("requires you to sign in").count(),
            1,
            "{ran:?}"
        );
    }
}

#[test]
fn one_who_never_comes_back_can_give_up() {
    let scene = Scene::new();
    for words in [
        &["auth", "login", &*scene.url][..],
        &["list", &*scene.url],
        &["auth", "login", &*scene.url, "--no-browser"],
    ] {
        let mut terminal = scene.terminal(words, "true");
        terminal.wait_for("Requested scopes: read\n").press(CTRL_C);
        let ran = checked(terminal.end());
        assert_eq!((ran.code, ran.text()), (Some(130), ""), "{ran:?}");
    }
    scene.sign_in();
}

#[test]
fn tokens_are_renewed_without_a_word_run_after_run() {
    let scene = Scene::with(&["hasty"]);
    scene.sign_in();
    let kept = || {
        let files = fs::read_dir(scene.tokens()).expect("a folder");
        let names = files.map(|entry| entry.expect("an entry").path());
        let tokens = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("tokens-") && name.ends_with(".json")
        };
        let path = names.into_iter().find(tokens).expect("tokens");
        fs::read_to_string(path).expect("a file")
    };
    let mut before = kept();
    for _ in 0..3 {
        let ran = scene.run(&["call", &scene.url, "look"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
        let now = kept();
        assert_ne!(now, before, "they are new ones");
        before = now;
    }
}

#[test]
fn nothing_that_is_secret_is_shown_or_written_down() {
    let scene = Scene::new();
    let url = &*scene.url;
    let ran = scene.attended(&["auth", "login", url, "--trace"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = scene.attended(&["call", url, "put", "--trace", "--record", "all"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("tools/call"), "it was traced: {ran:?}");
    let record = fs::read_to_string(scene.rig.work().join("all")).expect("a recording");
    assert!(record.contains("tools/call"), "it was recorded: {record}");
    scene.run(&["doctor", url]);
    for secret in SECRETS {
        assert!(!record.contains(secret), "{record}");
    }

    let mode = |path: &std::path::Path| {
        let metadata = fs::metadata(path).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&scene.tokens()), 0o700);
    let mut secrets = 0;
    for entry in fs::read_dir(scene.tokens()).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        let text = fs::read_to_string(&path).expect("text");
        secrets += usize::from(text.contains("refresh-hush"));
    }
    assert_eq!(secrets, 1, "it is there, and nowhere else");
}

#[test]
fn servers_of_the_configuration_are_known_by_name() {
    let scene = Scene::new();
    scene.rig.configure(&json!({"mcpServers": {
        "vault": {"url": scene.url},
        "local": {"command": "true"},
    }}));
    let ran = scene.run(&["auth", "status"]);
    assert_eq!(ran.text(), "vault: not signed in\n");
    let ran = scene.attended(&["auth", "login", "vault"]);
    assert!(ran.text().starts_with("vault: signed in at "), "{ran:?}");
    assert_eq!(scene.run(&["call", "vault.look"]).text(), "ada may\n");
    let status = scene.run(&["auth", "status", "--json"]).json();
    let names = status.as_array().expect("a list").iter();
    let names: Vec<&Value> = names.map(|known| &known["server"]).collect();
    assert_eq!(names, ["vault"]);
    let ran = scene.run(&["auth", "login", "local"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("not an HTTP server"), "{ran:?}");
}
