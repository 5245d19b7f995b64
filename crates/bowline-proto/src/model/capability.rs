//! Capabilities of clients and servers.
//!
//! A capability is present if its key is, even as an empty object. Its members
//! are details.

use super::{Extra, WireFeatures, object::object};
use crate::jsonrpc::RawJson;

object! {
    /// The capabilities of a client.
    pub struct ClientCapabilities adjusted by ClientCapabilities::adjust {
        /// It lists roots.
        roots: Option<RootsCapability> = optional "roots",
        /// It samples a model.
        sampling: Option<SamplingCapability> = optional "sampling",
        /// It asks the user.
        elicitation: Option<ElicitationCapability> = optional "elicitation" if elicitation.form,
        /// It runs the server's requests as core tasks.
        tasks: Option<ClientTasksCapability> = optional "tasks" if core_tasks,
        /// Capabilities outside of any specification.
        experimental: Option<Extra> = optional "experimental",
        /// Extensions by their id, with their settings.
        extensions: Option<Extra> = optional "extensions" if extensions,
    }
}

object! {
    /// The roots capability.
    pub struct RootsCapability {
        /// Whether the client notifies the server of changes.
        list_changed: Option<bool> = optional "listChanged" if roots_list_changed,
    }
}

object! {
    /// The sampling capability.
    pub struct SamplingCapability {
        /// Context from servers can be included.
        context: Option<Extra> = optional "context" if sampling_tools,
        /// The model can be given tools.
        tools: Option<Extra> = optional "tools" if sampling_tools,
    }
}

object! {
    /// The elicitation capability. An empty object means forms only.
    pub struct ElicitationCapability {
        /// The client shows forms.
        form: Option<Extra> = optional "form" if elicitation.url,
        /// The client opens pages.
        url: Option<Extra> = optional "url" if elicitation.url,
    }
}

impl ElicitationCapability {
    /// Returns whether the client can show forms: it declares so, or declares
    /// no mode.
    #[must_use]
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}

object! {
    /// The capability to run the server's requests as core tasks.
    pub struct ClientTasksCapability {
        /// Tasks can be listed.
        list: Option<Extra> = optional "list",
        /// Tasks can be cancelled.
        cancel: Option<Extra> = optional "cancel",
        /// The supported requests.
        requests: Option<ClientTaskRequests> = optional "requests",
    }
}

object! {
    /// The requests that a client runs as core tasks.
    pub struct ClientTaskRequests {
        /// Sampling requests.
        sampling: Option<SamplingTasks> = optional "sampling",
        /// Elicitation requests.
        elicitation: Option<ElicitationTasks> = optional "elicitation",
    }
}

object! {
    /// The sampling requests that a client runs as core tasks.
    pub struct SamplingTasks {
        /// `sampling/createMessage`.
        create_message: Option<Extra> = optional "createMessage",
    }
}

object! {
    /// The elicitation requests that a client runs as core tasks.
    pub struct ElicitationTasks {
        /// `elicitation/create`.
        create: Option<Extra> = optional "create",
    }
}

object! {
    /// The capabilities of a server.
    pub struct ServerCapabilities {
        /// It offers tools.
        tools: Option<ToolsCapability> = optional "tools",
        /// It offers resources.
        resources: Option<ResourcesCapability> = optional "resources",
        /// It offers prompts.
        prompts: Option<PromptsCapability> = optional "prompts",
        /// It completes arguments.
        completions: Option<Extra> = optional "completions" if completions_capability,
        /// It sends log messages.
        logging: Option<Extra> = optional "logging",
        /// It runs the client's requests as core tasks.
        tasks: Option<ServerTasksCapability> = optional "tasks" if core_tasks,
        /// Capabilities outside of any specification.
        experimental: Option<Extra> = optional "experimental",
        /// Extensions by their id, with their settings.
        extensions: Option<Extra> = optional "extensions" if extensions,
    }
}

object! {
    /// The tools capability.
    pub struct ToolsCapability {
        /// Whether the server notifies clients when the list changes.
        list_changed: Option<bool> = optional "listChanged",
    }
}

object! {
    /// The resources capability.
    pub struct ResourcesCapability {
        /// Whether clients can subscribe to resources.
        subscribe: Option<bool> = optional "subscribe",
        /// Whether the server notifies clients when the list changes.
        list_changed: Option<bool> = optional "listChanged",
    }
}

object! {
    /// The prompts capability.
    pub struct PromptsCapability {
        /// Whether the server notifies clients when the list changes.
        list_changed: Option<bool> = optional "listChanged",
    }
}

object! {
    /// The capability to run the client's requests as core tasks.
    pub struct ServerTasksCapability {
        /// Tasks can be listed.
        list: Option<Extra> = optional "list",
        /// Tasks can be cancelled.
        cancel: Option<Extra> = optional "cancel",
        /// The supported requests.
        requests: Option<ServerTaskRequests> = optional "requests",
    }
}

object! {
    /// The requests that a server runs as core tasks.
    pub struct ServerTaskRequests {
        /// Tool requests.
        tools: Option<ToolTasks> = optional "tools",
    }
}

object! {
    /// The tool requests that a server runs as core tasks.
    pub struct ToolTasks {
        /// `tools/call`.
        call: Option<Extra> = optional "call",
    }
}

impl ClientCapabilities {
    /// Returns whether the client has the capability with this dotted path,
    /// such as `sampling.tools`. Unknown capabilities are present if their key
    /// is.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let sampling = self.sampling.as_ref();
        let elicitation = self.elicitation.as_ref();
        let tasks = self.tasks.as_ref();
        let requests = tasks.and_then(|tasks| tasks.requests.as_ref());
        match path {
            "roots" => self.roots.is_some(),
            "roots.listChanged" => self
                .roots
                .as_ref()
                .is_some_and(|roots| roots.list_changed == Some(true)),
            "sampling" => sampling.is_some(),
            "sampling.context" => sampling.is_some_and(|sampling| sampling.context.is_some()),
            "sampling.tools" => sampling.is_some_and(|sampling| sampling.tools.is_some()),
            "elicitation" => elicitation.is_some(),
            "elicitation.form" => elicitation.is_some_and(ElicitationCapability::has_form),
            "elicitation.url" => elicitation.is_some_and(|modes| modes.url.is_some()),
            "tasks" => tasks.is_some(),
            "tasks.list" => tasks.is_some_and(|tasks| tasks.list.is_some()),
            "tasks.cancel" => tasks.is_some_and(|tasks| tasks.cancel.is_some()),
            "tasks.requests.sampling.createMessage" => requests
                .and_then(|requests| requests.sampling.as_ref())
                .is_some_and(|sampling| sampling.create_message.is_some()),
            "tasks.requests.elicitation.create" => requests
                .and_then(|requests| requests.elicitation.as_ref())
                .is_some_and(|elicitation| elicitation.create.is_some()),
            "experimental" => self.experimental.is_some(),
            "extensions" => self.extensions.is_some(),
            other => self.extra.contains_key(other),
        }
    }

    /// Declares an extension without settings, unless it is declared already.
    pub fn declare_extension(&mut self, id: &'static str) {
        let extensions = self.extensions.get_or_insert_default();
        if let Ok(settings) = RawJson::from_string("{}".to_owned())
            && !extensions.contains_key(id)
        {
            extensions.insert(id, settings);
        }
    }

    /// Returns whether the client declared an extension.
    #[must_use]
    pub fn has_extension(&self, id: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|all| all.contains_key(id))
    }

    /// A wire format without modes takes an elicitation capability to mean forms,
    /// so a client that can only open pages must not declare it there.
    fn adjust(&mut self, features: &WireFeatures) {
        if !features.elicitation.url {
            self.elicitation
                .take_if(|elicitation| !elicitation.has_form());
        }
    }
}

impl ServerCapabilities {
    /// Returns whether the server has the capability with this dotted path,
    /// such as `resources.subscribe`. Unknown capabilities are present if their
    /// key is.
    ///
    /// ```
    /// use bowline_proto::model::ServerCapabilities;
    ///
    /// let server: ServerCapabilities =
    ///     serde_json::from_str(r#"{"tools": {}, "resources": {"subscribe": false}}"#).unwrap();
    /// assert!(server.has("tools") && server.has("resources"));
    /// assert!(!server.has("resources.subscribe") && !server.has("prompts"));
    /// ```
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let resources = self.resources.as_ref();
        let tasks = self.tasks.as_ref();
        match path {
            "tools" => self.tools.is_some(),
            "tools.listChanged" => self
                .tools
                .as_ref()
                .is_some_and(|tools| tools.list_changed == Some(true)),
            "resources" => resources.is_some(),
            "resources.subscribe" => resources.is_some_and(|all| all.subscribe == Some(true)),
            "resources.listChanged" => resources.is_some_and(|all| all.list_changed == Some(true)),
            "prompts" => self.prompts.is_some(),
            "prompts.listChanged" => self
                .prompts
                .as_ref()
                .is_some_and(|prompts| prompts.list_changed == Some(true)),
            "completions" => self.completions.is_some(),
            "logging" => self.logging.is_some(),
            "tasks" => tasks.is_some(),
            "tasks.list" => tasks.is_some_and(|tasks| tasks.list.is_some()),
            "tasks.cancel" => tasks.is_some_and(|tasks| tasks.cancel.is_some()),
            "tasks.requests.tools.call" => tasks
                .and_then(|tasks| tasks.requests.as_ref()?.tools.as_ref())
                .is_some_and(|tools| tools.call.is_some()),
            "experimental" => self.experimental.is_some(),
            "extensions" => self.extensions.is_some(),
            other => self.extra.contains_key(other),
        }
    }

    /// Returns whether the server declared an extension.
    #[must_use]
    pub fn has_extension(&self, id: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|all| all.contains_key(id))
    }
}
