//! Notifications to the client, and when they may be sent.

use std::collections::BTreeSet;

use super::{
    Connection, RequestKey, TelemetryEvent, core::Core, listen::subscription_meta,
    request_notifier::is_log_enabled, session::Session, subscription_streams::SubscriptionStream,
};
use crate::{
    jsonrpc::{OutgoingMessage, RawJson, RequestId},
    model::{
        LogLevel, LoggingMessageParams, Notification, Number, PromptListChangedParams,
        ResourceListChangedParams, ResourceUpdatedParams, Side, TaskChangedParams,
        ToolListChangedParams, method,
    },
    revision::LogLevelSource,
};

/// The kind of a list that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and resource templates.
    Resources,
}

/// Notifications about one request.
impl Connection {
    /// Sends the progress of a request. Each number must be greater than the
    /// one before.
    ///
    /// Returns whether it was sent: not without a token, not out of order, and
    /// not after the request has ended.
    pub fn progress(
        &mut self,
        request: RequestKey,
        progress: impl Into<Number>,
        total: Option<Number>,
        message: Option<&str>,
    ) -> bool {
        let Some(open) = self.requests.get_mut(request) else {
            return self.core.notification_dropped(method::PROGRESS);
        };
        let progress = progress.into();
        let token = open.progress_token.as_ref();
        let next = open.notifier.next_progress(token, progress, total, message);
        let Some(params) = next else {
            return self.core.notification_dropped(method::PROGRESS);
        };
        let features = &open.rules.features;
        self.core.notify(Some(request), features, params)
    }

    /// Sends a log message, about a request or about the session as a whole.
    ///
    /// Returns whether it was sent: only if logging is declared, at the
    /// client's level or above, and not about a request that has ended. In the
    /// stateless era the level is the request's own, and messages without a
    /// request are not sent.
    pub fn log(
        &mut self,
        request: Option<RequestKey>,
        level: &LogLevel,
        logger: Option<&str>,
        data: RawJson,
    ) -> bool {
        let Some((threshold, features)) = self.log_threshold(request) else {
            return self.core.notification_dropped(method::MESSAGE);
        };
        if !is_log_enabled(&self.core.config, level, &threshold) {
            return self.core.notification_dropped(method::MESSAGE);
        }
        let mut params = LoggingMessageParams::new(level.clone(), data);
        params.logger = logger.map(ToOwned::to_owned);
        self.core.notify(request, features, params)
    }

    fn log_threshold(
        &self,
        request: Option<RequestKey>,
    ) -> Option<(LogLevel, &'static crate::model::WireFeatures)> {
        let source = match request {
            Some(request) => {
                let open = self.requests.get(request)?;
                (open.rules, open.log_level.clone())
            }
            None => (self.session.as_ref()?.rules, None),
        };
        let level = match (source.0.log_level, source.1) {
            (LogLevelSource::RequestMeta, level) => level?,
            (LogLevelSource::Method, _) => self.session.as_ref()?.log_level.clone(),
        };
        Some((level, &source.0.features))
    }
}

/// Notifications about what the server offers.
impl Connection {
    /// Notifies all who may receive it that a list changed. Returns whether
    /// anyone was notified.
    pub fn list_changed(&mut self, kind: ListKind) -> bool {
        match kind {
            ListKind::Tools => self.notify_list_changed(
                "tools.listChanged",
                |stream| stream.filter.tools,
                ToolListChangedParams::default,
            ),
            ListKind::Prompts => self.notify_list_changed(
                "prompts.listChanged",
                |stream| stream.filter.prompts,
                PromptListChangedParams::default,
            ),
            ListKind::Resources => self.notify_list_changed(
                "resources.listChanged",
                |stream| stream.filter.resources,
                ResourceListChangedParams::default,
            ),
        }
    }

    /// Notifies all subscribers that a resource changed. Returns whether there
    /// are any.
    ///
    /// Subscriptions match the exact URI. Whether a change below a resource
    /// counts as a change of the resource itself is for the host to decide.
    pub fn resource_updated(&mut self, uri: &str) -> bool {
        let session = self.session.as_ref().filter(|session| session.initialized);
        let in_session = session.filter(|session| session.subscribed.contains(uri));
        let mut sent = false;
        if let Some(session) = in_session {
            let features = &session.rules.features;
            let params = ResourceUpdatedParams::new(uri);
            sent = self.core.notify(None, features, params);
        }
        let wants = |stream: &SubscriptionStream| stream.filter.uris.contains(uri);
        sent |= self.notify_streams(wants, || ResourceUpdatedParams::new(uri));
        sent || self.core.notification_dropped(method::RESOURCES_UPDATED)
    }

    /// Returns the tasks of the extension whose changes streams ask for.
    #[must_use]
    pub fn subscribed_tasks(&self) -> BTreeSet<&str> {
        let streams = self.subscription_streams.iter();
        let ids = streams.flat_map(|(_, stream)| &stream.filter.tasks);
        ids.map(|id| &**id).collect()
    }

    /// Returns whether a stream asks for changes of a task of the extension.
    #[must_use]
    pub fn is_subscribed_to_task(&self, id: &str) -> bool {
        let mut streams = self.subscription_streams.iter();
        streams.any(|(_, stream)| stream.filter.tasks.contains(id))
    }

    /// Notifies the streams that ask for it that a task of the extension
    /// changed. Returns whether there are any.
    pub fn task_changed(&mut self, params: &TaskChangedParams) -> bool {
        let wants =
            |stream: &SubscriptionStream| stream.filter.tasks.contains(params.task_id.as_str());
        self.notify_streams(wants, || params.clone())
            || self.core.notification_dropped(method::TASKS_CHANGED)
    }

    /// Sends another notification in the session of the handshake era, once, if
    /// its revision has it. Notifications with a method of their own on this
    /// type are not sent this way, because their conditions would not be
    /// checked.
    pub fn notify(&mut self, notification: OutgoingMessage) -> bool {
        let name = notification.method_name();
        let session = self.session.as_ref().filter(|session| session.initialized);
        let allowed = session.is_some_and(|session| session.rules.allows(&name, Side::Server));
        let is_unconditional =
            (allowed && !CONDITIONAL_NOTIFICATIONS.contains(&&*name)) || self.is_extension(&name);
        if is_unconditional && notification.len() <= self.core.config.max_frame_size {
            self.core.send(None, notification.into_notification());
            return true;
        }
        self.core
            .observe(|| TelemetryEvent::NotificationDropped { method: name });
        false
    }

    fn is_extension(&self, name: &str) -> bool {
        self.session.as_ref().is_some_and(|it| it.initialized)
            && !CONDITIONAL_NOTIFICATIONS.contains(&name)
            && self.core.config.is_extension_method(name)
    }

    /// Notifies the session, if the capability is declared, and the streams
    /// that ask for it.
    fn notify_list_changed<N: Notification>(
        &mut self,
        capability: &str,
        wants: impl Fn(&SubscriptionStream) -> bool,
        make_params: impl Fn() -> N,
    ) -> bool {
        let mut sent = false;
        let is_initialized = |session: &&Session| session.initialized;
        if let Some(session) = self.session.as_ref().filter(is_initialized)
            && self.core.config.capabilities.has(capability)
        {
            sent = self
                .core
                .notify(None, &session.rules.features, make_params());
        }
        sent |= self.notify_streams(wants, make_params);
        sent || self.core.notification_dropped(N::METHOD)
    }

    fn notify_streams<N: Notification>(
        &mut self,
        wants: impl Fn(&SubscriptionStream) -> bool,
        make_params: impl Fn() -> N,
    ) -> bool {
        let mut sent = false;
        for (id, stream) in self
            .subscription_streams
            .iter()
            .filter(|(_, stream)| wants(stream))
        {
            sent |= notify_stream(&mut self.core, id, stream, make_params());
        }
        sent
    }
}

/// Notifications that depend on more than the revision.
const CONDITIONAL_NOTIFICATIONS: &[&str] = &[
    method::PROGRESS,
    method::MESSAGE,
    method::CANCELLED,
    method::TOOLS_LIST_CHANGED,
    method::PROMPTS_LIST_CHANGED,
    method::RESOURCES_LIST_CHANGED,
    method::RESOURCES_UPDATED,
    method::SUBSCRIPTIONS_ACKNOWLEDGED,
    method::TASKS_CHANGED,
];

/// Sends a notification on one stream, under the stream's id.
fn notify_stream<N: Notification>(
    core: &mut Core,
    id: &RequestId,
    stream: &SubscriptionStream,
    mut params: N,
) -> bool {
    let meta = params.meta_mut().get_or_insert_with(Default::default);
    for (key, value) in subscription_meta(id).members().iter() {
        meta.members_mut().insert(key.to_owned(), value.clone());
    }
    core.notify(None, &stream.context.rules.features, params)
}
