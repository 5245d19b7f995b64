//! A fake server that a test controls.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{FakeResponse, FakeSession, ReceivedMessage};
use crate::{
    proto::revision::{Era, Revision},
    sync,
    transport::{Memory, MemoryListener},
};

/// How long a test waits for the client. No time at all if time is paused;
/// longer than any timeout of a client.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

/// All messages that clients sent, across links.
pub(crate) type MessageLog = Arc<Mutex<Vec<ReceivedMessage>>>;

/// A server in the same process, which the test controls.
///
/// It receives links through [`accept`](Self::accept), before the handshake, or
/// through [`session`](Self::session), after it. Messages that the test does
/// not read are not answered: to stall a server, leave it alone.
#[derive(Debug)]
pub struct FakeServer {
    listener: MemoryListener,
    profile: ServerProfile,
    transcript: MessageLog,
    timeout: Duration,
}

impl FakeServer {
    /// Creates a server with this profile, and the transport to it.
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

    /// Sets how long the test waits for a link or a message before it fails.
    /// Default: an hour, which passes at once if time is paused.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Accepts the next link, before the handshake.
    ///
    /// # Panics
    ///
    /// Panics if the client does not dial.
    pub async fn accept(&mut self) -> FakeSession {
        match timeout(self.timeout, self.listener.accept()).await {
            Ok(Some(peer)) => FakeSession::new(peer, Arc::clone(&self.transcript), self.timeout),
            Ok(None) => panic!("the client was dropped; expected a link"),
            Err(_) => panic!("the client did not dial within {:?}", self.timeout),
        }
    }

    /// Accepts the next link and opens it as the profile says.
    ///
    /// # Panics
    ///
    /// Panics if the client does not dial, or does not open it as it should.
    pub async fn session(&mut self) -> FakeSession {
        let mut session = self.accept().await;
        session.open(&self.profile).await;
        session
    }

    /// Runs the server: accepts link after link, opens each, and responds to
    /// requests with `respond`, until the client is gone. Spawn it to run
    /// alongside the test.
    pub async fn run(mut self, mut respond: impl FnMut(&ReceivedMessage) -> FakeResponse) {
        while let Some(peer) = self.listener.accept().await {
            let mut session = FakeSession::new(peer, Arc::clone(&self.transcript), self.timeout);
            if session.try_open(&self.profile).await {
                session.serve(&mut respond).await;
            }
        }
    }

    /// Sets the profile from the next link on.
    pub fn set_profile(&mut self, profile: ServerProfile) {
        self.profile = profile;
    }

    /// Returns all messages that the client sent and the server read, over all
    /// links.
    #[must_use]
    pub fn transcript(&self) -> Vec<ReceivedMessage> {
        sync::lock(&self.transcript).clone()
    }

    /// Returns how often the client sent this method.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        let transcript = self.transcript();
        let sent = transcript.iter();
        sent.filter(|message| message.method() == method).count()
    }
}

/// The kind of a fake server: its revision and its capabilities.
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
    /// A server of the latest revision with an `initialize` handshake and all
    /// capabilities.
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

    /// A server of the latest revision, without a handshake and with all
    /// capabilities.
    #[must_use]
    pub fn stateless() -> Self {
        Self::handshake().revision(Revision::LATEST)
    }

    /// Sets the revision, and with it the era.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Sets the capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the server's instructions.
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

    /// Returns the result of `initialize`.
    pub(crate) fn initialize_result(&self) -> Value {
        let mut result = json!({
            "protocolVersion": self.version(),
            "capabilities": self.capabilities,
            "serverInfo": {"name": "fake", "version": "1.0.0"},
        });
        self.add_instructions(&mut result);
        result
    }

    /// Returns the result of `server/discover`.
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
