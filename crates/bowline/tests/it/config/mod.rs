//! Configurations: what people have in their files, and what is made of it.

#[cfg(feature = "config-toml")]
mod codex;
mod conversion;
mod loading;
#[cfg(unix)]
mod ownership;
mod places;
mod precedence;
mod problems;
mod references;
mod samples;
mod twelve_factor;
mod written;

use bowline::config::{
    Endpoint, Environment, Loader, RemoteServer, ServerEntry, ServersFile, StdioServer,
};

/// The variables of an environment.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// A loader with this environment, a home and a workspace.
fn loader(variables: Variables<'_>) -> Loader {
    let environment: Environment = variables.iter().copied().collect();
    Loader::new(environment)
        .home("/home/user")
        .workspace("/srv/notes")
}

/// What is made of one entry.
#[track_caller]
fn read_one(entry: &str, variables: Variables<'_>) -> ServersFile {
    loader(variables).parse(&format!(r#"{{"mcpServers": {{"it": {entry}}}}}"#))
}

/// The only server of a file without problems.
#[track_caller]
fn only(file: ServersFile) -> ServerEntry {
    assert_eq!(file.problems, []);
    assert_eq!(file.servers.len(), 1);
    file.servers.into_iter().next().expect("it is there")
}

#[track_caller]
fn stdio(server: &ServerEntry) -> &StdioServer {
    match &server.endpoint {
        Endpoint::Stdio(server) => server,
        other => panic!("{other:?} is not started by a command"),
    }
}

#[track_caller]
fn remote(server: &ServerEntry) -> &RemoteServer {
    match &server.endpoint {
        Endpoint::Remote(server) => server,
        other => panic!("{other:?} has no address"),
    }
}
