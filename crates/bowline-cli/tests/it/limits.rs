//! Servers that have no end: the command has one.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;

use crate::{
    rig::{BOWLINE, Rig},
    web::{Answer, serve, serve_session},
};

/// A server whose lists never end, with so many tools on a page, each of so
/// many bytes.
fn endless(items: usize, bytes: usize) -> String {
    let count = AtomicUsize::new(0);
    let padding = "x".repeat(bytes);
    serve_session(move |asked| {
        let method = asked.message["method"].as_str().unwrap_or_default();
        let page = count.fetch_add(1, Ordering::Relaxed);
        let (key, item) = match method.split('/').next() {
            Some("resources") if method.contains("templates") => {
                ("resourceTemplates", "uriTemplate")
            }
            Some("resources") => ("resources", "uri"),
            Some("prompts") => ("prompts", "title"),
            _ => ("tools", "title"),
        };
        let schema = json!({"type": "object"});
        let items: Vec<_> = (0..items)
            .map(|at| {
                let name = format!("t{page}-{at}");
                json!({"name": name, item: name, "description": padding, "inputSchema": schema})
            })
            .collect();
        Answer::result(
            asked,
            &json!({key: items, "nextCursor": format!("c{page}")}),
        )
    })
}

#[test]
fn the_time_of_a_command_is_for_all_of_it() {
    let rig = Rig::empty();
    let url = endless(1, 0);
    let verbs: &[&[&str]] = &[
        &["list", &url],
        &["call", &url, "t"],
        &["resources", &url],
        &["templates", &url],
        &["prompts", &url],
        &["status", &url],
        &["search", "zzz", "--server", &url],
        &["search", "zzz", "--server", &url, "--call"],
        &["sync", &url],
        &["doctor", &url],
    ];
    for verb in verbs {
        let mut words = verb.to_vec();
        words.extend(["--timeout", "0.5"]);
        let ran = rig.run(&words);
        assert_eq!(ran.code, Some(124), "{verb:?}: {ran:?}");
    }
}

#[test]
fn a_list_without_end_is_given_up() {
    let rig = Rig::empty();
    let many = rig.run(&["list", &endless(5_000, 0)]);
    assert_eq!(many.code, Some(5), "{many:?}");
    assert!(many.stderr.contains("limit of 100000 items"), "{many:?}");
    let large = rig.run(&["list", &endless(8, 1024 * 1024)]);
    assert_eq!(large.code, Some(5), "{large:?}");
    assert!(
        large.stderr.contains("limit of 67108864 bytes"),
        "{large:?}"
    );
}

#[test]
fn a_list_that_says_the_same_again_is_given_up() {
    let rig = Rig::empty();
    let count = AtomicUsize::new(0);
    let url = serve_session(move |asked| {
        let page = count.fetch_add(1, Ordering::Relaxed);
        let tool = json!({"name": "again", "inputSchema": {"type": "object"}});
        let next = format!("c{page}");
        Answer::result(asked, &json!({"tools": [tool], "nextCursor": next}))
    });
    let ran = rig.run(&["list", &url]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("repeats the same items"), "{ran:?}");
}

#[test]
fn a_token_goes_over_plain_http_only_where_that_is_said() {
    let rig = Rig::empty();
    // No network has this name.
    let url = "http://nobody.invalid/mcp";
    let words = ["ping", url, "--header", "Authorization: Bearer secret"];
    let ran = rig.run(&words);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("use --allow-plain-http"), "{ran:?}");
    assert!(!ran.stderr.contains("send a token with"), "{ran:?}");
    let allowed = ["--allow-plain-http", "--timeout", "20"];
    let ran = rig.run(&[&words[..], &allowed].concat());
    assert!(matches!(ran.code, Some(4 | 124)), "{ran:?}");
    // A configured one has a setting of its own, which is typed as well.
    let entry = json!({"url": url, "headers": {"Authorization": "Bearer secret"}});
    rig.configure(&json!({"mcpServers": {"far": entry}}));
    let ran = rig.run(&["ping", "far"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("use --allow-plain-http"), "{ran:?}");
    let ran = rig.run(&[&["ping", "far"][..], &allowed].concat());
    assert!(matches!(ran.code, Some(4 | 124)), "{ran:?}");
}

#[test]
fn a_refusal_is_shown_in_the_servers_words_and_is_no_matter_of_signing_in() {
    let rig = Rig::empty();
    let words = "Access is only allowed at\n\u{1b}[2Jlocalhost:8931";
    let url = serve(move |_| Answer::refuse("403 Forbidden", words));
    let ran = rig.run(&["list", &url]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let shown = "HTTP 403: Access is only allowed at \\u{1b}[2Jlocalhost:8931";
    assert!(ran.stderr.contains(shown), "{ran:?}");
    assert!(!ran.stderr.contains("auth login"), "{ran:?}");
    let doctor = rig.run(&["doctor", &url]);
    assert!(doctor.text().contains("only allowed at"), "{doctor:?}");
}

#[test]
fn what_comes_with_a_refusal_is_shown() {
    let rig = Rig::empty();
    for status in [
        "400 Bad Request",
        "404 Not Found",
        "405 No",
        "422 Unprocessable",
    ] {
        let words = "the header X-Tenant\n\u{1b}[2Jis missing";
        let url = serve(move |asked| match &*asked.method {
            "POST" => Answer::refuse(status, words),
            _ => Answer::refuse("405 Method Not Allowed", "only POST"),
        });
        let shown = "the header X-Tenant \\u{1b}[2Jis missing";
        let ran = rig.run(&["list", &url]);
        assert_eq!(ran.code, Some(4), "{status}: {ran:?}");
        let whole = format!("HTTP {}: {shown}\n", &status[..3]);
        assert!(ran.stderr.contains(&whole), "{status}: {ran:?}");
        let doctor = rig.run(&["doctor", &url]);
        assert!(doctor.text().contains(shown), "{status}: {doctor:?}");
        let traced = rig.run(&["list", &url, "--trace"]);
        assert!(traced.stderr.matches(shown).count() > 1, "{traced:?}");
        let recording = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/recordings/session.jsonl"
        );
        let replayed = rig.run(&["replay", recording, "--check", &url]);
        assert_eq!(replayed.code, Some(4), "{status}: {replayed:?}");
        assert!(replayed.stderr.contains(shown), "{status}: {replayed:?}");
    }
}

#[test]
fn a_refusal_that_asks_for_credentials_is_a_matter_of_signing_in() {
    let rig = Rig::empty();
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let url = serve(move |_| Answer {
            status,
            headers: "WWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n",
            body: String::new(),
        });
        let ran = rig.run(&["list", &url]);
        assert_eq!(ran.code, Some(3), "{status}: {ran:?}");
    }
}

#[test]
fn a_server_that_refused_at_once_is_not_said_to_let_people_wait() {
    let rig = Rig::empty();
    let nothing = json!({"tools": [], "resources": [], "resourceTemplates": [], "prompts": []});
    let url = serve_session(move |asked| Answer::result(asked, &nothing));
    let ran = rig.run(&["doctor", &url]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.text().contains("rejected server/discover after"),
        "{ran:?}"
    );
    assert!(!ran.text().contains("never gives"), "{ran:?}");
}

#[test]
fn the_largest_answer_is_a_matter_of_choice() {
    let rig = Rig::empty();
    let url = serve_session(|asked| match asked.message["method"].as_str() {
        Some("tools/call") => {
            let text = "x".repeat(3 * 1024 * 1024);
            let content = json!({"content": [{"type": "text", "text": text}]});
            Answer::result(asked, &content)
        }
        _ => Answer::result(
            asked,
            &json!({"tools": [{"name": "big", "inputSchema": {}}]}),
        ),
    });
    let call = ["call", &url, "big", "--max-frame"];
    let small = rig.run(&[&call[..], &["2MiB"]].concat());
    assert_ne!(small.code, Some(0), "{}", small.stderr);
    assert!(
        small.stderr.contains("--max-frame 64MiB"),
        "{}",
        small.stderr
    );
    assert!(small.stderr.contains("2097152"), "{}", small.stderr);
    let large = rig.run(&[&call[..], &["4MiB"]].concat());
    assert_eq!(large.code, Some(0), "{}", large.stderr);
    let entry = |max: &str| json!({"mcpServers": {"big": {"url": url, "max_frame": max}}});
    rig.configure(&entry("2 MiB"));
    assert_ne!(rig.run(&["call", "big.big"]).code, Some(0));
    rig.configure(&entry("4MiB"));
    assert_eq!(rig.run(&["call", "big.big"]).code, Some(0));
}

#[test]
fn typed_headers_reach_configured_servers() {
    let rig = Rig::empty();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let url = serve_session(move |asked| {
        seen.lock().expect("nobody panics").push(asked.head.clone());
        Answer::result(asked, &json!({"tools": []}))
    });
    rig.configure(&json!({"mcpServers": {
        "web": {"url": url, "headers": {"x-one": "old", "X-Two": "kept"}},
        "local": {"command": "true"},
    }}));
    let ran = rig.run(&[
        "list",
        "web",
        "--header",
        "X-One: new",
        "--header",
        "X-Three: 3",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let heads = heads.lock().expect("nobody panics");
    let head = heads.last().expect("it was asked").to_lowercase();
    for expected in ["x-one: new", "x-two: kept", "x-three: 3"] {
        assert!(head.contains(expected), "{head}");
    }
    assert!(!head.contains("old"), "{head}");
    for verb in [
        &["list", "local"][..],
        &["doctor", "local"],
        &["list", "demo"],
    ] {
        let ran = rig.run(&[verb, &["--header", "X-One: new"]].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("cannot receive headers"), "{ran:?}");
    }
}

#[test]
fn files_that_cannot_be_read_are_told_of() {
    let rig = Rig::empty();
    let broken = rig.file("broken.json", "{\"mcpServers\": {");
    let broken = broken.to_str().expect("it is text");
    let named = rig.run(&["list", "--config", broken]);
    assert_eq!(named.code, Some(1), "{named:?}");
    assert!(named.stderr.contains("invalid JSON"), "{named:?}");
    assert_eq!(named.text(), "");
    let folder = rig.home().join(".cursor");
    std::fs::create_dir_all(&folder).expect("it can be made");
    std::fs::write(folder.join("mcp.json"), "{").expect("it can be written");
    for verb in [&["list"][..], &["ping", "demo"], &["status"]] {
        let ran = rig.run(verb);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let warning = "warning: ~/.cursor/mcp.json: line 1, column 1: invalid JSON";
        assert!(ran.stderr.contains(warning), "{ran:?}");
    }
}

#[test]
fn what_is_built_in_does_not_stand_in_for_what_failed() {
    let rig = Rig::empty();
    let gone = json!({"mcpServers": {"gone": {"command": "no-such-command"}}});
    let wrong = json!({"mcpServers": {"wrong": {"comand": "sh"}}});
    let verbs: [&[&str]; 6] = [
        &["list"],
        &["list", "--json"],
        &["search", "dice"],
        &["status"],
        &["sync"],
        &["sync", "--json"],
    ];
    for (servers, code) in [(&gone, 4), (&wrong, 1)] {
        let path = rig.file("broken.json", servers.to_string());
        let named = ["--config", path.to_str().expect("it is text")];
        rig.configure(servers);
        for verb in verbs {
            for how in [&named[..], &[]] {
                let ran = rig.run(&[verb, how].concat());
                assert_eq!(ran.code, Some(code), "{verb:?} {servers}: {ran:?}");
            }
        }
    }
    // Of two, one is enough for those who only look.
    let both = json!({"mcpServers": {
        "gone": {"command": "no-such-command"},
        "works": {"command": BOWLINE, "args": ["serve", "demo", "--stdio"]},
    }});
    rig.configure(&both);
    for (verb, code) in [
        (&["list"][..], 0),
        (&["search", "dice"], 0),
        (&["status"], 4),
        (&["sync"], 4),
    ] {
        let ran = rig.run(verb);
        assert_eq!(ran.code, Some(code), "{verb:?}: {ran:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_what_is_missing() {
    let rig = Rig::empty();
    let entry = json!({"command": "sh", "cwd": "/no/such/folder"});
    rig.configure(&json!({"mcpServers": {"lost": entry}}));
    let ran = rig.run(&["list", "lost"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let why = "the working directory \"/no/such/folder\" of the command \"sh\" does not exist";
    assert!(ran.stderr.contains(why), "{ran:?}");
}

#[test]
fn what_programs_read_does_not_steer_a_terminal_either() {
    let rig = Rig::empty();
    let evil = "a\u{9b}31m\u{202e}\u{e0041}\u{2028}b";
    let script = format!("printf '%s' '{evil}' >&2; exit 3");
    for verb in ["doctor", "status"] {
        let ran = rig.run(&[verb, "--json", "--", "sh", "-c", &script]);
        let steers = |c: char| c != '\n' && !(' '..='~').contains(&c);
        assert!(!ran.text().contains(steers), "{verb}: {:?}", ran.text());
        assert!(!ran.stderr.contains(steers), "{verb}: {:?}", ran.stderr);
        assert!(ran.json().to_string().contains(evil), "{verb}: {ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_recording_is_not_written_to_where_a_link_leads() {
    let rig = Rig::empty();
    let target = rig.file("precious", "");
    let link = rig.work().join("session.jsonl");
    std::os::unix::fs::symlink(&target, &link).expect("it can be made");
    let dangling = rig.work().join("dangling.jsonl");
    std::os::unix::fs::symlink(rig.work().join("not-yet"), &dangling).expect("it can be made");
    let pipe = rig.work().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("it starts").success());
    for path in [&link, &dangling, &pipe, &rig.home()] {
        let path = path.to_str().expect("it is text");
        let ran = rig.run(&["ping", "demo", "--record", path]);
        assert_eq!((ran.code, ran.text()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.contains("not a regular file"), "{ran:?}");
    }
    assert_eq!(std::fs::read(&target).expect("it is there"), b"");
    assert!(!rig.work().join("not-yet").exists());
}

#[cfg(unix)]
#[test]
fn files_that_have_no_end_or_no_beginning_do_not_hold_the_command() {
    let rig = Rig::empty();
    let pipe = rig.work().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("it starts").success());
    for how in ["message=@", "message:=@", "@"] {
        let call = |file: &str| {
            let word = format!("{how}{file}");
            rig.run(&["call", "demo.echo", &word, "--timeout", "0.3"])
        };
        let device = call("/dev/zero");
        assert_eq!(device.code, Some(1), "{device:?}");
        let why = "/dev/zero is neither a file nor a pipe";
        assert!(device.stderr.contains(why), "{device:?}");
        let silent = call("pipe");
        assert_eq!(silent.code, Some(124), "{silent:?}");
        assert!(
            silent.stderr.contains("timed out reading pipe"),
            "{silent:?}"
        );
    }
    for words in [
        &["ping", "demo", "--answer", "@pipe"][..],
        &["ping", "demo", "--answer", "@/dev/zero"],
    ] {
        let ran = rig.run(&[words, &["--timeout", "0.3"]].concat());
        assert!(matches!(ran.code, Some(1 | 124)), "{ran:?}");
    }
    // One that ends is as good as a file.
    let writer = std::process::Command::new("sh")
        .args(["-c", "echo hello > pipe"])
        .current_dir(rig.work())
        .spawn();
    let read = rig.run(&["call", "demo.echo", "message=@pipe", "--timeout", "30"]);
    assert_eq!((read.code, read.text()), (Some(0), "hello\n"), "{read:?}");
    writer.expect("it starts").wait().expect("it ends");
    // The size has an end, too.
    let large = rig.file("large", "x".repeat((64 << 20) + 1));
    let large = format!("message=@{}", large.display());
    let ran = rig.run(&["call", "demo.echo", &large]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("exceeds the limit of 64 MiB"),
        "{ran:?}"
    );
}

#[test]
fn what_goes_on_is_not_cut_off_by_the_time_for_the_rest() {
    let rig = Rig::empty();
    // The clock changes each second: three times are more than the limit.
    let watch = [
        "watch",
        "demo",
        "clock://now",
        "--count",
        "3",
        "--timeout",
        "1",
    ];
    let ran = rig.run(&watch);
    assert_eq!(
        (ran.code, ran.text().lines().count()),
        (Some(0), 3),
        "{ran:?}"
    );
    let nobody = ["--timeout", "0.5", "--", "tail", "-f", "/dev/null"];
    for verb in [&["watch"][..], &["log-level", "info"]] {
        let ran = rig.run(&[verb, &nobody].concat());
        assert_eq!(ran.code, Some(124), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_recording_is_for_its_owner_alone_whatever_the_file_was_before() {
    use std::os::unix::fs::PermissionsExt as _;

    let rig = Rig::empty();
    let path = rig.file("session.jsonl", "");
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(&path, open).expect("it is ours");
    let ran = rig.run(&["ping", "demo", "--record", "session.jsonl"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let about = std::fs::metadata(&path).expect("it is there");
    assert!(about.len() > 0);
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
}
