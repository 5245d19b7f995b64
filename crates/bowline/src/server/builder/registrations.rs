//! Registration of tools, resources, prompts and methods.

use std::{collections::BTreeSet, future::Future, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::{BuildError, Server};
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{Extra, ServerCapabilities, method, task},
        server::Config,
    },
    server::{
        HandlerContext,
        dispatch::{
            extension::{Extensions, NotificationContext},
            list::ListItem as _,
            prompts::PROMPTS,
            resources::RESOURCES,
            router::Router,
            subscriptions::SubscriptionsCallback,
            tools::TOOLS,
        },
        error::Result,
        prompt::Prompt,
        resource::{AnySource, Resource, ResourceSource},
        service::Core,
        template::ResourceTemplate,
        tool::Tool,
    },
};

/// Everything a server is to offer.
#[derive(Default)]
pub(crate) struct Registrations {
    /// The handlers.
    pub(super) router: Router,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) sources: Vec<AnySource>,
    pub(super) extensions: Extensions,
    pub(super) on_subscriptions_changed: Option<SubscriptionsCallback>,
    /// The features that are declared, even if they have no items yet.
    declared: DeclaredFeatures,
    /// A method that cannot be offered, and why.
    problem: Option<(String, &'static str)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct DeclaredFeatures {
    tools: bool,
    resources: bool,
    prompts: bool,
    subscriptions: bool,
    tasks: bool,
}

/// Registration.
///
/// Lists keep the order in which items were added.
///
/// A server declares a capability (tools, resources, prompts) only if one of its
/// builder methods was called. To declare it without any items yet, and add them
/// to the [`Service`](crate::server::Service) later, pass an empty list:
/// `.prompts([])`.
impl<S: Send + Sync + 'static> Server<S> {
    /// Adds a tool.
    pub fn tool(self, tool: Tool<S>) -> Self {
        self.tools([tool])
    }

    /// Adds several tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool<S>>) -> Self {
        for tool in tools {
            if let Some(feature) = tool.shared.task_feature {
                self.registrations.router.add(feature);
                self.registrations.declared.tasks = true;
            }
            self.registrations.tools.push(tool.for_state());
        }
        self.registrations.router.add(&TOOLS);
        self.registrations.declared.tools = true;
        self
    }

    /// Adds a resource.
    pub fn resource(self, resource: Resource<S>) -> Self {
        self.resources([resource])
    }

    /// Adds several resources.
    pub fn resources(mut self, resources: impl IntoIterator<Item = Resource<S>>) -> Self {
        let resources = resources.into_iter().map(Resource::for_state);
        self.registrations.resources.extend(resources);
        self.registrations.router.add(&RESOURCES);
        self.registrations.declared.resources = true;
        self
    }

    /// Adds a resource template. Templates are tried in the order in which they
    /// were added.
    pub fn template(self, template: ResourceTemplate<S>) -> Self {
        self.templates([template])
    }

    /// Adds several resource templates.
    pub fn templates(mut self, templates: impl IntoIterator<Item = ResourceTemplate<S>>) -> Self {
        let templates = templates.into_iter().map(ResourceTemplate::for_state);
        self.registrations.templates.extend(templates);
        self.registrations.router.add(&RESOURCES);
        self.registrations.declared.resources = true;
        self
    }

    /// Adds a dynamic set of resources. A request is passed to the sources in the
    /// order in which they were added.
    pub fn resource_source(mut self, source: impl ResourceSource<S>) -> Self {
        self.registrations.sources.push(AnySource::new(source));
        self.registrations.router.add(&RESOURCES);
        self.registrations.declared.resources = true;
        self
    }

    /// Adds a prompt.
    pub fn prompt(self, prompt: Prompt<S>) -> Self {
        self.prompts([prompt])
    }

    /// Adds several prompts.
    pub fn prompts(mut self, prompts: impl IntoIterator<Item = Prompt<S>>) -> Self {
        let prompts = prompts.into_iter().map(Prompt::for_state);
        self.registrations.prompts.extend(prompts);
        self.registrations.router.add(&PROMPTS);
        self.registrations.declared.prompts = true;
        self
    }

    /// Lets clients subscribe to resources. The application reports changes
    /// with
    /// [`Service::resource_updated`](crate::server::Service::resource_updated).
    ///
    /// In revisions up to 2025-11-25, a client may subscribe to the resources that
    /// were added, to URIs that match a template, and to URIs that a source allows;
    /// the last two need not exist yet. In revision 2026-07-28, subscriptions are
    /// not checked: a client may name any URI.
    pub fn resource_subscriptions(mut self) -> Self {
        self.registrations.declared.subscriptions = true;
        self
    }

    /// Lets clients subscribe to resources, as
    /// [`resource_subscriptions`](Self::resource_subscriptions) does, and calls
    /// `listener` with the set of all subscribed URIs whenever that set changes.
    /// The listener is called inline and must return quickly.
    pub fn on_subscriptions_changed(
        mut self,
        listener: impl Fn(&BTreeSet<String>) + Send + Sync + 'static,
    ) -> Self {
        self.registrations.on_subscriptions_changed = Some(Arc::new(listener));
        self.registrations.router.on_subscriptions_changed =
            Some(Core::notify_subscriptions_changed);
        self.resource_subscriptions()
    }
}

/// Extensions of the protocol.
impl<S: Send + Sync + 'static> Server<S> {
    /// Adds a method that is not in the protocol, such as `acme/do`. Its handler
    /// cannot ask the client anything. It must return a value that serializes to a
    /// JSON object, or `()`.
    pub fn method<P, R, F, W>(mut self, name: &str, handler: F) -> Self
    where
        P: DeserializeOwned,
        R: Serialize + 'static,
        F: Fn(P, HandlerContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R>> + Send + 'static,
    {
        let is_new = self.registrations.extensions.add_method(name, handler);
        self.registrations.router.fallback = Some(Core::call_extension);
        if method::info(name).is_some() {
            self.registrations.problem = Some((
                name.to_owned(),
                "the protocol already has a method of that name",
            ));
        } else if !is_new {
            self.registrations.problem = Some((name.to_owned(), "it is already registered"));
        }
        self
    }

    /// Sets a listener for changes of a client's roots. Clients report these
    /// changes only in revisions up to 2025-11-25.
    pub fn on_roots_changed<F, W>(self, listener: F) -> Self
    where
        F: Fn(NotificationContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        self.on_notification(method::ROOTS_LIST_CHANGED, listener)
    }

    /// Sets a listener for a notification from clients. Notifications are
    /// handled one at a time, in order. If a client sends them much faster than
    /// they are handled, some are dropped.
    pub fn on_notification<F, W>(mut self, method: &str, listener: F) -> Self
    where
        F: Fn(NotificationContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        self.registrations.extensions.add_listener(method, listener);
        self
    }
}

impl Registrations {
    pub(super) fn check(&self) -> Result<(), BuildError> {
        match &self.problem {
            Some((name, why)) => Err(BuildError::new("method", name, why)),
            None => Ok(()),
        }
    }

    /// Returns whether calls of a tool may become tasks.
    pub(super) fn has_tasks(&self) -> bool {
        self.declared.tasks
    }

    /// Declares what is offered, and that it may change.
    pub(super) fn declare(&self, config: &mut Config) {
        let declared = &mut config.capabilities;
        if self.declared.tools {
            let tools = declared.tools.get_or_insert_default();
            tools.list_changed = Some(true);
        }
        if self.declared.tasks {
            declare_tasks(declared);
        }
        if self.declared.prompts {
            let prompts = declared.prompts.get_or_insert_default();
            prompts.list_changed = Some(true);
        }
        if self.declared.resources {
            let resources = declared.resources.get_or_insert_default();
            resources.list_changed = Some(true);
            if self.declared.subscriptions {
                resources.subscribe = Some(true);
            }
        }
        let completes = self.prompts.iter().any(Prompt::completes)
            || self.templates.iter().any(ResourceTemplate::completes);
        if completes {
            declared.completions.get_or_insert_with(Extra::new);
        }
        declared.logging.get_or_insert_with(Extra::new);
        let extensions = self.extensions.names();
        // Notifications of the protocol itself are let through anyway, where
        // allowed.
        let extensions = extensions.filter(|name| &***name != method::ROOTS_LIST_CHANGED);
        config.extension_methods.extend(extensions.cloned());
    }
}

/// Declares tasks, in both dialects.
fn declare_tasks(declared: &mut ServerCapabilities) {
    let tasks = declared.tasks.get_or_insert_default();
    tasks.list = Some(Extra::new());
    tasks.cancel = Some(Extra::new());
    let requests = tasks.requests.get_or_insert_default();
    requests.tools.get_or_insert_default().call = Some(Extra::new());
    let extensions = declared.extensions.get_or_insert_default();
    if let Ok(settings) = RawJson::from_string("{}".to_owned()) {
        extensions.insert(task::EXTENSION_ID, settings);
    }
}
