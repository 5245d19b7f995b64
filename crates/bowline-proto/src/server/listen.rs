//! Opening and closing of subscription streams.

use super::{
    Connection, Event, RequestContext, TelemetryEvent, encode_response, errors,
    inbound::IncomingRequest,
    subscription_streams::{Filter, SubscriptionStream},
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, RequestId},
    model::{
        CancelledParams, Meta, SubscriptionsAcknowledgedParams, SubscriptionsListenParams,
        SubscriptionsListenResult, decode_params,
    },
};

impl Connection {
    /// Closes all subscription streams from our side: each with its result and,
    /// for clients that expect it, a notification that the request is over.
    pub fn close_subscription_streams(&mut self, now: Instant) {
        while let Some((id, stream)) = self.subscription_streams.close_first() {
            self.end_subscription_stream(now, &id, &stream);
            self.subscription_changed(stream.filter.uris, false);
        }
    }

    pub(super) fn open_subscription_stream(
        &mut self,
        incoming: &IncomingRequest<'_>,
        context: RequestContext,
    ) -> Result<(), ErrorObject> {
        if self.subscription_streams.len() >= self.core.config.max_subscription_streams {
            return Err(errors::too_many("streams"));
        }
        let params: SubscriptionsListenParams =
            decode_params(incoming.params).map_err(|error| errors::invalid_params(&error))?;
        let declared = &self.core.config.capabilities;
        let filter = Filter::from_request(&params.notifications, &context, declared);
        if filter.exceeds_limits(self.core.config.max_subscriptions) {
            return Err(errors::too_many("subscriptions"));
        }
        let mut acknowledged = SubscriptionsAcknowledgedParams::new(filter.to_wire());
        acknowledged.meta = Some(subscription_meta(incoming.id));
        let features = &context.rules.features;
        if !self.core.notify(None, features, acknowledged) {
            return Err(errors::too_many("subscriptions"));
        }
        let uris = filter.uris.clone();
        let stream = SubscriptionStream {
            context,
            filter,
            started: incoming.now,
        };
        self.subscription_streams.open(incoming.id.clone(), stream);
        self.core.observe(|| TelemetryEvent::ListenStart);
        self.subscription_changed(uris, true);
        Ok(())
    }

    /// Closes a stream that the client cancelled. Nothing more is sent on it.
    pub(super) fn subscription_stream_cancelled(&mut self, now: Instant, id: &RequestId) {
        let Some(stream) = self.subscription_streams.close(id) else {
            return;
        };
        self.observe_stream_end(now, &stream);
        self.subscription_changed(stream.filter.uris, false);
    }

    /// Notifies the host that subscriptions to these resources begin or end.
    pub(super) fn subscription_changed(
        &mut self,
        uris: impl IntoIterator<Item = Box<str>>,
        is_subscribed: bool,
    ) {
        for uri in uris {
            self.core
                .push_event(Event::SubscriptionChanged { uri, is_subscribed });
        }
    }

    fn end_subscription_stream(
        &mut self,
        now: Instant,
        id: &RequestId,
        stream: &SubscriptionStream,
    ) {
        let result = SubscriptionsListenResult {
            meta: Some(subscription_meta(id)),
            ..SubscriptionsListenResult::default()
        };
        if let Ok(frame) = encode_response(&stream.context, id, result) {
            self.core.send_response(None, frame);
        }
        let cancelled = CancelledParams {
            request_id: Some(id.clone()),
            reason: Some("the server closed the subscription".to_owned()),
            ..CancelledParams::default()
        };
        self.core
            .notify(None, &stream.context.rules.features, cancelled);
        self.observe_stream_end(now, stream);
    }

    fn observe_stream_end(&mut self, now: Instant, stream: &SubscriptionStream) {
        let duration = now - stream.started;
        self.core
            .observe(|| TelemetryEvent::ListenStop { duration });
    }
}

/// Builds the `_meta` that names a message's stream: the id of its request,
/// unchanged.
pub(super) fn subscription_meta(id: &RequestId) -> Meta {
    let mut meta = Meta::new();
    meta.set_subscription_id(id);
    meta
}
