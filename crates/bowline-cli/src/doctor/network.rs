//! Checks the path to a URL: DNS, the TCP connection, TLS and HTTP.

use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use bowline::{
    config::Endpoint,
    transport::{
        Http,
        reqwest::{self, Url, header},
    },
};
use tokio::net::TcpStream;

use super::report::{Report, Stopped};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    target::{Target, with_limits},
};

/// Default time limit of each layer.
const LAYER_TIMEOUT: Duration = Duration::from_secs(10);

/// Environment variables that configure a proxy.
const PROXY_VARIABLES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

pub(super) async fn examine(
    cx: &Context,
    target: &Target,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let timeout = cx.timeout().unwrap_or(LAYER_TIMEOUT);
    let url = match target_url(cx, target) {
        Ok(url) => url,
        Err(failure) => return report.failed("address", None, failure),
    };
    report.ok("address", None, display_url(&url));
    match PROXY_VARIABLES
        .iter()
        .find(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()))
    {
        Some(proxy) => {
            report.ok("name", None, format!("skipped: {proxy} sets a proxy"));
            report.ok("connection", None, "skipped: made by the proxy");
        }
        None => {
            let addresses = resolve_host(&url, timeout, report).await?;
            connect(&addresses, timeout, report).await?;
        }
    }
    probe_http(&url, timeout, report).await
}

fn target_url(cx: &Context, target: &Target) -> Result<Url, Failure> {
    // The transport's own checks first, with its error messages.
    target.transport(&cx.globals)?;
    let text = match target {
        Target::Url(url) => url,
        Target::Configured(found) => match &found.entry.endpoint {
            Endpoint::Remote(server) => &server.url,
            _ => return Err(Failure::usage("the server has no URL")),
        },
        _ => return Err(Failure::usage("the server has no URL")),
    };
    Url::parse(text).map_err(|error| Failure::usage(error.to_string()))
}

/// Formats the URL without its query, which may be secret.
fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

async fn resolve_host(
    url: &Url,
    timeout: Duration,
    report: &mut Report<'_>,
) -> Result<Vec<SocketAddr>, Stopped> {
    let host = url.host_str().unwrap_or_default();
    let host_name = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(443);
    if let Ok(ip) = host_name.parse::<IpAddr>() {
        report.ok("name", None, "not needed: the host is an IP address");
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let start = Instant::now();
    let found = with_limit(
        report.context(),
        timeout,
        tokio::net::lookup_host((host_name, port)),
    )
    .await;
    let elapsed = start.elapsed();
    let addresses: Vec<SocketAddr> = match found {
        Ok(addresses) => addresses.collect(),
        Err(failure) => {
            let failure = failure.with_prefix(&format!("cannot resolve host name {host_name}"));
            let hint = "check the spelling, and whether this machine is online (VPN?)";
            report.failed("name", elapsed, failure.hint(hint))?;
            return Err(Stopped);
        }
    };
    let ips: Vec<_> = addresses.iter().map(|at| at.ip().to_string()).collect();
    report.ok(
        "name",
        elapsed,
        format!("{host_name} resolves to {}", ips.join(", ")),
    );
    Ok(addresses)
}

async fn connect(
    addresses: &[SocketAddr],
    timeout: Duration,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let start = Instant::now();
    let mut last = Failure::new(
        FailureKind::Unreachable,
        "the host name resolves to no addresses",
    );
    for address in addresses {
        match with_limit(report.context(), timeout, TcpStream::connect(address)).await {
            Ok(_) => {
                report.ok(
                    "connection",
                    start.elapsed(),
                    format!("connected to {address}"),
                );
                return Ok(());
            }
            Err(failure) => last = failure.with_prefix(&address.to_string()),
        }
    }
    let hint = "is the server running, and on this port? Is a firewall blocking it?";
    report.failed("connection", start.elapsed(), last.hint(hint))
}

/// Requests a stream, which costs the server nothing, and looks only at the
/// status. The session check interprets it.
async fn probe_http(url: &Url, timeout: Duration, report: &mut Report<'_>) -> Result<(), Stopped> {
    let (start, cx) = (Instant::now(), report.context());
    let probe = async {
        let builder = Http::client_builder().map_err(|cause| {
            let failure = Failure::new(FailureKind::Unreachable, cause.to_string());
            ("TLS", failure)
        })?;
        let client = builder.timeout(timeout).build();
        let client = client.map_err(|error| http_failure(&error, url))?;
        let request = client
            .get(url.clone())
            .header(header::ACCEPT, "text/event-stream");
        let sent = with_limits(cx, async { Ok(request.send().await) }).await;
        let response = sent.map_err(|interrupted| ("HTTP", interrupted))?;
        response.map_err(|error| http_failure(&error, url))
    };
    let encrypted = url.scheme() == "https";
    match probe.await {
        Ok(response) => {
            report.ok(
                "TLS",
                None,
                match encrypted {
                    true => "negotiated; the certificate is valid",
                    false => "not used: the URL begins with http://",
                },
            );
            let (status, version) = (response.status(), response.version());
            let detail = format!("{version:?}; a plain GET returns {status}");
            report.ok("HTTP", start.elapsed(), detail);
            Ok(())
        }
        Err((layer, failure)) => report.failed(layer, start.elapsed(), failure),
    }
}

/// Converts an HTTP error. The TCP connection succeeded before, so an error
/// while connecting is a TLS error.
fn http_failure(error: &reqwest::Error, url: &Url) -> (&'static str, Failure) {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let kind = match error.is_timeout() {
        true => FailureKind::Timeout,
        false => FailureKind::Unreachable,
    };
    if error.is_connect() && url.scheme() == "https" {
        let message = format!("TLS handshake failed: {cause}");
        let failure = Failure::new(kind, message).hint(
            "check the certificate, its host name, and the clock of this machine; or does the \
             server not use TLS (http://)?",
        );
        return ("TLS", failure);
    }
    let failure = Failure::new(kind, format!("no response: {cause}")).hint(
        "is something other than an HTTP server listening there, or one that uses TLS \
         (https://)?",
    );
    ("HTTP", failure)
}

/// Runs a future until it completes, the limit expires, or the user presses
/// Ctrl-C.
async fn with_limit<T>(
    cx: &Context,
    timeout: Duration,
    work: impl Future<Output = std::io::Result<T>>,
) -> Result<T, Failure> {
    let timed = async {
        match tokio::time::timeout(timeout, work).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Failure::new(FailureKind::Unreachable, error.to_string())),
            Err(_) => {
                let message = format!("timed out after {timeout:?}");
                Err(Failure::new(FailureKind::Timeout, message))
            }
        }
    };
    with_limits(cx, timed).await
}
