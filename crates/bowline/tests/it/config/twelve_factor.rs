//! One server from variables alone.

use std::time::Duration;

use bowline::{
    config::{RemoteKind, ServersFile},
    proto::client::Backoff,
};

use super::{Variables, loader, only, remote, stdio};

fn read(variables: Variables<'_>) -> ServersFile {
    loader(variables).read_env()
}

#[test]
fn without_variables_there_is_no_server() {
    assert_eq!(read(&[]), ServersFile::default());
    assert_eq!(
        read(&[("MCP_CMD", ""), ("MCP_TIMEOUT", "x")]),
        ServersFile::default()
    );
}

#[test]
fn a_command() {
    let lists = [
        ("-y server 'a b'", r#"A=1 B="x y" C="#),
        (
            r#"["-y", "server", "a b"]"#,
            r#"{"A": "1", "B": "x y", "C": ""}"#,
        ),
    ];
    for (args, env) in lists {
        let server = only(read(&[
            ("MCP_CMD", "my npx"),
            ("MCP_ARGS", args),
            ("MCP_ENV", env),
        ]));
        assert_eq!(server.name, "env");
        let server = stdio(&server);
        assert_eq!(server.command, "my npx", "it is taken whole");
        assert_eq!(server.args, ["-y", "server", "a b"]);
        let env: Vec<(&str, &str)> = server.env.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(env, [("A", "1"), ("B", "x y"), ("C", "")]);
    }
}

#[test]
fn an_address() {
    let mut variables = vec![
        ("MCP_BASE_URL", "https://a.test/mcp"),
        ("MCP_CLIENT_ID", "me"),
        ("MCP_CLIENT_SECRET", "s3cret"),
        ("MCP_TOKEN_URL", "https://a.test/token"),
        ("MCP_SCOPE", "read write"),
    ];
    let server = only(read(&variables));
    assert!(!format!("{server:?}").contains("s3cret"));
    let server = remote(&server);
    assert_eq!(server.url, "https://a.test/mcp");
    assert_eq!(server.kind, RemoteKind::Unspecified);
    let credentials = server.credentials.as_ref().expect("they are given");
    assert_eq!(credentials.client_secret.as_deref(), Some("s3cret"));

    variables.push(("MCP_CMD", "x"));
    variables.push(("MCP_TRANSPORT", "sse"));
    let server = only(read(&variables));
    assert_eq!(remote(&server).kind, RemoteKind::Sse, "what is said counts");
}

#[test]
fn settings() {
    let server = only(read(&[
        ("MCP_CMD", "x"),
        ("MCP_TIMEOUT", "1500"),
        ("MCP_INIT_TIMEOUT", "2m"),
        ("MCP_BACKOFF_MIN", "500ms"),
        ("MCP_BACKOFF_MAX", "60s"),
        ("MCP_MAX_FRAME", "1024"),
        ("MCP_ROOTS", "/srv/a b, ~/c,file:///d"),
    ]));
    let settings = server.connection;
    let timeouts = settings.timeouts.expect("they are set");
    assert_eq!(timeouts.tool, Duration::from_millis(1500));
    assert_eq!(timeouts.resource, timeouts.tool);
    assert_eq!(timeouts.other, timeouts.tool);
    assert_eq!(timeouts.connect, Duration::from_secs(120));
    let backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(60), 0.2);
    assert_eq!(settings.backoff, backoff.ok());
    assert_eq!(settings.max_frame_size, Some(1024));
    let roots: Vec<String> = settings
        .roots
        .into_iter()
        .flatten()
        .map(|root| root.uri)
        .collect();
    assert_eq!(
        roots,
        ["file:///srv/a%20b", "file:///home/user/c", "file:///d"]
    );
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        (
            "MCP_TRANSPORT",
            "pigeon",
            "unknown type; expected stdio, http, streamable-http or sse",
        ),
        (
            "MCP_ARGS",
            "'open",
            "expected a JSON list of strings or plain words",
        ),
        (
            "MCP_ARGS",
            "[1]",
            "expected a JSON list of strings or plain words",
        ),
        (
            "MCP_ENV",
            "A",
            "expected a JSON object of strings or words NAME=value",
        ),
        (
            "MCP_ENV",
            "{\"A\": 1}",
            "expected a JSON object of strings or words NAME=value",
        ),
        (
            "MCP_TIMEOUT",
            "soon",
            "expected a time above zero, such as 500ms, 30s or 2m",
        ),
        (
            "MCP_TIMEOUT",
            "0",
            "expected a time above zero, such as 500ms, 30s or 2m",
        ),
        (
            "MCP_TIMEOUT",
            "5h",
            "expected a time above zero, such as 500ms, 30s or 2m",
        ),
        (
            "MCP_BACKOFF_MIN",
            "40s",
            "the minimum backoff must not exceed the maximum",
        ),
        ("MCP_MAX_FRAME", "big", "expected a whole number above zero"),
        (
            "MCP_ROOTS",
            "ftp://a.test",
            "a root must be a path or a file URI",
        ),
    ];
    for (name, value, why) in cases {
        let file = read(&[("MCP_CMD", "x"), (name, value)]);
        assert_eq!(file.servers, [], "{name}={value}");
        let texts: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        assert_eq!(texts, [format!("{name}: {why}; correct it")]);
    }
}

#[test]
fn what_is_missing_is_named() {
    let cases: [(Variables<'_>, &str); 5] = [
        (
            &[
                ("MCP_BASE_URL", "https://a.test"),
                ("MCP_CLIENT_SECRET", "s3cret"),
            ],
            "MCP_CLIENT_ID",
        ),
        (&[("MCP_TRANSPORT", "stdio")], "MCP_CMD"),
        (&[("MCP_TRANSPORT", "http")], "MCP_BASE_URL"),
        (
            &[("MCP_CMD", "x"), ("MCP_BASE_URL", "https://a.test")],
            "MCP_TRANSPORT",
        ),
        (&[("MCP_BASE_URL", "a.test")], "MCP_BASE_URL"),
    ];
    for (variables, path) in cases {
        let file = read(variables);
        assert_eq!(file.servers, [], "{variables:?}");
        assert_eq!(file.problems[0].path, path, "{variables:?}");
        assert_eq!(file.problems.len(), 1);
    }
}
