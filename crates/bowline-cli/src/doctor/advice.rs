//! Advice for failed checks.

use bowline::transport::{ConnectionError, ConnectionErrorKind};

/// Returns advice for installing a program that was not found.
pub(super) fn for_missing_program(command: &str) -> String {
    let advice = match command {
        "npx" | "npm" | "node" => "install Node.js, which includes it",
        "bunx" | "bun" => "install Bun, which includes it",
        "deno" => "install Deno",
        "uvx" | "uv" => "install uv, which includes it",
        "python" | "python3" | "pip" | "pipx" => "install Python, or fix the command",
        "docker" | "podman" => "install it, and make sure its service is running",
        _ => "check the spelling, or use an absolute path",
    };
    format!("{advice}; graphical applications often have a different PATH than your terminal")
}

/// Returns advice for a session that failed to open.
pub(super) fn for_failed_opening(cause: &ConnectionError, remote: bool) -> Vec<String> {
    let advice = match cause.kind() {
        ConnectionErrorKind::Exited {
            code: Some(127), ..
        } => "the shell did not find the program: check the command and PATH",
        ConnectionErrorKind::Exited { .. } => {
            "check its standard error for the reason; run the command yourself to see more"
        }
        ConnectionErrorKind::Eof => {
            "it closed its output immediately: is it an MCP server that uses stdio?"
        }
        ConnectionErrorKind::OpeningTimeout(_) if remote => {
            "is this the URL of an MCP server? It accepted the request but did not respond"
        }
        ConnectionErrorKind::OpeningTimeout(_) => {
            "is it an MCP server that uses stdio? If it downloads or prepares something first, \
             allow more time: --timeout 60"
        }
        ConnectionErrorKind::Status { status: 401, .. } | ConnectionErrorKind::Unauthorized(_) => {
            "it requires authorization: sign in with `bowline auth login`, or send a token with \
             --header 'Authorization: Bearer …' or `headers` in its entry"
        }
        ConnectionErrorKind::Status { status: 403, .. } => {
            "it refused this request; its message may say why: a host or origin that it does not \
             serve, a client address that is not allowed, or a token without the required \
             permissions"
        }
        ConnectionErrorKind::Status { status: 404, .. } => {
            "nothing found at this path: most servers use /mcp, older ones /sse"
        }
        ConnectionErrorKind::Status { status: 429, .. } => {
            "too many requests: wait before trying again"
        }
        ConnectionErrorKind::Status { status: 500.., .. } => {
            "the server has a problem: check its logs, or try again later"
        }
        ConnectionErrorKind::Status { .. } => "check the path: is this the URL of an MCP server?",
        ConnectionErrorKind::UnsupportedVersion { .. } => {
            "remove --protocol and `revisions`, or update the server"
        }
        ConnectionErrorKind::ProtocolViolation(_) => {
            "a server may write only messages to standard output; logs belong on standard error"
        }
        ConnectionErrorKind::OversizedFrame { .. } => {
            "raise the limit with --max-frame 64MiB, or `max_frame` in its entry, if that is expected"
        }
        ConnectionErrorKind::Unreachable(_) | ConnectionErrorKind::Io(_) if remote => {
            "check the URL, certificates and proxy settings"
        }
        _ => return Vec::new(),
    };
    vec![advice.to_owned()]
}
