//! What to do about it.

use bowline::transport::{ConnectionError, ConnectionErrorKind};

/// How to get a program that is not there.
pub(super) fn for_missing_program(command: &str) -> String {
    let advice = match command {
        "npx" | "npm" | "node" => "install Node.js, which brings it",
        "bunx" | "bun" => "install Bun, which brings it",
        "deno" => "install Deno",
        "uvx" | "uv" => "install uv, which brings it",
        "python" | "python3" | "pip" | "pipx" => "install Python, or correct the command",
        "docker" | "podman" => "install it, and see that its service runs",
        _ => "check its spelling, or write its whole path",
    };
    format!("{advice}; programs with windows often have another PATH than your terminal")
}

/// What to do about a session that did not open.
pub(super) fn for_failed_opening(cause: &ConnectionError, remote: bool) -> Vec<String> {
    let advice = match cause.kind() {
        ConnectionErrorKind::Exited {
            code: Some(127), ..
        } => "the shell did not find the program: check the command and PATH",
        ConnectionErrorKind::Exited { .. } => {
            "its last words say why, if it had any; run the command yourself to see more"
        }
        ConnectionErrorKind::Eof => {
            "it closed its output at once: is it a server that speaks over stdio?"
        }
        ConnectionErrorKind::OpeningTimeout(_) if remote => {
            "is this the address of an MCP server? It took the request and did not answer"
        }
        ConnectionErrorKind::OpeningTimeout(_) => {
            "is it an MCP server that speaks over stdio? One that downloads or prepares \
             something first needs more time: --timeout 60"
        }
        ConnectionErrorKind::Status { status: 401, .. } | ConnectionErrorKind::Unauthorized(_) => {
            "it wants to know who asks: sign in with `bowline auth login`, or send a token with \
             --header 'Authorization: Bearer …' or by `headers`"
        }
        ConnectionErrorKind::Status { status: 403, .. } => {
            "it does not let this request in; what it says may tell why: a host or an origin \
             that it does not serve, an address that may not use it, or a token without the rights"
        }
        ConnectionErrorKind::Status { status: 404, .. } => {
            "there is nothing at this path: most servers are at /mcp, older ones at /sse"
        }
        ConnectionErrorKind::Status { status: 429, .. } => "it was asked too often: wait a while",
        ConnectionErrorKind::Status { status: 500.., .. } => {
            "the fault is the server's: look at its logs, or try later"
        }
        ConnectionErrorKind::Status { .. } => {
            "check the path: is this the address of an MCP server?"
        }
        ConnectionErrorKind::UnsupportedVersion { .. } => {
            "leave out --protocol and `revisions`, or update the server"
        }
        ConnectionErrorKind::ProtocolViolation(_) => {
            "on standard output a server may write nothing but messages; logs belong on \
             standard error"
        }
        ConnectionErrorKind::OversizedFrame { .. } => {
            "raise the limit with --max-frame 64MiB, or `max_frame` in its entry, if that is expected"
        }
        ConnectionErrorKind::Unreachable(_) | ConnectionErrorKind::Io(_) if remote => {
            "check the address, certificates and proxies"
        }
        _ => return Vec::new(),
    };
    vec![advice.to_owned()]
}
