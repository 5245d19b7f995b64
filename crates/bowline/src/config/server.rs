//! A configured server, and its transport and client settings.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use super::{ConnectionSettings, RawEntry};
use crate::{client::ClientBuilder, transport::ChildProcess};

/// One server of a configuration, with all references resolved.
///
/// ```
/// use bowline::{
///     Client,
///     config::{Environment, Loader},
/// };
///
/// let text = r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#;
/// let file = Loader::new(Environment::new()).parse(text);
/// let server = file.get("time").expect("it is in the file");
///
/// let process = server.child_process().expect("it is started by a command");
/// let builder = server.apply(Client::builder());
/// // let client = builder.connect(process).await?;
/// # let _ = (process, builder);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The name in the configuration.
    pub name: String,
    /// How the server is reached.
    pub endpoint: Endpoint,
    /// The projects that it belongs to. It may be used manually in any project.
    pub projects: Vec<String>,
    /// The connection settings.
    pub connection: ConnectionSettings,
    /// The entry as written in the file, before references were expanded.
    pub raw: RawEntry,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A local process, over its standard streams.
    Stdio(StdioServer),
    /// A remote server, over HTTP.
    Remote(RemoteServer),
}

/// A server that is started by a command.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StdioServer {
    /// The program.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// The environment variables, in addition to those that every child process gets;
    /// see [`ChildProcess`].
    pub env: BTreeMap<String, String>,
    /// Whether it inherits all variables of this process: `"inherit_env": true`.
    pub inherit_env: bool,
    /// The working directory.
    pub cwd: Option<PathBuf>,
}

/// A remote server.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteServer {
    /// The URL.
    pub url: String,
    /// The headers to send with every request.
    pub headers: BTreeMap<String, String>,
    /// The HTTP transport.
    pub kind: RemoteKind,
    /// The credentials to get a token with.
    pub credentials: Option<ClientCredentials>,
    /// Whether credentials may be sent over plain `http` to another machine.
    pub allow_plain_http: bool,
}

/// The HTTP transport of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteKind {
    /// Not specified: the streamable transport is tried first.
    Unspecified,
    /// The streamable transport, with one endpoint.
    Streamable,
    /// The legacy SSE transport, with one endpoint for events and one for messages.
    Sse,
}

/// The OAuth client credentials to get a token with.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCredentials {
    /// The client ID.
    pub client_id: String,
    /// The client secret.
    pub client_secret: Option<String>,
    /// The token endpoint.
    pub token_url: Option<String>,
    /// The requested scope.
    pub scope: Option<String>,
}

impl ServerEntry {
    pub(super) fn new(name: &str, endpoint: Endpoint) -> Self {
        Self {
            name: name.to_owned(),
            endpoint,
            projects: Vec::new(),
            connection: ConnectionSettings::default(),
            raw: RawEntry::default(),
        }
    }

    /// Returns the process to start, if the server is started by a command.
    #[must_use]
    pub fn child_process(&self) -> Option<ChildProcess> {
        let Endpoint::Stdio(server) = &self.endpoint else {
            return None;
        };
        let mut process = ChildProcess::new(&server.command).args(&server.args);
        if server.inherit_env {
            process = process.inherit_env();
        }
        for (name, value) in &server.env {
            process = process.env(name, value);
        }
        if let Some(cwd) = &server.cwd {
            process = process.current_dir(cwd);
        }
        Some(process)
    }

    /// Returns the transport for a remote server. If there are client credentials, it
    /// gets tokens with them.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL or a header is invalid or would be sent unencrypted
    /// to another machine, or if there are credentials and the feature `auth` is
    /// disabled.
    #[cfg(feature = "http-client")]
    pub fn http(
        &self,
    ) -> Result<Option<crate::transport::Http>, crate::transport::HttpConfigError> {
        let Endpoint::Remote(server) = &self.endpoint else {
            return Ok(None);
        };
        let mut http = crate::transport::Http::new(&server.url)?;
        for (name, value) in &server.headers {
            http = http.header(name, value)?;
        }
        if server.allow_plain_http {
            http = http.allow_plain_http();
        }
        if http.exposes_credentials() {
            return Err(crate::transport::HttpConfigError::CredentialsOverPlainHttp);
        }
        match &server.credentials {
            Some(credentials) => credentials
                .apply_to(http, server.allow_plain_http)
                .map(Some),
            None => Ok(Some(http)),
        }
    }

    /// Applies the connection settings of the configuration, and leaves the others
    /// unchanged.
    #[must_use]
    pub fn apply(&self, builder: ClientBuilder) -> ClientBuilder {
        self.connection.apply(builder)
    }
}

#[cfg(feature = "http-client")]
impl ClientCredentials {
    /// Makes a transport get tokens with these credentials.
    #[cfg(feature = "auth")]
    fn apply_to(
        &self,
        http: crate::transport::Http,
        allow_plain_http: bool,
    ) -> Result<crate::transport::Http, crate::transport::HttpConfigError> {
        let mut oauth = crate::auth::OAuth::new("Bowline")
            .client_id(&self.client_id)
            .client_credentials();
        if let Some(secret) = &self.client_secret {
            oauth = oauth.client_secret(secret.as_str());
        }
        if let Some(url) = &self.token_url {
            oauth = oauth.token_endpoint(url);
        }
        if let Some(scope) = &self.scope {
            oauth = oauth.scopes(scope.split_whitespace());
        }
        if allow_plain_http {
            oauth = oauth.allow_plain_http();
        }
        Ok(http.authorizer(oauth))
    }

    #[cfg(not(feature = "auth"))]
    fn apply_to(
        &self,
        _: crate::transport::Http,
        _: bool,
    ) -> Result<crate::transport::Http, crate::transport::HttpConfigError> {
        Err(crate::transport::HttpConfigError::NeedsAuth)
    }
}

impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioServer")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("inherit_env", &self.inherit_env)
            .field("cwd", &self.cwd)
            .finish()
    }
}

impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServer")
            .field("url", &redact_url(&self.url))
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("kind", &self.kind)
            .field("credentials", &self.credentials)
            .field("allow_plain_http", &self.allow_plain_http)
            .finish()
    }
}

impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials")
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "…"))
            .field("token_url", &self.token_url.as_deref().map(redact_url))
            .field("scope", &self.scope)
            .finish()
    }
}

/// Removes the parts of a URL that may contain secrets: the user and the query.
fn redact_url(url: &str) -> String {
    let (head, query) = match url.split_once(['?', '#']) {
        Some((head, _)) => (head, "?…"),
        None => (url, ""),
    };
    let Some((scheme, rest)) = head.split_once("://") else {
        return format!("{head}{query}");
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}{path}{query}"),
        None => format!("{head}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_keys() {
        let cases = [
            ("https://a.test/mcp", "https://a.test/mcp"),
            ("https://a.test/mcp?key=1", "https://a.test/mcp?…"),
            ("https://a.test?key=1", "https://a.test?…"),
            ("https://me:1@a.test/mcp#2", "https://…@a.test/mcp?…"),
            ("a.test?x", "a.test?…"),
        ];
        for (url, redacted) in cases {
            assert_eq!(redact_url(url), redacted);
        }
    }
}
