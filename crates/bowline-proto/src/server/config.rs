//! What a server is and how much it takes, with defaults that hold.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use crate::{
    jsonrpc::RawJson,
    model::{Adapt as _, CacheScope, Implementation, LogLevel, ServerCapabilities, meta::key},
    revision::{Era, Revision, Rules},
};

/// The settings of one connection, or of all that a server has.
///
/// ```
/// use bowline_proto::{model::ToolsCapability, server::Config};
///
/// let mut config = Config::new("travel", "1.0.0");
/// config.capabilities.tools = Some(ToolsCapability::default());
/// assert_eq!(config.max_frame, 16 * 1024 * 1024);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Who we say we are.
    pub server_info: Arc<Implementation>,
    /// What we can do. Only what is declared here is handed up as an event; the
    /// rest is refused on the wire. What a revision cannot say of it is left out
    /// when it is announced.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
    /// The revisions we are willing to speak.
    pub revisions: Vec<Revision>,
    /// How long a client may keep what `server/discover` told it.
    pub discover_cache: CacheHint,
    /// Methods that are not in the protocol, but to be handed up all the same.
    pub extension_methods: Vec<Box<str>>,
    /// From which severity on log messages are sent before a client of the
    /// handshake era has said what it wants.
    pub default_log_level: LogLevel,
    /// The largest frame, in either direction: 16 MiB.
    pub max_frame_size: usize,
    /// How many requests of the client's may be open at once, and how many
    /// messages may come in one batch. Together those that are open may be as
    /// large as four of the largest frames.
    pub max_requests: usize,
    /// How many streams of changes may be open at once.
    pub max_subscription_streams: usize,
    /// How many resources may be watched, by a session or by one stream. Their
    /// URIs may have a mebibyte together.
    pub max_subscriptions: usize,
    /// How many calls of ours to the client may be open at once.
    pub max_calls: usize,
    /// How long our calls to the client may take.
    pub timeouts: Timeouts,
    /// Whether [`Output::Telemetry`](super::Output::Telemetry) is produced.
    pub telemetry: bool,
    server_info_cache: OnceLock<CachedServerInfo>,
}

/// Who we say we are, as it was encoded before, for those who speak by these
/// rules.
#[derive(Clone, Debug)]
struct CachedServerInfo {
    identity: Arc<Implementation>,
    rules: &'static Rules,
    encoded: Arc<EncodedServerInfo>,
}

/// Who we say we are, as results say it.
#[derive(Debug)]
pub(super) struct EncodedServerInfo {
    /// By itself.
    pub(super) info: RawJson,
    /// As the whole of `_meta`, with its name: nearly all results have no other.
    pub(super) meta_member: Box<str>,
}

/// How long something may be kept, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheHint {
    /// How long.
    pub ttl: Duration,
    /// Who may share it.
    pub scope: CacheScope,
}

/// How long our calls to the client may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Calls that a person or a model answers: ten minutes.
    pub input: Duration,
    /// Calls that the client's program answers: half a minute.
    pub other: Duration,
}

impl Config {
    /// The defaults, for a server of this name and version that offers nothing
    /// yet.
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

    /// The version strings of all revisions we speak, the newest first.
    #[must_use]
    pub fn supported_versions(&self) -> Vec<String> {
        let newest_first = Revision::ALL.iter().rev();
        let supported = newest_first.filter(|revision| self.revisions.contains(revision));
        supported.map(ToString::to_string).collect()
    }

    /// Whether we speak any revision of this era.
    #[must_use]
    pub fn supports_era(&self, era: Era) -> bool {
        self.revisions.iter().any(|revision| revision.era() == era)
    }

    /// How large the parameters of all open requests may be together: whoever
    /// works on them holds them.
    pub(super) fn max_request_bytes(&self) -> usize {
        self.max_frame_size.saturating_mul(4)
    }

    /// Who we say we are, in results that say so.
    pub(super) fn encoded_server_info(
        &self,
        rules: &'static Rules,
    ) -> Option<Arc<EncodedServerInfo>> {
        if rules.era != Era::Stateless {
            return None;
        }
        let encode = || {
            let mut identity = Implementation::clone(&self.server_info);
            identity.adapt(&rules.dialect);
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
        // Whoever changed a copy of the settings is somebody else.
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
