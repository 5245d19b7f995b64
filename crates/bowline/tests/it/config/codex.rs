//! Codex's file, which is TOML.

use std::{fs, path::PathBuf, time::Duration};

use bowline::config::{Position, ProblemKind, ServersFile};

use super::{loader, remote, stdio};

fn read(text: &str) -> ServersFile {
    loader(&[("API_KEY", "s3cret"), ("HOME", "/home/user")]).parse_toml(text)
}

/// The problems of a file without servers, as people read them.
#[track_caller]
fn check(text: &str, problems: &[&str]) {
    let file = read(text);
    assert_eq!(file.servers, []);
    let found: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
    assert_eq!(found, problems);
}

#[test]
fn servers_are_read_in_their_order() {
    let file = read(include_str!("samples/codex.toml"));
    let names: Vec<&str> = file
        .servers
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!(names, ["context7", "figma", "chrome_devtools", "archive"]);
    assert_eq!(file.disabled, ["old"]);

    let context7 = stdio(&file.servers[0]);
    assert_eq!(context7.command, "npx");
    assert_eq!(context7.args[2], "${NOT_A_REFERENCE}", "taken by its word");
    assert_eq!(context7.env["MY_ENV_VAR"], "MY_ENV_VALUE");
    assert_eq!(context7.env["PORT"], "3000");
    let timeouts = file.servers[0].connection.timeouts.clone();
    let timeouts = timeouts.expect("they are set");
    assert_eq!(timeouts.connect, Duration::from_millis(20_500));
    assert_eq!(timeouts.tool, Duration::from_secs(45));

    let figma = remote(&file.servers[1]);
    assert_eq!(figma.url, "https://mcp.figma.com/mcp");
    assert_eq!(figma.headers["Authorization"], "Bearer s3cret");
    assert_eq!(figma.headers["X-Figma-Region"], "us-east-1");
    assert_eq!(figma.headers["X-Home"], "/home/user");

    let archive = stdio(&file.servers[3]);
    assert_eq!(archive.cwd.as_deref(), Some("/srv/notes/data".as_ref()));

    let warnings: Vec<&str> = file.warnings().map(|it| it.path.as_str()).collect();
    assert_eq!(warnings, ["mcp_servers.chrome_devtools.enabled_tools"]);
    assert_eq!(file.errors().count(), 0);
}

#[test]
fn variables_that_are_to_be_passed_on_are_those_of_the_environment() {
    let text = "[mcp_servers.it]\ncommand = 'it'\nenv_vars = ['API_KEY', 'NOT_SET', 'HOME']\n\
                env = { HOME = '/elsewhere' }\n";
    let file = read(text);
    let it = stdio(&file.servers[0]);
    assert_eq!(it.env["API_KEY"], "s3cret");
    assert_eq!(it.env["HOME"], "/elsewhere");
    assert!(!it.env.contains_key("NOT_SET"));
}

#[test]
fn a_bad_entry_does_not_stop_the_others() {
    let file = read(
        "[mcp_servers.bad]\nurl = 'https://a.test'\nbearer_token_env_var = 'NOT_SET'\n\
         [mcp_servers.good]\ncommand = 'x'\n",
    );
    assert_eq!(file.servers.len(), 1);
    assert_eq!(file.servers[0].name, "good");
    let problem = &file.problems[0];
    assert_eq!(problem.kind, ProblemKind::UnsetVariable("NOT_SET".into()));
    assert_eq!(problem.server.as_deref(), Some("bad"));
    assert_eq!(
        problem.position,
        Some(Position {
            line: 1,
            column: 14
        })
    );
}

#[test]
fn what_is_wrong_is_said() {
    check("", &[]);
    check("model = 'x'", &[]);
    check(
        "mcp_servers = 3",
        &["mcp_servers (line 1): expected a table, found a number; write a table"],
    );
    check(
        "[mcp_servers]\nit = 'x'",
        &["mcp_servers.it (line 2): expected a table, found a string; write a table"],
    );
    check(
        "[mcp_servers.it]",
        &["mcp_servers.it (line 1): command or url is missing; add it"],
    );
    check(
        "[mcp_servers.it]\ncommand = 'x'\nurl = 'https://a.test'",
        &[
            "mcp_servers.it.url (line 1): both a command and a URL are set; \
           remove one, or set type to choose",
        ],
    );
    check(
        "[mcp_servers.it]\nurl = 'a.test'\nstartup_timeout_sec = 0",
        &[
            "mcp_servers.it.url (line 1): a URL must begin with http:// or https://; correct it",
            "mcp_servers.it.startup_timeout_sec (line 1): expected a time above zero; correct it",
        ],
    );
    check(
        "[mcp_servers.it]\ncommand = 'x'\nenabled = 'no'",
        &[
            "mcp_servers.it.enabled (line 1): expected true or false, found a string; \
           write true or false",
        ],
    );
}

#[test]
fn a_fault_of_syntax_has_a_place() {
    let file = read("[mcp_servers.it]\ncommand = oops");
    let ProblemKind::Toml(why) = &file.problems[0].kind else {
        panic!("{:?} is none of syntax", file.problems);
    };
    assert!(!why.is_empty());
    let at = file.problems[0].position.expect("it is known");
    assert_eq!(at.line, 2);
}

#[test]
fn the_name_of_the_file_tells() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("config/codex");
    fs::create_dir_all(&folder).expect("it can be made");
    let path = folder.join("config.toml");
    fs::write(&path, "[mcp_servers.time]\ncommand = 'uvx'").expect("it can be written");
    let file = loader(&[]).load(&path).expect("it can be read");
    assert_eq!(file.problems, []);
    assert_eq!(stdio(&file.servers[0]).command, "uvx");
}
