//! The default HTTP clients.

use std::{sync::Arc, time::Duration};

use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::{ClientBuilder, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// Default connect timeout.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an idle connection is kept for reuse. Common servers close theirs
/// after five seconds, and a request on a closing connection is lost: it is
/// unknown whether it arrived.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// TCP keep-alive time: event streams are silent for hours, and a peer that
/// lost power sends nothing.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Interval between keep-alive probes, and how many may remain unanswered.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
const KEEPALIVE_RETRIES: u32 = 3;

/// How long sent data may remain unacknowledged.
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the settings of the full-featured client: certificates verified by
/// the system, proxies from the environment, keep-alive, and no redirects,
/// which the transport follows itself.
pub(crate) fn builder() -> Result<ClientBuilder, String> {
    let builder = ClientBuilder::new()
        .tls_backend_preconfigured(tls(true)?)
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_keepalive(KEEPALIVE)
        .tcp_keepalive_interval(KEEPALIVE_INTERVAL)
        .tcp_keepalive_retries(KEEPALIVE_RETRIES)
        .tcp_nodelay(true);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let builder = builder.tcp_user_timeout(TCP_USER_TIMEOUT);
    Ok(builder)
}

/// Returns a connector with the same settings, directly to the server. Unless
/// `needs_tls`, it trusts no certificate, so TLS fails: loading the system's
/// verifier takes a while.
pub(crate) fn connector(needs_tls: bool) -> Result<HttpsConnector<HttpConnector>, String> {
    let mut http = HttpConnector::new();
    // It is used for `https` addresses, too.
    http.enforce_http(false);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(KEEPALIVE));
    http.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    http.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    http.set_nodelay(true);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    http.set_tcp_user_timeout(Some(TCP_USER_TIMEOUT));
    Ok(HttpsConnector::from((http, tls(needs_tls)?)))
}

fn tls(needs_tls: bool) -> Result<ClientConfig, String> {
    // Named explicitly: a process default might be missing, or be chosen by
    // another part of the program.
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    let builder = match needs_tls {
        true => builder.and_then(BuilderVerifierExt::with_platform_verifier),
        // An empty root store: no certificate is trusted.
        false => builder.map(|builder| builder.with_root_certificates(RootCertStore::empty())),
    };
    let builder = builder.map_err(|error| error.to_string())?;
    Ok(builder.with_no_client_auth())
}
