//! Which value a server's variable gets.

use std::{fs, path::Path};

use bowline::config::{
    ConfigScope, ConfigSource, Loader, Os, ProblemKind, ServersFile, well_known,
};

use super::{Variables, loader, only, read_one, stdio};

/// Each row has one place less that names the variable.
#[test]
fn the_most_particular_place_wins() {
    let rows: [(Variables<'_>, &str, &str); 5] = [
        (
            &[("MCP_IT_KEY", "1"), ("MCP_KEY", "2"), ("KEY", "3")],
            "${KEY}",
            "1",
        ),
        (&[("MCP_IT_KEY", "1"), ("KEY", "3")], "${KEY}", "1"),
        (&[("MCP_KEY", "2"), ("KEY", "3")], "${KEY}", "2"),
        (&[("KEY", "3")], "${KEY}", "3"),
        (&[("KEY", "3")], "literal", "literal"),
    ];
    for (variables, written, expected) in rows {
        let entry = serde_json::json!({"command": "it", "env": {"KEY": written}});
        let server = only(read_one(&entry.to_string(), variables));
        assert_eq!(stdio(&server).env["KEY"], expected, "{variables:?}");
    }
}

#[test]
fn a_reference_that_is_overridden_need_not_resolve() {
    let entry = r#"{"command": "it", "env": {"KEY": "${NOT_SET}"}}"#;
    let server = only(read_one(entry, &[("MCP_KEY", "2")]));
    assert_eq!(stdio(&server).env["KEY"], "2");
}

#[test]
fn variables_of_the_server_are_passed_on_unlisted() {
    let text = r#"{"mcpServers": {"meditation-notes.v2": {"command": "it"}}}"#;
    let variables = [
        ("MCP_MEDITATION_NOTES_V2_TOKEN", "1"),
        ("MCP_MEDITATION_NOTES_V2_", "nameless"),
        ("MCP_MEDITATION_TOKEN", "of another"),
        ("MCP_TOKEN", "of everybody, but not listed"),
    ];
    let server = only(loader(&variables).parse(text));
    let env: Vec<_> = stdio(&server).env.iter().collect();
    assert_eq!(env, [(&"TOKEN".to_owned(), &"1".to_owned())]);
}

#[test]
fn a_secret_of_a_longer_name_does_not_reach_a_shorter_one() {
    let text = r#"{"mcpServers": {
        "git": {"command": "git-server"},
        "git-hub": {"command": "hub-server"},
        "git-lab": {"command": "lab-server", "disabled": true}
    }}"#;
    let variables = [
        ("MCP_GIT_HUB_TOKEN", "1"),
        ("MCP_GIT_LAB_TOKEN", "2"),
        ("MCP_GIT_USER", "3"),
    ];
    let file = loader(&variables).parse(text);
    assert_eq!(file.problems, []);
    let names = |at: usize| {
        stdio(&file.servers[at])
            .env
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["USER"]);
    assert_eq!(names(1), ["TOKEN"]);
}

#[test]
fn an_entry_may_ask_for_all_variables() {
    let asks = only(read_one(r#"{"command": "it", "inherit_env": true}"#, &[]));
    assert!(stdio(&asks).inherit_env);
    let does_not = only(read_one(r#"{"command": "it"}"#, &[]));
    assert!(!stdio(&does_not).inherit_env);
}

#[test]
fn what_is_listed_is_no_way_to_get_what_is_meant_for_others() {
    let text = r#"{"mcpServers": {
        "git": {"command": "x", "env": {"HUB_TOKEN": "own", "GIT_HUB_TOKEN": "own"}},
        "git-hub": {"command": "x", "env": {"TOKEN": "own", "GIT_HUB_TOKEN": "own"}}
    }}"#;
    let file = loader(&[("MCP_GIT_HUB_TOKEN", "s3cret")]).parse(text);
    let git = &stdio(&file.servers[0]).env;
    assert!(git.values().all(|value| value == "own"), "{git:?}");
    let hub = &stdio(&file.servers[1]).env;
    assert_eq!(hub["TOKEN"], "s3cret");
    assert_eq!(
        hub["GIT_HUB_TOKEN"], "s3cret",
        "it is its own by either name"
    );
}

#[test]
fn names_that_look_the_same_in_capitals_get_nothing() {
    let text = r#"{"mcpServers": {
        "git-hub": {"command": "x", "env": {"TOKEN": "own"}},
        "git_hub": {"command": "x"},
        "git.hub.two": {"command": "x"}
    }}"#;
    let variables = [("MCP_GIT_HUB_TOKEN", "1"), ("MCP_GIT_HUB_TWO_TOKEN", "2")];
    let file = loader(&variables).parse(text);
    let kinds: Vec<_> = file.problems.iter().map(|it| it.kind.clone()).collect();
    let same = |other: &str| ProblemKind::SameVariables(other.to_owned());
    assert_eq!(kinds, [same("git_hub"), same("git-hub")]);
    assert_eq!(file.errors().count(), 0, "they can be used");
    let env = |at: usize| stdio(&file.servers[at]).env.iter().collect::<Vec<_>>();
    assert_eq!(env(0), [(&"TOKEN".to_owned(), &"own".to_owned())]);
    assert_eq!(env(1), []);
    assert_eq!(env(2), [(&"TOKEN".to_owned(), &"2".to_owned())]);
    // Without such variables there is nothing to complain of.
    let variables = [("MCP_GIT_HUB_TWO_TOKEN", "2")];
    assert_eq!(loader(&variables).parse(text).problems, []);
}

/// A home and a project with these files, which go away with this.
struct Places(std::path::PathBuf);

impl Places {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let name = format!("precedence-{name}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let places = Self(folder);
        for (file, text) in files {
            let path = places.0.join(file);
            let parent = path.parent().expect("it has one");
            fs::create_dir_all(parent).expect("folders can be made");
            fs::write(path, text).expect("it can be written");
        }
        places
    }

    fn sources(&self) -> Vec<ConfigSource> {
        well_known(&self.0.join("home"), &self.0.join("project"), Os::Linux)
    }

    fn load(&self, loader: &Loader) -> Vec<(ConfigSource, ServersFile)> {
        loader.load_all(&self.sources())
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // What cannot be removed lies below the build's own folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn all_files_of_the_user_are_compared() {
    let places = Places::new(
        "compared",
        &[
            (
                "home/.config/bowline/bowline.json",
                r#"{"servers": {"git": {"command": "x"}}}"#,
            ),
            (
                "home/.claude.json",
                r#"{"mcpServers": {"git-hub": {"command": "x"}}}"#,
            ),
            (
                "home/.cursor/mcp.json",
                r#"{"mcpServers": {"git_lab": {"disabled": true}}}"#,
            ),
            (
                "project/.mcp.json",
                r#"{"mcpServers": {"git-tea": {"command": "x"}}}"#,
            ),
        ],
    );
    let variables = [
        ("MCP_GIT_HUB_TOKEN", "1"),
        ("MCP_GIT_LAB_TOKEN", "2"),
        ("MCP_GIT_TEA_TOKEN", "3"),
    ];
    let files = places.load(&loader(&variables));
    let (_, own) = &files[0];
    let env: Vec<_> = stdio(&own.servers[0]).env.keys().collect();
    assert_eq!(
        env,
        ["TEA_TOKEN"],
        "what a project is called does not count"
    );
    let (_, claude) = &files[1];
    assert_eq!(stdio(&claude.servers[0]).env["TOKEN"], "1");
}

#[test]
fn servers_of_a_project_get_no_variables_by_their_names() {
    let entry = r#"{"command": "x", "env": {"KEY": "own", "OTHER": "${OTHER}"}}"#;
    let text = format!(r#"{{"mcpServers": {{"it": {entry}}}}}"#);
    let places = Places::new("project", &[("project/.mcp.json", text.as_str())]);
    let variables = [
        ("MCP_IT_TOKEN", "1"),
        ("MCP_IT_KEY", "2"),
        ("MCP_KEY", "3"),
        ("OTHER", "4"),
    ];
    let loader = loader(&variables);
    let check = |file: &ServersFile| {
        assert_eq!(file.problems, []);
        let env = &stdio(&file.servers[0]).env;
        let env: Vec<_> = env.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(env, [("KEY", "own"), ("OTHER", "4")]);
    };
    let (source, file) = places.load(&loader).remove(0);
    assert_eq!(source.scope, ConfigScope::Project);
    check(&file);
    check(&loader.load_source(&source));
}
