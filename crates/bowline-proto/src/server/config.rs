//! Server settings and limits, with safe defaults.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use crate::{
    jsonrpc::RawJson,
    model::{Adapt as _, CacheScope, Implementation, LogLevel, ServerCapabilities, meta::key},
    revision::{Era, Revision, Rules},
};

/// Settings of one connection, or of all connections of a server.
///
/// ```
/// use bowline_proto::{model::ToolsCapability, server::Config};
///
/// let mut config = Config::new("travel", "1.0.0");
/// config.capabilities.tools = Some(ToolsCapability::default());
/// assert_eq!(config.max_frame_size, 16 * 1024 * 1024);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The server's name and version.
    pub server_info: Arc<Implementation>,
    /// The capabilities we declare. Only requests for declared capabilities
    /// reach the host as an event; the rest are refused on the wire. A
    /// capability that a revision cannot express is left out of its
    /// announcement.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
    /// The revisions we support.
    pub revisions: Vec<Revision>,
    /// How long a client may cache the result of `server/discover`.
    pub discover_cache: CacheHint,
    /// Methods outside the protocol that are passed to the host anyway.
    pub extension_methods: Vec<Box<str>>,
    /// The minimum severity of log messages before a client of the handshake
    /// era sets its level.
    pub default_log_level: LogLevel,
    /// The maximum frame size, in either direction: 16 MiB.
    pub max_frame_size: usize,
    /// How many of the client's requests may be open at once, and how many
    /// messages one batch may have. The parameters of all open requests
    /// together may be as large as four maximum frames.
    pub max_requests: usize,
    /// How many subscription streams may be open at once.
    pub max_subscription_streams: usize,
    /// How many resources a session or a stream may subscribe to. Their URIs
    /// may take one mebibyte in total.
    pub max_subscriptions: usize,
    /// How many of our calls to the client may be open at once.
    pub max_calls: usize,
    /// The timeouts of our calls to the client.
    pub timeouts: Timeouts,
    /// Whether [`Output::Telemetry`](super::Output::Telemetry) is produced.
    pub telemetry: bool,
    server_info_cache: OnceLock<CachedServerInfo>,
}

/// The server info as encoded for one set of rules.
#[derive(Clone, Debug)]
struct CachedServerInfo {
    identity: Arc<Implementation>,
    rules: &'static Rules,
    encoded: Arc<EncodedServerInfo>,
}

/// The server info in the encodings that results use.
#[derive(Debug)]
pub(super) struct EncodedServerInfo {
    /// The value by itself.
    pub(super) info: RawJson,
    /// The whole `_meta` member including its key; almost all results carry no
    /// other `_meta`.
    pub(super) meta_member: Box<str>,
}

/// How long a result may be cached, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheHint {
    /// How long it may be cached.
    pub ttl: Duration,
    /// Who may share the cached copy.
    pub scope: CacheScope,
}

/// Timeouts of our calls to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For calls that a person or a model answers: ten minutes.
    pub input: Duration,
    /// For calls that the client program answers: thirty seconds.
    pub other: Duration,
}

impl Config {
    /// Creates the default settings for a server with this name and version,
    /// and no capabilities.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            server_info: Arc::new(Implementation::new(name, version)),
            capabilities: ServerCapabilities::default(),
            instructions: None,
            revisions: Revision::ALL.to_vec(),
            discover_cache: CacheHint {
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
            },
            extension_methods: Vec::new(),
            default_log_level: LogLevel::Info,
            max_frame_size: 16 * 1024 * 1024,
            max_requests: 1024,
            max_subscription_streams: 64,
            max_subscriptions: 4096,
            max_calls: 1024,
            timeouts: Timeouts {
                input: Duration::from_secs(600),
                other: Duration::from_secs(30),
            },
            telemetry: true,
            server_info_cache: OnceLock::new(),
        }
    }

    /// Returns the version strings of all supported revisions, newest first.
    #[must_use]
    pub fn supported_versions(&self) -> Vec<String> {
        let newest_first = Revision::ALL.iter().rev();
        let supported = newest_first.filter(|revision| self.revisions.contains(revision));
        supported.map(ToString::to_string).collect()
    }

    /// Returns whether we support any revision of this era.
    #[must_use]
    pub fn supports_era(&self, era: Era) -> bool {
        self.revisions.iter().any(|revision| revision.era() == era)
    }

    /// Returns how large the parameters of all open requests may be in total;
    /// the host holds them while it works on them.
    pub(super) fn max_request_bytes(&self) -> usize {
        self.max_frame_size.saturating_mul(4)
    }

    /// Returns the encoded server info, for results that carry it.
    pub(super) fn encoded_server_info(
        &self,
        rules: &'static Rules,
    ) -> Option<Arc<EncodedServerInfo>> {
        if rules.era != Era::Stateless {
            return None;
        }
        let encode = || {
            let mut identity = Implementation::clone(&self.server_info);
            identity.adapt(&rules.features);
            let info = RawJson::encode(&identity).ok()?.into_shared();
            let (key, json) = (key::SERVER_INFO, info.get());
            let member = format!(r#""_meta":{{"{key}":{json}}}"#).into();
            Some(Arc::new(EncodedServerInfo {
                info,
                meta_member: member,
            }))
        };
        if self.server_info_cache.get().is_none() {
            let _ = self.server_info_cache.set(CachedServerInfo {
                identity: Arc::clone(&self.server_info),
                rules,
                encoded: encode()?,
            });
        }
        // A modified clone of the settings may have another identity.
        let cached = self.server_info_cache.get().filter(|it| {
            Arc::ptr_eq(&it.identity, &self.server_info) && std::ptr::eq(it.rules, rules)
        });
        match cached {
            Some(cached) => Some(Arc::clone(&cached.encoded)),
            None => encode(),
        }
    }

    pub(super) fn is_extension_method(&self, method: &str) -> bool {
        let mut methods = self.extension_methods.iter();
        methods.any(|known| &**known == method)
    }

    pub(super) fn call_timeout(&self, is_interactive: bool) -> Duration {
        if is_interactive {
            self.timeouts.input
        } else {
            self.timeouts.other
        }
    }
}
