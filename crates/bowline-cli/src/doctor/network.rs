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

use super::chart::{Chart, Ended};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    target::{Target, bounded},
};

/// How long each layer may take, unless said otherwise.
const LIMIT: Duration = Duration::from_secs(10);

/// Variables that make requests go another way.
const PROXIES: [&str; 6] = [
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
    chart: &mut Chart<'_>,
) -> Result<(), Ended> {
    let limit = cx.timeout().unwrap_or(LIMIT);
    let url = match address(cx, target) {
        Ok(url) => url,
        Err(failure) => return chart.failed("address", None, failure),
    };
    chart.good("address", None, shown(&url));
    match PROXIES
        .iter()
        .find(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()))
    {
        Some(proxy) => {
            chart.good(
                "name",
                None,
                format!("not looked up: {proxy} names a proxy"),
            );
            chart.good("connection", None, "not tried: the proxy makes it");
        }
        None => {
            let addresses = look_up(&url, limit, chart).await?;
            connect(&addresses, limit, chart).await?;
        }
    }
    greet(&url, limit, chart).await
}

fn address(cx: &Context, target: &Target) -> Result<Url, Failure> {
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
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

async fn look_up(
    url: &Url,
    limit: Duration,
    chart: &mut Chart<'_>,
) -> Result<Vec<SocketAddr>, Ended> {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(443);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        chart.good("name", None, "none: the address is a number");
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let began = Instant::now();
    let found = timed(
        chart.context(),
        limit,
        tokio::net::lookup_host((bare, port)),
    )
    .await;
    let took = began.elapsed();
    let addresses: Vec<SocketAddr> = match found {
        Ok(addresses) => addresses.collect(),
        Err(failure) => {
            let failure = failure.about(&format!("the name {bare} cannot be resolved"));
            let hint = "check its spelling, and whether this machine is online (VPN?)";
            chart.failed("name", took, failure.hint(hint))?;
            return Err(Ended);
        }
    };
    let ips: Vec<_> = addresses.iter().map(|at| at.ip().to_string()).collect();
    chart.good("name", took, format!("{bare} is {}", ips.join(", ")));
    Ok(addresses)
}

async fn connect(
    addresses: &[SocketAddr],
    limit: Duration,
    chart: &mut Chart<'_>,
) -> Result<(), Ended> {
    let began = Instant::now();
    let mut last = Failure::new(FailureKind::Unreachable, "the name has no addresses");
    for address in addresses {
        match timed(chart.context(), limit, TcpStream::connect(address)).await {
            Ok(_) => {
                chart.good("connection", began.elapsed(), format!("{address} takes it"));
                return Ok(());
            }
            Err(failure) => last = failure.about(&address.to_string()),
        }
    }
    let hint = "is the server running, and on this port? Does a firewall stand between?";
    chart.failed("connection", began.elapsed(), last.hint(hint))
}

/// Asks for a stream, which costs the server nothing, and looks only at the
/// status. What it means is for the session to find out.
async fn greet(url: &Url, limit: Duration, chart: &mut Chart<'_>) -> Result<(), Ended> {
    let (began, cx) = (Instant::now(), chart.context());
    let asked = async {
        let builder = Http::client_builder().map_err(|cause| {
            let failure = Failure::new(FailureKind::Unreachable, cause.to_string());
            ("TLS", failure)
        })?;
        let client = builder.timeout(limit).build();
        let client = client.map_err(|error| unreachable(&error, url))?;
        let request = client
            .get(url.clone())
            .header(header::ACCEPT, "text/event-stream");
        let sent = bounded(cx, async { Ok(request.send().await) }).await;
        let response = sent.map_err(|interrupted| ("HTTP", interrupted))?;
        response.map_err(|error| unreachable(&error, url))
    };
    let encrypted = url.scheme() == "https";
    match asked.await {
        Ok(response) => {
            chart.good(
                "TLS",
                None,
                match encrypted {
                    true => "agreed on; the certificate is good",
                    false => "none: the address begins with http://",
                },
            );
            let (status, version) = (response.status(), response.version());
            let detail = format!("{version:?}; a plain request gets {status}");
            chart.good("HTTP", began.elapsed(), detail);
            Ok(())
        }
        Err((layer, failure)) => chart.failed(layer, began.elapsed(), failure),
    }
}

/// Why there was no answer. The connection could be made before, so that an
/// error in connecting is one of encryption.
fn unreachable(error: &reqwest::Error, url: &Url) -> (&'static str, Failure) {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
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
async fn timed<T>(
    cx: &Context,
    limit: Duration,
    work: impl Future<Output = std::io::Result<T>>,
) -> Result<T, Failure> {
    let timed = async {
        match tokio::time::timeout(limit, work).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(Failure::new(FailureKind::Unreachable, error.to_string())),
            Err(_) => {
                let message = format!("there is no answer after {limit:?}");
                Err(Failure::new(FailureKind::Timeout, message))
            }
        }
    };
    bounded(cx, timed).await
}
