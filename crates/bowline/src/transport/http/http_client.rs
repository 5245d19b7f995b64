//! The HTTP clients that are used unless the application brings its own.

use std::{sync::Arc, time::Duration};

use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::{ClientBuilder, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// How long a connection may take to come up, unless the settings say.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may be idle and still be used. The usual servers close
/// theirs after five seconds, and a request that meets a closing connection is
/// lost: nobody knows whether it arrived.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// How often the system asks whether a silent peer is still there: event
/// streams are silent for hours, and a peer that lost power says nothing.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How long the system waits between such questions, and how many may remain
/// unanswered.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
const KEEPALIVE_RETRIES: u32 = 3;

/// How long what was sent may remain unacknowledged.
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings that a client starts from which can do everything: certificates
/// as the system judges them, proxies as the environment names them, connections
/// that are kept, and no redirects, which the transport follows itself.
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

/// Opens connections with the same settings, straight to the server. Without
/// `certificates`, which take a while to read, it can do no TLS.
pub(super) fn connector(
    verify_certificates: bool,
) -> Result<HttpsConnector<HttpConnector>, String> {
    let mut http = HttpConnector::new();
    // It sees the addresses of `https` servers, too.
    http.enforce_http(false);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(KEEPALIVE));
    http.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    http.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    http.set_nodelay(true);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    http.set_tcp_user_timeout(Some(TCP_USER_TIMEOUT));
    Ok(HttpsConnector::from((http, tls(verify_certificates)?)))
}

fn tls(verify_certificates: bool) -> Result<ClientConfig, String> {
    // Named outright: a default of the process might be missing, or be chosen
    // by another part of the program.
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    let builder = match verify_certificates {
        true => builder.and_then(BuilderVerifierExt::with_platform_verifier),
        // Who trusts nobody meets nobody.
        false => builder.map(|builder| builder.with_root_certificates(RootCertStore::empty())),
    };
    let builder = builder.map_err(|error| error.to_string())?;
    Ok(builder.with_no_client_auth())
}
