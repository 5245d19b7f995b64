//! The way to an address: its name, the connection, and whether HTTP is spoken
//! there.

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

/// How long each layer may take, unless said otherwise.
const LAYER_TIMEOUT: Duration = Duration::from_secs(10);

/// Variables that make requests go another way.
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
            report.ok(
                "name",
                None,
                format!("not looked up: {proxy} names a proxy"),
            );
            report.ok("connection", None, "not tried: the proxy makes it");
        }
        None => {
            let addresses = resolve_host(&url, timeout, report).await?;
            connect(&addresses, timeout, report).await?;
        }
    }
    probe_http(&url, timeout, report).await
}

fn target_url(cx: &Context, target: &Target) -> Result<Url, Failure> {
    // What the transport refuses is refused here, in its words.
    target.transport(&cx.globals)?;
    let text = match target {
        Target::Url(url) => url,
        Target::Configured(found) => match &found.entry.endpoint {
            Endpoint::Remote(server) => &server.url,
            _ => return Err(Failure::usage("it has no address")),
        },
        _ => return Err(Failure::usage("it has no address")),
    };
    Url::parse(text).map_err(|error| Failure::usage(error.to_string()))
}

/// The address without what may be secret in it.
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
        report.ok("name", None, "none: the address is a number");
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
            let failure = failure.with_prefix(&format!("the name {host_name} cannot be resolved"));
            let hint = "check its spelling, and whether this machine is online (VPN?)";
            report.failed("name", elapsed, failure.hint(hint))?;
            return Err(Stopped);
        }
    };
    let ips: Vec<_> = addresses.iter().map(|at| at.ip().to_string()).collect();
    report.ok(
        "name",
        elapsed,
        format!("{host_name} is {}", ips.join(", ")),
    );
    Ok(addresses)
}

async fn connect(
    addresses: &[SocketAddr],
    timeout: Duration,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let start = Instant::now();
    let mut last = Failure::new(FailureKind::Unreachable, "the name has no addresses");
    for address in addresses {
        match with_limit(report.context(), timeout, TcpStream::connect(address)).await {
            Ok(_) => {
                report.ok("connection", start.elapsed(), format!("{address} takes it"));
                return Ok(());
            }
            Err(failure) => last = failure.with_prefix(&address.to_string()),
        }
    }
    let hint = "is the server running, and on this port? Does a firewall stand between?";
    report.failed("connection", start.elapsed(), last.hint(hint))
}

/// Asks for a stream, which costs the server nothing, and looks only at the
/// status. What it means is for the session to find out.
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
                    true => "agreed on; the certificate is good",
                    false => "none: the address begins with http://",
                },
            );
            let (status, version) = (response.status(), response.version());
            let detail = format!("{version:?}; a plain request gets {status}");
            report.ok("HTTP", start.elapsed(), detail);
            Ok(())
        }
        Err((layer, failure)) => report.failed(layer, start.elapsed(), failure),
    }
}

/// Why there was no answer. The connection could be made before, so that an
/// error in connecting is one of encryption.
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
        let message = format!("no encryption could be agreed on: {cause}");
        let failure = Failure::new(kind, message).hint(
            "check the certificate, the host's name in it, and the clock of this machine; \
             or does the server speak without TLS (http://)?",
        );
        return ("TLS", failure);
    }
    let failure = Failure::new(kind, format!("there is no answer: {cause}"))
        .hint("does something else than a web server listen there, or one with TLS (https://)?");
    ("HTTP", failure)
}

/// Does something within a limit, or until the user has had enough.
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
                let message = format!("there is no answer after {timeout:?}");
                Err(Failure::new(FailureKind::Timeout, message))
            }
        }
    };
    with_limits(cx, timed).await
}
