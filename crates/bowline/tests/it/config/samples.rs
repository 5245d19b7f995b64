//! Files as the programs write them.

use bowline::config::{RemoteKind, ServersFile};

use super::{loader, remote, stdio};

#[track_caller]
fn read(text: &str, servers: &[&str]) -> ServersFile {
    let variables = [
        ("API_KEY", "s3cret"),
        ("DB_URL", "db:1"),
        ("HOME", "/home/user"),
    ];
    let file = loader(&variables).parse(text);
    assert_eq!(file.errors().collect::<Vec<_>>(), [] as [&_; 0]);
    let names: Vec<&str> = file
        .servers
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!(names, servers, "in the order of the file");
    file
}

#[test]
fn claude_desktop() {
    let file = read(
        include_str!("samples/claude_desktop.json"),
        &["filesystem", "brave-search"],
    );
    let filesystem = stdio(&file.servers[0]);
    assert_eq!(filesystem.command, "npx");
    assert_eq!(
        filesystem.args[2..],
        ["/home/user/Documents", "/srv/shared"]
    );
    assert_eq!(
        stdio(&file.servers[1]).env["BRAVE_API_KEY"],
        "BSA-0123456789"
    );
    assert_eq!(file.problems, []);
}

#[test]
fn claude_code_in_a_project() {
    let file = read(
        include_str!("samples/claude_code.json"),
        &["api-server", "events", "db"],
    );
    let api = remote(&file.servers[0]);
    assert_eq!(api.url, "https://api.example.com/mcp");
    assert_eq!(api.headers["Authorization"], "Bearer s3cret");
    assert_eq!(api.kind, RemoteKind::Streamable);
    assert_eq!(remote(&file.servers[1]).kind, RemoteKind::Sse);
    let db = stdio(&file.servers[2]);
    assert_eq!(db.command, "/opt/db/bin/server");
    assert_eq!(db.args, ["--config", "/home/user/db.json"]);
    assert_eq!(db.env["DB_URL"], "db:1");
}

#[test]
fn claude_code_of_a_user() {
    let file = read(
        include_str!("samples/claude_user.json"),
        &["memory", "notes"],
    );
    assert_eq!(
        file.problems,
        [],
        "servers of other projects are none of ours"
    );
}

#[test]
fn vs_code() {
    let text = include_str!("samples/vscode.json");
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let record = std::sync::Arc::clone(&asked);
    let loader = loader(&[]).inputs(move |input| {
        record.lock().expect("nobody panics").push(input.clone());
        input.default.clone().or(Some("s3cret".into()))
    });
    let file = loader.parse(text);
    assert_eq!(file.problems, []);
    let perplexity = stdio(&file.servers[0]);
    assert_eq!(perplexity.env["KEY"], "s3cret");
    assert_eq!(perplexity.cwd.as_deref(), Some("/srv/notes".as_ref()));
    let regional = remote(&file.servers[1]);
    assert_eq!(regional.url, "https://eu.example.com/mcp/");
    assert_eq!(regional.headers["X-Key"], "s3cret");

    let asked = asked.lock().expect("nobody panics");
    let ids: Vec<&str> = asked.iter().map(|input| input.id.as_str()).collect();
    assert_eq!(ids, ["perplexity-key", "region"], "each is asked for once");
    assert!(asked[0].password);
    assert_eq!(asked[0].description.as_deref(), Some("Perplexity API Key"));
    assert_eq!(asked[1].options, ["eu", "us"]);
}

#[test]
fn vs_code_settings() {
    let file = read(include_str!("samples/vscode_settings.json"), &["time"]);
    assert_eq!(file.problems, []);
}

#[test]
fn windsurf() {
    let file = read(include_str!("samples/windsurf.json"), &["figma", "github"]);
    assert_eq!(remote(&file.servers[0]).url, "https://mcp.figma.com/mcp");
    assert_eq!(remote(&file.servers[0]).kind, RemoteKind::Unspecified);
    assert_eq!(file.disabled, ["old"]);
    let warnings: Vec<String> = file
        .warnings()
        .map(|problem| problem.path.clone())
        .collect();
    assert_eq!(warnings, ["mcpServers.github.disabledTools"]);
}

#[test]
fn bowline_itself() {
    let file = read(
        include_str!("samples/bowline.json"),
        &["meditation-notes", "gemini-style"],
    );
    assert_eq!(file.problems, []);
    assert_eq!(remote(&file.servers[1]).kind, RemoteKind::Streamable);
    let of = |project| -> Vec<&str> {
        let servers = file.for_project(project);
        servers.map(|server| server.name.as_str()).collect()
    };
    assert_eq!(of("writing"), ["meditation-notes", "gemini-style"]);
    assert_eq!(of("meditation"), ["meditation-notes"]);
    assert_eq!(of("cooking"), [] as [&str; 0]);
    assert!(file.get("gemini-style").is_some());
}
