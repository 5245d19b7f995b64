//! Putting a server together.

use std::{
    fmt,
    sync::{Arc, RwLock},
    time::{Duration, SystemTime},
};

use super::{
    catalog::{Catalog, Duplicate, Shelf},
    list::Paging,
    replay::round::{Clock, Replay},
    seal::Keyring,
    serve::Connections,
    service::{Core, Service, Serving},
    store::{MemoryOnce, MemoryState, OnceStore, StateStore},
    tool::Tool,
};
use crate::proto::{
    model::{CacheScope, Extra, Icon, Implementation, ToolsCapability},
    revision::Revision,
    server::{CacheHint, Config, Telemetry},
};

/// A server in the making.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use bowline::{Client, Server, server::Tool};
/// use serde_json::json;
///
/// let hello = Tool::new("hello")
///     .description("Says hello")
///     .no_input()
///     .headless(async |_| Ok("Hello!"));
/// let service = Server::new("greeter", "1.0.0").tool(hello).build().unwrap();
///
/// let client = Client::builder().connect(service.in_memory()).await.unwrap();
/// let answer = client.tools().call("hello", json!({})).await.unwrap();
/// assert_eq!(answer.all_text(), "Hello!");
/// # });
/// ```
#[must_use = "a server serves nothing until it is told to"]
pub struct Server<S = ()> {
    config: Config,
    state: Arc<S>,
    tools: Vec<Tool<S>>,
    paging: Paging,
    serving: Serving,
    keyring: Option<Keyring>,
    once: Option<Arc<dyn OnceStore>>,
    states: Option<Arc<dyn StateStore>>,
    life: Duration,
    max_state: usize,
    clock: Clock,
}

impl Server<()> {
    /// A server of this name and version that offers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        let mut config = Config::new(name, version);
        config.telemetry = false;
        Self {
            config,
            state: Arc::new(()),
            tools: Vec::new(),
            paging: Paging {
                page_size: 100,
                hint: CacheHint {
                    ttl: Duration::ZERO,
                    scope: CacheScope::Private,
                },
            },
            serving: Serving {
                at_once: 64,
                grace: Duration::from_secs(5),
                observer: None,
            },
            keyring: None,
            once: None,
            states: None,
            life: Duration::from_secs(30 * 60),
            max_state: 32 * 1024,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// With a state that all handlers have at hand. What was added before does
    /// without.
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Server<S> {
        Server {
            state: Arc::new(state),
            tools: self.tools.into_iter().map(Tool::with_any_state).collect(),
            config: self.config,
            paging: self.paging,
            serving: self.serving,
            keyring: self.keyring,
            once: self.once,
            states: self.states,
            life: self.life,
            max_state: self.max_state,
            clock: self.clock,
        }
    }
}

/// What is offered.
impl<S: Send + Sync + 'static> Server<S> {
    /// Offers a tool. The list has the order in which tools are added.
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Offers several tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool<S>>) -> Self {
        self.tools.extend(tools);
        self
    }
}

/// What is said of the server.
impl<S> Server<S> {
    /// How to use the server, for the model.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.config.instructions = Some(instructions.into());
        self
    }

    /// The name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        let title = title.into();
        self.identify(|identity| identity.title = Some(title))
    }

    /// What the server is for.
    pub fn description(self, description: impl Into<String>) -> Self {
        let description = description.into();
        self.identify(|identity| identity.description = Some(description))
    }

    /// Where to read more.
    pub fn website(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.identify(|identity| identity.website_url = Some(url))
    }

    /// A picture to show; one more each time.
    pub fn icon(self, icon: Icon) -> Self {
        self.identify(|identity| identity.icons.push(icon))
    }

    /// The revisions that are spoken; all unless given.
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    fn identify(mut self, change: impl FnOnce(&mut Implementation)) -> Self {
        change(Arc::make_mut(&mut self.config.identity));
        self
    }
}

/// How it serves.
impl<S> Server<S> {
    /// How many things stand on one page of a list: 100.
    pub fn page_size(mut self, size: usize) -> Self {
        self.paging.page_size = size;
        self
    }

    /// How long clients may keep lists, and who may share them. Nothing is
    /// kept unless given.
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.paging.hint = CacheHint { ttl, scope };
        self.config.discovery = self.paging.hint.clone();
        self
    }

    /// How many calls of one client's are worked on at once: 64. Others wait
    /// their turn.
    pub fn at_once(mut self, calls: usize) -> Self {
        self.serving.at_once = calls.max(1);
        self
    }

    /// How long calls under way may take when the client closes its end of the
    /// link: five seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.serving.grace = grace;
        self
    }

    /// Sees what happens inside. It is called amid the work and must not take
    /// long.
    pub fn observe(mut self, observer: impl Fn(&Telemetry) + Send + Sync + 'static) -> Self {
        self.config.telemetry = true;
        self.serving.observer = Some(Arc::new(observer));
        self
    }

    /// Changes settings of the protocol that have no method here: limits on
    /// frames, requests, subscriptions.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }
}

/// How conversations go on where the protocol keeps no state.
impl<S> Server<S> {
    /// The keys that seal what clients carry from round to round. A random key
    /// of this process unless given: then no other node, and no later run, can
    /// go on with a conversation.
    pub fn keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = Some(keyring);
        self
    }

    /// Where it is noted what has happened once. Servers that share
    /// conversations must share it; in memory unless given.
    pub fn once_store(mut self, store: impl OnceStore) -> Self {
        self.once = Some(Arc::new(store));
        self
    }

    /// Where states are kept that are too large to travel. Servers that share
    /// conversations must share it; in memory unless given.
    pub fn state_store(mut self, store: impl StateStore) -> Self {
        self.states = Some(Arc::new(store));
        self
    }

    /// How long a conversation may go on: half an hour.
    pub fn conversation_life(mut self, life: Duration) -> Self {
        self.life = life;
        self
    }

    /// How large a state may be to travel through the client: 32 KiB.
    pub fn max_state(mut self, bytes: usize) -> Self {
        self.max_state = bytes;
        self
    }

    /// What time it is, for tests of what happens when time goes by.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

/// Finishing it.
impl<S: Send + Sync + 'static> Server<S> {
    /// A server that is ready to serve.
    ///
    /// # Errors
    ///
    /// Where something that it offers is wrong, or two things have one name.
    pub fn build(mut self) -> Result<Service<S>, BuildError> {
        for tool in &self.tools {
            if let Some(why) = &tool.shared.problem {
                return Err(BuildError::tool(tool.name(), why));
            }
        }
        self.declare();
        let duplicate = |kind| move |twice| BuildError::duplicate(kind, twice);
        let catalog = Catalog {
            tools: Shelf::new(self.tools).map_err(duplicate("tool"))?,
        };
        let name = &self.config.identity.name;
        let replay = Replay {
            purpose: format!("state of {name}").into_bytes().into(),
            keyring: self.keyring.unwrap_or_else(Keyring::random),
            once: self.once.unwrap_or_else(|| Arc::new(MemoryOnce::default())),
            states: self
                .states
                .unwrap_or_else(|| Arc::new(MemoryState::default())),
            life: self.life,
            max_state: self.max_state,
            clock: self.clock,
        };
        Ok(Service {
            core: Arc::new(Core {
                config: self.config,
                state: self.state,
                catalog: RwLock::new(Arc::new(catalog)),
                replay,
                paging: self.paging,
                serving: self.serving,
                connections: Connections::default(),
            }),
        })
    }

    /// Serves the program at the other end of standard input and output; see
    /// [`Service::serve_stdio`].
    ///
    /// # Errors
    ///
    /// Where the server cannot be built, or the streams are taken.
    pub async fn serve_stdio(self) -> std::io::Result<()> {
        let service = self.build().map_err(std::io::Error::other)?;
        service.serve_stdio().await
    }

    /// Declares what is offered. Tools may come and go.
    fn declare(&mut self) {
        let declared = &mut self.config.capabilities;
        let tools: &mut ToolsCapability = declared.tools.get_or_insert_default();
        tools.list_changed = Some(true);
        declared.logging.get_or_insert_with(Extra::new);
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut server = f.debug_struct("Server");
        server
            .field("name", &self.config.identity.name)
            .finish_non_exhaustive()
    }
}

/// Why a server cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    kind: &'static str,
    name: String,
    why: String,
}

impl BuildError {
    pub(crate) fn tool(name: &str, why: &str) -> Self {
        Self::new("tool", name, why)
    }

    pub(crate) fn new(kind: &'static str, name: &str, why: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            why: why.to_owned(),
        }
    }

    pub(crate) fn duplicate(kind: &'static str, twice: Duplicate) -> Self {
        Self {
            kind,
            name: twice.0,
            why: "there are two of that name".to_owned(),
        }
    }

    /// The name of what is wrong.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, why } = self;
        write!(f, "the {kind} {name:?} cannot be served: {why}")
    }
}

impl std::error::Error for BuildError {}
