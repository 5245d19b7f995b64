//! A server that a test scripts.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{FakeResponse, FakeSession, ReceivedMessage};
use crate::{
    proto::revision::{Era, Revision},
    transport::{Memory, MemoryListener},
};

/// How long a test waits for the client before it gives up. In paused time
/// this is no time at all; it is longer than anything that a client waits for.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

/// Everything that clients sent, across links.
pub(crate) type MessageLog = Arc<Mutex<Vec<ReceivedMessage>>>;

/// A server in the same process, which does what the test says.
///
/// It hears of links through [`accept`](Self::accept), where nothing is said
/// yet, or through [`session`](Self::session), where the opening is done. What
/// is not read is not answered: a server that stalls is one that the test
/// leaves alone.
#[derive(Debug)]
pub struct FakeServer {
    listener: MemoryListener,
    profile: ServerProfile,
    transcript: MessageLog,
    timeout: Duration,
}

impl FakeServer {
    /// A server of this kind, and the transport that leads to it.
    #[must_use]
    pub fn new(profile: ServerProfile) -> (Memory, Self) {
        let (transport, listener) = Memory::new();
        let server = Self {
            listener,
            profile,
            transcript: MessageLog::default(),
            timeout: DEFAULT_TIMEOUT,
        };
        (transport, server)
    }

    /// Sets how long the test waits for a link or a message before it fails:
    /// an hour, which in paused time passes at once.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The next link, on which nothing was said yet.
    ///
    /// # Panics
    ///
    /// Where none comes.
    pub async fn accept(&mut self) -> FakeSession {
        match timeout(self.timeout, self.listener.accept()).await {
            Ok(Some(peer)) => FakeSession::new(peer, Arc::clone(&self.transcript), self.timeout),
            Ok(None) => panic!("the client is gone, where a link was expected"),
            Err(_) => panic!("the client did not dial within {:?}", self.timeout),
        }
    }

    /// The next link, opened as the profile says.
    ///
    /// # Panics
    ///
    /// Where none comes, or the client does not open it as it should.
    pub async fn session(&mut self) -> FakeSession {
        let mut session = self.accept().await;
        session.open(&self.profile).await;
        session
    }

    /// Lets the server run by itself from now on: it takes link after link,
    /// opens each, and answers requests as told, until the client is gone.
    /// Spawn it, to run beside the test.
    pub async fn run(mut self, mut respond: impl FnMut(&ReceivedMessage) -> FakeResponse) {
        while let Some(peer) = self.listener.accept().await {
            let mut session = FakeSession::new(peer, Arc::clone(&self.transcript), self.timeout);
            if session.try_open(&self.profile).await {
                session.serve(&mut respond).await;
            }
        }
    }

    /// What kind of server it is from the next link on.
    pub fn set_profile(&mut self, profile: ServerProfile) {
        self.profile = profile;
    }

    /// Everything that the client sent and the server read, over all links.
    #[must_use]
    pub fn transcript(&self) -> Vec<ReceivedMessage> {
        self.transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How often the client sent this method.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        let transcript = self.transcript();
        let sent = transcript.iter();
        sent.filter(|message| message.method() == method).count()
    }
}

/// What kind of server it is: how it opens and what it offers.
///
/// ```
/// use bowline::{testing::ServerProfile, Revision};
/// use serde_json::json;
///
/// let old = ServerProfile::handshake().revision(Revision::V2024_11_05);
/// let small = ServerProfile::stateless().capabilities(json!({"tools": {}}));
/// # drop((old, small));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ServerProfile {
    revision: Revision,
    capabilities: Value,
    instructions: Option<String>,
}

impl ServerProfile {
    /// A server of the newest revision that opens with `initialize`, which
    /// offers everything.
    #[must_use]
    pub fn handshake() -> Self {
        Self {
            revision: Revision::LATEST_HANDSHAKE,
            capabilities: json!({
                "tools": {"listChanged": true},
                "resources": {"listChanged": true, "subscribe": true},
                "prompts": {"listChanged": true},
                "logging": {},
                "completions": {},
            }),
            instructions: None,
        }
    }

    /// A server of the newest revision that has no handshake, which offers
    /// everything.
    #[must_use]
    pub fn stateless() -> Self {
        Self::handshake().revision(Revision::LATEST)
    }

    /// Speaks this revision, and so opens as its era does.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Offers these capabilities and no others.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Says this about itself.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.revision.rules().era == Era::Stateless
    }

    pub(crate) fn version(&self) -> &'static str {
        self.revision.as_str()
    }

    /// The answer to `initialize`.
    pub(crate) fn initialize_result(&self) -> Value {
        let mut result = json!({
            "protocolVersion": self.version(),
            "capabilities": self.capabilities,
            "serverInfo": {"name": "fake", "version": "1.0.0"},
        });
        self.add_instructions(&mut result);
        result
    }

    /// The answer to `server/discover`.
    pub(crate) fn discover_result(&self) -> Value {
        let mut result = json!({
            "resultType": "complete",
            "supportedVersions": [self.version()],
            "capabilities": self.capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {
                "io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1.0.0"},
            },
        });
        self.add_instructions(&mut result);
        result
    }

    fn add_instructions(&self, result: &mut Value) {
        if let Some(instructions) = &self.instructions {
            result["instructions"] = json!(instructions);
        }
    }
}
