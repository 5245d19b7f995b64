//! What the client is told without being asked, and when it may be told.

use super::{
    Connection, Incoming, Telemetry, core::Core, listening::subscription_meta, listens::Listen,
    session::Session, telling::is_wanted,
};
use crate::{
    jsonrpc::{Draft, RawJson, RequestId},
    model::{
        LogLevel, LoggingMessageParams, Notification, Number, PromptListChangedParams,
        ResourceListChangedParams, ResourceUpdatedParams, Side, TaskChangedParams,
        ToolListChangedParams, method,
    },
    revision::LogLevelBy,
};

/// Which list changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// That of tools.
    Tools,
    /// That of prompts.
    Prompts,
    /// That of resources and their templates.
    Resources,
}

/// About one request.
impl Connection {
    /// Says how far a request has come. Each number must be greater than the one
    /// before.
    ///
    /// Returns whether it was sent: not without a token, not out of order, and
    /// not when the request is over.
    pub fn progress(
        &mut self,
        request: Incoming,
        progress: impl Into<Number>,
        total: Option<Number>,
        message: Option<&str>,
    ) -> bool {
        let Some(open) = self.requests.get_mut(request) else {
            return self.core.dropped(method::PROGRESS);
        };
        let progress = progress.into();
        let token = open.progress_token.as_ref();
        let next = open.telling.next_progress(token, progress, total, message);
        let Some(params) = next else {
            return self.core.dropped(method::PROGRESS);
        };
        let dialect = &open.rules.dialect;
        self.core.notify(Some(request), dialect, params)
    }

    /// Sends a log message, about a request or about the session as a whole.
    ///
    /// Returns whether it was sent: only if logging is declared, at the client's
    /// level or above, and not about a request that is over. In the stateless era
    /// the level is the request's own, and there is no session to speak of.
    pub fn log(
        &mut self,
        request: Option<Incoming>,
        level: &LogLevel,
        logger: Option<&str>,
        data: RawJson,
    ) -> bool {
        let Some((threshold, dialect)) = self.log_threshold(request) else {
            return self.core.dropped(method::MESSAGE);
        };
        if !is_wanted(&self.core.config, level, &threshold) {
            return self.core.dropped(method::MESSAGE);
        }
        let mut params = LoggingMessageParams::new(level.clone(), data);
        params.logger = logger.map(ToOwned::to_owned);
        self.core.notify(request, dialect, params)
    }

    fn log_threshold(
        &self,
        request: Option<Incoming>,
    ) -> Option<(LogLevel, &'static crate::model::Dialect)> {
        let own = match request {
            Some(request) => {
                let open = self.requests.get(request)?;
                (open.rules, open.log_level.clone())
            }
            None => (self.session.as_ref()?.rules, None),
        };
        let level = match (own.0.log_level, own.1) {
            (LogLevelBy::RequestMeta, level) => level?,
            (LogLevelBy::Method, _) => self.session.as_ref()?.log_level.clone(),
        };
        Some((level, &own.0.dialect))
    }
}

/// About what the server offers.
impl Connection {
    /// Says that a list changed, to all who may hear it. Returns whether anybody
    /// did.
    pub fn list_changed(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => self.announce(
                "tools.listChanged",
                |listen| listen.filter.tools,
                ToolListChangedParams::default,
            ),
            Kind::Prompts => self.announce(
                "prompts.listChanged",
                |listen| listen.filter.prompts,
                PromptListChangedParams::default,
            ),
            Kind::Resources => self.announce(
                "resources.listChanged",
                |listen| listen.filter.resources,
                ResourceListChangedParams::default,
            ),
        }
    }

    /// Says that a resource changed, to all who watch it. Returns whether
    /// anybody does.
    ///
    /// Watching is by the exact URI: whether a change below a watched resource
    /// is a change of it, the host knows better.
    pub fn resource_updated(&mut self, uri: &str) -> bool {
        let session = self.session.as_ref().filter(|session| session.initialized);
        let in_session = session.filter(|session| session.watched.contains(uri));
        let mut sent = false;
        if let Some(session) = in_session {
            let dialect = &session.rules.dialect;
            let params = ResourceUpdatedParams::new(uri);
            sent = self.core.notify(None, dialect, params);
        }
        let wants = |listen: &Listen| listen.filter.uris.contains(uri);
        sent |= self.tell_listeners(wants, || ResourceUpdatedParams::new(uri));
        sent || self.core.dropped(method::RESOURCES_UPDATED)
    }

    /// Says that a task of the extension changed, to the streams that ask for
    /// it. Returns whether there are any.
    pub fn task_changed(&mut self, params: &TaskChangedParams) -> bool {
        let wants = |listen: &Listen| listen.filter.tasks.contains(params.task_id.as_str());
        self.tell_listeners(wants, || params.clone()) || self.core.dropped(method::TASKS_CHANGED)
    }

    /// Sends another notification in the session of the handshake era, once, if
    /// its revision has it. Those that have a method of their own here are not
    /// sent this way, because nobody would check whether they may be.
    pub fn notify(&mut self, notification: Draft) -> bool {
        let name = notification.method_name();
        let session = self.session.as_ref().filter(|session| session.initialized);
        let allowed = session.is_some_and(|session| session.rules.allows(&name, Side::Server));
        let free = (allowed && !GATED.contains(&&*name)) || self.is_extension(&name);
        if free && notification.len() <= self.core.config.max_frame {
            self.core.send(None, notification.into_notification());
            return true;
        }
        self.core
            .observe(|| Telemetry::NotificationDropped { method: name });
        false
    }

    fn is_extension(&self, name: &str) -> bool {
        self.session.as_ref().is_some_and(|it| it.initialized)
            && !GATED.contains(&name)
            && self.core.config.hands_up(name)
    }

    /// Tells the session, if the capability is declared, and the streams that
    /// want it.
    fn announce<N: Notification>(
        &mut self,
        capability: &str,
        wants: impl Fn(&Listen) -> bool,
        make: impl Fn() -> N,
    ) -> bool {
        let mut sent = false;
        let may_hear = |session: &&Session| session.initialized;
        if let Some(session) = self.session.as_ref().filter(may_hear)
            && self.core.config.capabilities.has(capability)
        {
            sent = self.core.notify(None, &session.rules.dialect, make());
        }
        sent |= self.tell_listeners(wants, make);
        sent || self.core.dropped(N::METHOD)
    }

    fn tell_listeners<N: Notification>(
        &mut self,
        wants: impl Fn(&Listen) -> bool,
        make: impl Fn() -> N,
    ) -> bool {
        let mut sent = false;
        for (id, listen) in self.listens.iter().filter(|(_, listen)| wants(listen)) {
            sent |= tell(&mut self.core, id, listen, make());
        }
        sent
    }
}

/// Notifications that depend on more than the revision.
const GATED: &[&str] = &[
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

/// Tells one stream, under its own id.
fn tell<N: Notification>(core: &mut Core, id: &RequestId, listen: &Listen, mut params: N) -> bool {
    let meta = params.meta_mut().get_or_insert_with(Default::default);
    for (key, value) in subscription_meta(id).members().iter() {
        meta.members_mut().insert(key.to_owned(), value.clone());
    }
    core.notify(None, &listen.context.rules.dialect, params)
}
