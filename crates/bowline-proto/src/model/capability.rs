//! What each side says that it can do.
//!
//! A capability is there when its key is, even as an empty object. What it
//! holds is detail.

use super::{Dialect, Extra, object::object};

object! {
    /// What a client can do.
    pub struct ClientCapabilities adjusted by ClientCapabilities::adjust {
        /// Name roots.
        roots: Option<RootsCapability> = optional "roots",
        /// Ask a model.
        sampling: Option<SamplingCapability> = optional "sampling",
        /// Ask the user.
        elicitation: Option<ElicitationCapability> = optional "elicitation" if elicitation.form,
        /// Run requests of the server as core tasks.
        tasks: Option<ClientTasksCapability> = optional "tasks" if core_tasks,
        /// What is not in any specification.
        experimental: Option<Extra> = optional "experimental",
        /// Extensions by their id, with their settings.
        extensions: Option<Extra> = optional "extensions" if extensions,
    }
}

object! {
    /// Naming roots.
    pub struct RootsCapability {
        /// The client says when they change.
        list_changed: Option<bool> = optional "listChanged" if roots_list_changed,
    }
}

object! {
    /// Asking a model.
    pub struct SamplingCapability {
        /// It can include context from servers.
        context: Option<Extra> = optional "context" if sampling_tools,
        /// It can be given tools.
        tools: Option<Extra> = optional "tools" if sampling_tools,
    }
}

object! {
    /// Asking the user. An empty object means forms alone.
    pub struct ElicitationCapability {
        /// By a form.
        form: Option<Extra> = optional "form" if elicitation.url,
        /// By a page to visit.
        url: Option<Extra> = optional "url" if elicitation.url,
    }
}

impl ElicitationCapability {
    /// Whether the client can show forms: it says so, or says nothing.
    #[must_use]
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}

object! {
    /// Running requests of the server as core tasks.
    pub struct ClientTasksCapability {
        /// They can be listed.
        list: Option<Extra> = optional "list",
        /// They can be called off.
        cancel: Option<Extra> = optional "cancel",
        /// Which requests.
        requests: Option<ClientTaskRequests> = optional "requests",
    }
}

object! {
    /// Which requests a client runs as core tasks.
    pub struct ClientTaskRequests {
        /// Of sampling.
        sampling: Option<SamplingTasks> = optional "sampling",
        /// Of elicitation.
        elicitation: Option<ElicitationTasks> = optional "elicitation",
    }
}

object! {
    /// Which sampling requests a client runs as core tasks.
    pub struct SamplingTasks {
        /// `sampling/createMessage`.
        create_message: Option<Extra> = optional "createMessage",
    }
}

object! {
    /// Which elicitation requests a client runs as core tasks.
    pub struct ElicitationTasks {
        /// `elicitation/create`.
        create: Option<Extra> = optional "create",
    }
}

object! {
    /// What a server can do.
    pub struct ServerCapabilities {
        /// Run tools.
        tools: Option<ToolsCapability> = optional "tools",
        /// Let resources be read.
        resources: Option<ResourcesCapability> = optional "resources",
        /// Offer prompts.
        prompts: Option<PromptsCapability> = optional "prompts",
        /// Complete arguments.
        completions: Option<Extra> = optional "completions" if completions_capability,
        /// Send log messages.
        logging: Option<Extra> = optional "logging",
        /// Run requests of the client as core tasks.
        tasks: Option<ServerTasksCapability> = optional "tasks" if core_tasks,
        /// What is not in any specification.
        experimental: Option<Extra> = optional "experimental",
        /// Extensions by their id, with their settings.
        extensions: Option<Extra> = optional "extensions" if extensions,
    }
}

object! {
    /// Running tools.
    pub struct ToolsCapability {
        /// The server says when the list changes.
        list_changed: Option<bool> = optional "listChanged",
    }
}

object! {
    /// Letting resources be read.
    pub struct ResourcesCapability {
        /// Resources can be watched.
        subscribe: Option<bool> = optional "subscribe",
        /// The server says when the list changes.
        list_changed: Option<bool> = optional "listChanged",
    }
}

object! {
    /// Offering prompts.
    pub struct PromptsCapability {
        /// The server says when the list changes.
        list_changed: Option<bool> = optional "listChanged",
    }
}

object! {
    /// Running requests of the client as core tasks.
    pub struct ServerTasksCapability {
        /// They can be listed.
        list: Option<Extra> = optional "list",
        /// They can be called off.
        cancel: Option<Extra> = optional "cancel",
        /// Which requests.
        requests: Option<ServerTaskRequests> = optional "requests",
    }
}

object! {
    /// Which requests a server runs as core tasks.
    pub struct ServerTaskRequests {
        /// Of tools.
        tools: Option<ToolTasks> = optional "tools",
    }
}

object! {
    /// Which tool requests a server runs as core tasks.
    pub struct ToolTasks {
        /// `tools/call`.
        call: Option<Extra> = optional "call",
    }
}

impl ClientCapabilities {
    /// Whether the client can do what a dotted path names, such as
    /// `sampling.tools`. Unknown capabilities are there when their key is.
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

    /// Whether the client declared an extension.
    #[must_use]
    pub fn has_extension(&self, id: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|all| all.contains_key(id))
    }

    /// A dialect without modes reads an elicitation capability as forms, so a
    /// client that can only show pages must not declare it there.
    fn adjust(&mut self, dialect: &Dialect) {
        if !dialect.elicitation.url {
            self.elicitation
                .take_if(|elicitation| !elicitation.has_form());
        }
    }
}

impl ServerCapabilities {
    /// Whether the server can do what a dotted path names, such as
    /// `resources.subscribe`. Unknown capabilities are there when their key is.
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

    /// Whether the server declared an extension.
    #[must_use]
    pub fn has_extension(&self, id: &str) -> bool {
        self.extensions
            .as_ref()
            .is_some_and(|all| all.contains_key(id))
    }
}
