//! Where programs keep their configurations.

use bowline::config::{App, ConfigScope, Os, well_known};

#[track_caller]
fn check(os: Os, expected: &[(App, ConfigScope, &str)]) {
    let sources = well_known("/home/user".as_ref(), "/srv/notes".as_ref(), os);
    let found: Vec<(App, ConfigScope, &str)> = sources
        .iter()
        .map(|source| {
            (
                source.app,
                source.scope,
                source.path.to_str().expect("it is text"),
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn on_linux() {
    check(
        Os::Linux,
        &[
            (
                App::Bowline,
                ConfigScope::User,
                "/home/user/.config/bowline/bowline.json",
            ),
            (
                App::ClaudeCode,
                ConfigScope::User,
                "/home/user/.claude.json",
            ),
            (
                App::Cursor,
                ConfigScope::User,
                "/home/user/.cursor/mcp.json",
            ),
            (
                App::VsCode,
                ConfigScope::User,
                "/home/user/.config/Code/User/mcp.json",
            ),
            (
                App::VsCode,
                ConfigScope::User,
                "/home/user/.config/Code/User/settings.json",
            ),
            (
                App::ClaudeDesktop,
                ConfigScope::User,
                "/home/user/.config/Claude/claude_desktop_config.json",
            ),
            (
                App::Windsurf,
                ConfigScope::User,
                "/home/user/.codeium/windsurf/mcp_config.json",
            ),
            #[cfg(feature = "config-toml")]
            (
                App::Codex,
                ConfigScope::User,
                "/home/user/.codex/config.toml",
            ),
            (
                App::Bowline,
                ConfigScope::Project,
                "/srv/notes/bowline.json",
            ),
            (App::Bowline, ConfigScope::Project, "/srv/bowline.json"),
            (App::Bowline, ConfigScope::Project, "/bowline.json"),
            (
                App::ClaudeCode,
                ConfigScope::Project,
                "/srv/notes/.mcp.json",
            ),
            (App::ClaudeCode, ConfigScope::Project, "/srv/.mcp.json"),
            (App::ClaudeCode, ConfigScope::Project, "/.mcp.json"),
            (
                App::Cursor,
                ConfigScope::Project,
                "/srv/notes/.cursor/mcp.json",
            ),
            (
                App::VsCode,
                ConfigScope::Project,
                "/srv/notes/.vscode/mcp.json",
            ),
            #[cfg(feature = "config-toml")]
            (
                App::Codex,
                ConfigScope::Project,
                "/srv/notes/.codex/config.toml",
            ),
        ],
    );
}

#[test]
fn in_the_home_folder_a_file_of_the_users_is_no_projects() {
    let home: &std::path::Path = "/home/user".as_ref();
    let sources = well_known(home, home, Os::Linux);
    let cursor: Vec<_> = sources
        .iter()
        .filter(|source| source.app == App::Cursor)
        .collect();
    assert_eq!(cursor.len(), 1);
    assert_eq!(cursor[0].scope, ConfigScope::User);
}

#[test]
fn a_projects_folder_is_where_its_files_are_looked_for() {
    let sources = well_known("/home/user".as_ref(), "/srv/notes".as_ref(), Os::Linux);
    for source in sources {
        let folder = source.project_dir().and_then(|folder| folder.to_str());
        match (source.scope, folder) {
            (ConfigScope::User, None) => {}
            (ConfigScope::Project, Some("/srv/notes" | "/srv" | "/")) => {}
            _ => panic!("{source:?}: {folder:?}"),
        }
    }
}

/// The places of a user's files that differ between systems.
#[track_caller]
fn check_user(os: Os, expected: [&str; 3]) {
    let sources = well_known("/home/user".as_ref(), "/".as_ref(), os);
    let path = |app: App| {
        let of = |source: &&bowline::config::ConfigSource| {
            source.app == app && source.scope == ConfigScope::User
        };
        let source = sources.iter().find(of).expect("each has one");
        source.path.to_str().expect("it is text").to_owned()
    };
    let found = [App::Bowline, App::VsCode, App::ClaudeDesktop].map(path);
    assert_eq!(found, expected.map(|path| format!("/home/user/{path}")));
}

#[test]
fn elsewhere() {
    check_user(
        Os::MacOs,
        [
            ".config/bowline/bowline.json",
            "Library/Application Support/Code/User/mcp.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
        ],
    );
    check_user(
        Os::Windows,
        [
            "AppData/Roaming/bowline/bowline.json",
            "AppData/Roaming/Code/User/mcp.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ],
    );
}
