//! `bowline serve`.

use std::{
    io::{self, IsTerminal as _},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use bowline::server::{
    Service,
    http::{HttpOptions, HttpService, OriginPolicy},
};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    context::Context,
    demo::{self, App, ServerLocation},
    failure::Failure,
    output::closest_name,
    signals,
    target::DEMO,
};

/// The default address for HTTP.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8765);
/// How long calls in flight may take after shutdown begins.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serve the built-in server, over stdio or HTTP
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline serve demo --http                  on http://127.0.0.1:8765/mcp, or another free port
  bowline serve demo --http 8000             on this port
  bowline list -- bowline serve demo --stdio as a separate process")]
pub(crate) struct Serve {
    /// The server to serve; only `demo` is built in
    #[arg(value_name = "NAME")]
    name: String,
    /// Serve over standard input and output
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve over HTTP on an address or port
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1)]
    http: Option<Option<String>>,
}

impl Serve {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        if self.name != DEMO {
            return Err(not_built_in(&self.name));
        }
        match (self.stdio, self.http) {
            (true, _) => serve_stdio(cx).await,
            (false, Some(address)) => serve_http(cx, address.as_deref()).await,
            (false, None) => Err(Failure::usage("no transport given")
                .hint("use --http to listen on this machine; it prints the URL")
                .hint(
                    "use --stdio if another program starts it and talks to it over its input \
                     and output",
                )),
        }
    }
}

fn not_built_in(name: &str) -> Failure {
    let failure = Failure::usage(format!("unknown built-in server `{name}`"));
    match closest_name(name, [DEMO]) {
        Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
        None => failure.hint("only `demo` is built in: bowline serve demo --http"),
    }
}

async fn serve_stdio(cx: &Context) -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        cx.output.note(
            "reading messages from the terminal, one per line; --http is usually what you \
             want",
        );
    }
    let service = demo::service(ServerLocation::ChildProcess)?;
    // The program that started it may want to know, to inspect or stop it.
    demo::announce(&service);
    let served = service.serve_stdio();
    tokio::pin!(served);
    tokio::select! {
        done = &mut served => return Ok(done?),
        _ = signals::received() => service.stop(SHUTDOWN_TIMEOUT),
    }
    wait_or_interrupt(served).await
}

async fn serve_http(cx: &Context, address: Option<&str>) -> Result<(), Failure> {
    let (listener, bound) = listen(address).await?;
    let service = demo::service(ServerLocation::ChildProcess)?;
    let options = HttpOptions {
        origins: origin_policy(bound.ip())?,
        ..HttpOptions::default()
    };
    let http = service.http(options);
    announce(cx, &service, bound)?;
    let served = http.serve(listener);
    tokio::pin!(served);
    tokio::select! {
        done = &mut served => return Ok(done?),
        _ = signals::received() => stop(cx, &http),
    }
    wait_or_interrupt(served).await
}

fn stop(cx: &Context, http: &HttpService) {
    cx.output
        .note("shutting down; waiting for calls in flight, press Ctrl-C again to exit now");
    http.stop(SHUTDOWN_TIMEOUT);
}

/// Prints the URL as the result; everything else is a note.
fn announce(cx: &Context, service: &Service<App>, bound: SocketAddr) -> Result<(), Failure> {
    // The service ignores the path; this is the one clients expect.
    let url = format!("http://{bound}/mcp");
    match cx.json() {
        true => cx.output.json(&json!({ "url": url }))?,
        false => cx.output.line(&url)?,
    }
    demo::announce(service);
    let local_url = match bound.ip().is_unspecified() {
        true => format!("http://127.0.0.1:{}/mcp", bound.port()),
        false => url,
    };
    if !bound.ip().is_loopback() {
        cx.output
            .note("warning: it is reachable from other machines, without authentication");
    }
    cx.output.note(format!("try: bowline list {local_url}"));
    cx.output.note("press Ctrl-C to stop");
    Ok(())
}

/// Waits for a server that is shutting down, or for another Ctrl-C.
async fn wait_or_interrupt(served: impl Future<Output = io::Result<()>>) -> Result<(), Failure> {
    tokio::select! {
        done = served => Ok(done?),
        signal = signals::received() => Err(signal.into()),
    }
}

/// Binds the given address, or the default one, or any free port.
async fn listen(requested: Option<&str>) -> Result<(TcpListener, SocketAddr), Failure> {
    let address = requested.map(parse_address).transpose()?;
    let listener = match TcpListener::bind(address.unwrap_or(DEFAULT_ADDRESS)).await {
        Err(error) if address.is_none() && error.kind() == io::ErrorKind::AddrInUse => {
            TcpListener::bind((DEFAULT_ADDRESS.ip(), 0)).await
        }
        bound => bound,
    };
    let listener = listener.map_err(|error| {
        let attempted = address.unwrap_or(DEFAULT_ADDRESS);
        Failure::usage(format!("cannot listen on {attempted}: {error}"))
            .hint("leave out the address to use a free port: bowline serve demo --http")
    })?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Parses an address: `127.0.0.1:8000`, `8000`, `:8000`, `localhost:8000`.
fn parse_address(text: &str) -> Result<SocketAddr, Failure> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    if let (true, Ok(port)) = (matches!(host, "" | "localhost"), port.parse()) {
        return Ok(SocketAddr::new(DEFAULT_ADDRESS.ip(), port));
    }
    text.parse().map_err(|_| {
        Failure::usage(format!("--http {text}: invalid address"))
            .hint("give a port, such as 8000, or an address, such as 127.0.0.1:8000")
    })
}

/// Returns the origins to accept. Web pages in local browsers must not reach
/// the server under a host name of their choice.
fn origin_policy(bound: IpAddr) -> Result<OriginPolicy, Failure> {
    let policy = OriginPolicy::loopback();
    if bound.is_loopback() {
        return Ok(policy);
    }
    if bound.is_unspecified() {
        return Ok(policy.allow_any_host());
    }
    let host = match bound {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    policy
        .allow_host(&host)
        .map_err(|error| Failure::usage(format!("{host}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::parse_address;

    #[test]
    fn addresses() {
        let cases = [
            ("8000", Some("127.0.0.1:8000")),
            (":8000", Some("127.0.0.1:8000")),
            ("localhost:8000", Some("127.0.0.1:8000")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("example.com:80", None),
            ("127.0.0.1", None),
            ("99999", None),
        ];
        for (text, expected) in cases {
            let read = parse_address(text).ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
