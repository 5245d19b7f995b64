//! What to do about it.

use bowline::transport::{Cause, CauseKind};

/// How to get a program that is not there.
pub(super) fn of_missing_program(command: &str) -> String {
    let from = match command {
        "npx" | "npm" | "node" => "install Node.js, which brings it",
        "bunx" | "bun" => "install Bun, which brings it",
        "deno" => "install Deno",
        "uvx" | "uv" => "install uv, which brings it",
        "python" | "python3" | "pip" | "pipx" => "install Python, or correct the command",
        "docker" | "podman" => "install it, and see that its service runs",
        _ => "check its spelling, or write its whole path",
    };
    format!("{from}; programs with windows often have another PATH than your terminal")
}

/// What to do about a session that did not open.
pub(super) fn of_opening(cause: &Cause, remote: bool) -> Vec<String> {
    let advice = match cause.kind() {
        CauseKind::Exited {
            code: Some(127), ..
        } => "the shell did not find the program: check the command and PATH",
        CauseKind::Exited { .. } => {
            "its last words say why, if it had any; run the command yourself to see more"
        }
        CauseKind::Eof => "it closed its output at once: is it a server that speaks over stdio?",
        CauseKind::OpeningTimeout(_) if remote => {
            "is this the address of an MCP server? It took the request and did not answer"
        }
        CauseKind::OpeningTimeout(_) => {
            "is it an MCP server that speaks over stdio? One that downloads or prepares \
             something first needs more time: --timeout 60"
        }
        CauseKind::Status { status: 401, .. } | CauseKind::Unauthorized(_) => {
            "it wants to know who asks: sign in with `bowline auth login`, or send a token with \
             --header 'Authorization: Bearer …' or by `headers`"
        }
        CauseKind::Status { status: 403, .. } => {
            "it does not let this request in; what it says may tell why: a host or an origin \
             that it does not serve, an address that may not use it, or a token without the rights"
        }
        CauseKind::Status { status: 404, .. } => {
            "there is nothing at this path: most servers are at /mcp, older ones at /sse"
        }
        CauseKind::Status { status: 429, .. } => "it was asked too often: wait a while",
        CauseKind::Status { status: 500.., .. } => {
            "the fault is the server's: look at its logs, or try later"
        }
        CauseKind::Status { .. } => "check the path: is this the address of an MCP server?",
        CauseKind::UnsupportedVersion { .. } => {
            "leave out --protocol and `revisions`, or update the server"
        }
        CauseKind::Violation(_) => {
            "on standard output a server may write nothing but messages; logs belong on \
             standard error"
        }
        CauseKind::Oversize { .. } => {
            "raise the limit with --max-frame 64MiB, or `max_frame` in its entry, if that is expected"
        }
        CauseKind::Unreachable(_) | CauseKind::Io(_) if remote => {
            "check the address, certificates and proxies"
        }
        _ => return Vec::new(),
    };
    vec![advice.to_owned()]
}
