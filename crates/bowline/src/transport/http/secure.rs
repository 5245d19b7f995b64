//! The HTTP client that is used unless the application brings its own.

use std::{sync::Arc, time::Duration};

use reqwest::{ClientBuilder, redirect::Policy};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// How long a connection may take to come up, unless the settings say.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a connection may be idle and still be used. The usual servers close
/// theirs after five seconds, and a request that meets a closing connection is
/// lost: nobody knows whether it arrived.
const IDLE: Duration = Duration::from_secs(4);

/// How often the system asks whether a silent peer is still there: event
/// streams are silent for hours, and a peer that lost power says nothing.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The settings that the transport's own client starts from: certificates as
/// the system judges them, proxies as the environment names them, connections
/// that are kept, and no redirects, which the transport follows itself.
pub(crate) fn builder() -> Result<ClientBuilder, String> {
    // Named outright: a default of the process might be missing, or be chosen
    // by another part of the program.
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| error.to_string())?
        .with_no_client_auth();
    let builder = ClientBuilder::new()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .tcp_keepalive(KEEP_ALIVE)
        .tcp_nodelay(true);
    Ok(builder)
}
