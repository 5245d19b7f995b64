//! Stateless-era sessions: every request identifies the client, and changes arrive on a
//! stream that the client requests.

use bytes::Bytes;
use memchr::memmem;

use super::{
    CallId, Failure, InputHandling, LinkId, Outcome, SendError, ServerInfo, Violation,
    calls::Phase, core::Core, desired_state::DesiredChange, request_meta::push_member,
    session::ResultKind, subscription_streams::SubscriptionStreams,
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, decode},
    model::{Adapt, InitializedParams, SubscriptionsAcknowledgedParams, meta::key, task},
    revision::Rules,
};

/// A stateless-era session.
#[derive(Debug)]
pub(super) struct StatelessSession {
    link: LinkId,
    rules: &'static Rules,
    /// The `_meta` members that every request carries, serialised once.
    common_meta: Vec<u8>,
    /// The same, declaring that this client can follow tasks.
    common_meta_with_tasks: Vec<u8>,
    /// The stream on which changes arrive.
    subscriptions: SubscriptionStreams,
}

impl StatelessSession {
    pub(super) fn new(core: &Core, link: LinkId, rules: &'static Rules) -> Self {
        Self {
            link,
            rules,
            common_meta: common_meta(core, rules, false),
            common_meta_with_tasks: common_meta(core, rules, true),
            subscriptions: SubscriptionStreams::new(core.session_count > 1),
        }
    }

    pub(super) fn common_meta(&self, declares_tasks: bool) -> &[u8] {
        match declares_tasks {
            true => &self.common_meta_with_tasks,
            false => &self.common_meta,
        }
    }

    /// Returns what a result with this `resultType` means for its call.
    pub(super) fn classify_result(&self, core: &Core, id: CallId, kind: &str) -> ResultKind {
        let Some(call) = core.calls.get(id) else {
            return ResultKind::Complete;
        };
        let is_extension = |kind: &str| {
            let mut known = core.config.extension_result_types.iter();
            known.any(|known| &**known == kind)
        };
        match kind {
            "complete" => ResultKind::Complete,
            "input_required" if !call.info.is_some_and(|info| info.input_rounds) => {
                ResultKind::Invalid(format!("{} must not return input_required", call.method))
            }
            "input_required" => match call.options.input_handling {
                InputHandling::AskHost => ResultKind::InputRequired,
                InputHandling::ReturnToCaller => ResultKind::Complete,
            },
            "task" if Self::accepts_task(call) => ResultKind::Complete,
            other if is_extension(other) => ResultKind::Complete,
            "task" => ResultKind::Invalid(format!("{} must not return a task", call.method)),
            other => ResultKind::Invalid(format!("unknown resultType {other:?}")),
        }
    }

    /// Makes a change of the desired state, none of which is a request in this era.
    pub(super) fn change(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        change: DesiredChange,
        server: &ServerInfo,
    ) {
        match change {
            DesiredChange::Subscribe(uri) => self.subscribe(core, now, id, uri, server),
            DesiredChange::Unsubscribe(_) => {
                core.desired.apply(change);
                core.finish(now, id, empty_result());
                self.refresh_subscriptions(core, now);
            }
            DesiredChange::SetLevel(_) => {
                core.desired.apply(change);
                self.common_meta = common_meta(core, self.rules, false);
                self.common_meta_with_tasks = common_meta(core, self.rules, true);
                core.finish(now, id, empty_result());
            }
        }
    }

    fn subscribe(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        uri: Box<str>,
        server: &ServerInfo,
    ) {
        let call = core.calls.get(id);
        let checks_capabilities = call.is_some_and(|call| call.options.check_capabilities);
        let capability = "resources.subscribe";
        if checks_capabilities && !server.has_capability(capability) {
            core.fail(now, id, Failure::CapabilityNotSupported { capability });
            return;
        }
        if self.subscriptions.covers(&uri) {
            // An earlier unsubscribe may be about to remove it from the stream.
            core.desired.uris.insert(uri);
            core.finish(now, id, empty_result());
        } else {
            if let Some(call) = core.calls.get_mut(id) {
                call.phase = Phase::Subscribing;
            }
            self.subscriptions.add_waiting(id, uri);
        }
        self.refresh_subscriptions(core, now);
    }
}

/// The subscription stream.
impl StatelessSession {
    pub(super) fn refresh_subscriptions(&mut self, core: &mut Core, now: Instant) {
        // A stream that reports on tasks must declare them.
        let common_meta = match core.desired.tasks.is_empty() {
            true => &self.common_meta,
            false => &self.common_meta_with_tasks,
        };
        let dropped = self
            .subscriptions
            .refresh(core, now, self.link, common_meta);
        for wire_id in dropped {
            self.cancel_stream(core, now, wire_id, "subscription changed");
        }
    }

    pub(super) fn reopen_subscription_stream(&mut self, core: &mut Core, now: Instant) {
        match self.subscriptions.take_unacknowledged() {
            Some(wire_id) => {
                self.subscriptions.schedule_reopen(core, now);
                self.cancel_stream(core, now, wire_id, "timeout");
            }
            None => self.refresh_subscriptions(core, now),
        }
    }

    pub(super) fn stream_acknowledged(
        &mut self,
        core: &mut Core,
        now: Instant,
        params: Option<&[u8]>,
    ) {
        let Ok(params) = decode::<SubscriptionsAcknowledgedParams>(params.unwrap_or(b"{}")) else {
            let size = params.map_or(0, <[u8]>::len);
            core.report_violation(Violation::InvalidNotification, size);
            return;
        };
        let meta = params.meta.as_ref();
        let id = meta.and_then(|meta| meta.subscription_id().ok().flatten());
        let Some(wire_id) = id.and_then(|id| id.as_u64()) else {
            core.report_violation(Violation::InvalidNotification, 0);
            return;
        };
        let granted = &params.notifications;
        let replaced = self.subscriptions.acknowledged(core, now, wire_id, granted);
        if let Some(old) = replaced {
            self.cancel_stream(core, now, old, "subscription changed");
        }
    }

    /// Handles the end of a stream. Returns whether `wire_id` is one.
    pub(super) fn stream_ended(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        error: Option<&ErrorObject>,
    ) -> bool {
        let known = self.subscriptions.contains(wire_id);
        self.subscriptions.ended(core, now, wire_id, error);
        known
    }

    pub(super) fn stream_failed(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        send_error: &SendError,
    ) {
        if let SendError::Status(status) = send_error
            && let Some(error) = status.response()
        {
            self.stream_ended(core, now, wire_id, Some(&error));
            return;
        }
        let outcome = match send_error {
            SendError::Busy(_) => None,
            SendError::Failed(cause) => Some(Outcome::Failed(Failure::NotDelivered(cause.clone()))),
            SendError::NoResponse(cause) => {
                Some(Outcome::Failed(Failure::ConnectionLost(cause.clone())))
            }
            SendError::Status(status) => Some(status.outcome()),
        };
        let outcome = outcome.as_ref();
        self.subscriptions.send_failed(core, now, wire_id, outcome);
    }

    /// Returns whether a change comes from a stream that we closed or never opened.
    pub(super) fn is_stale_change(&self, params: Option<&[u8]>) -> bool {
        let has_id =
            |params: &&[u8]| memmem::find(params, key::SUBSCRIPTION_ID.as_bytes()).is_some();
        let Some(params) = params.filter(has_id) else {
            return false;
        };
        // Any notification type will do: only `_meta` is read.
        let Ok(params) = decode::<InitializedParams>(params) else {
            return false;
        };
        let id = params
            .meta
            .and_then(|meta| meta.subscription_id().ok().flatten());
        let is_current = |wire_id| self.subscriptions.contains(wire_id);
        id.is_some_and(|id| !id.as_u64().is_some_and(is_current))
    }

    fn cancel_stream(&self, core: &mut Core, now: Instant, wire_id: u64, reason: &str) {
        core.send_cancel(now, self.link, self.rules, wire_id, reason);
    }
}

/// Returns the empty result of an operation that needs no request.
pub(super) fn empty_result() -> Outcome {
    Outcome::Result(Bytes::from_static(b"{}"))
}

/// Returns the `_meta` members that every request carries.
pub(super) fn common_meta(core: &Core, rules: &Rules, declares_tasks: bool) -> Vec<u8> {
    let mut capabilities = core.config.capabilities.clone();
    if declares_tasks {
        capabilities.declare_extension(task::EXTENSION_ID);
    }
    let mut identity = core.config.client_info.clone();
    capabilities.adapt(&rules.features);
    identity.adapt(&rules.features);
    let mut object = vec![b'{'];
    let version = rules.revision.as_str();
    push_member(
        &mut object,
        key::PROTOCOL_VERSION,
        format!("\"{version}\"").as_bytes(),
    );
    let parts = [
        (key::CLIENT_CAPABILITIES, serde_json::to_vec(&capabilities)),
        (key::CLIENT_INFO, serde_json::to_vec(&identity)),
    ];
    for (key, json) in parts {
        if let Ok(json) = json {
            push_member(&mut object, key, &json);
        }
    }
    if let Some(level) = &core.desired.log_level {
        push_member(
            &mut object,
            key::LOG_LEVEL,
            format!("\"{}\"", level.as_str()).as_bytes(),
        );
    }
    object.split_off(1)
}
