//! Opening and ending streams of changes.

use super::{
    Connection, Event, RequestContext, Telemetry, encode_response, errors,
    inbound::Arrival,
    listens::{Filter, Listen},
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
    /// Ends all streams of changes from our side: each with its result and, for
    /// clients that listen for it, a notice that the request is over.
    pub fn close_listens(&mut self, now: Instant) {
        while let Some((id, listen)) = self.listens.close_first() {
            self.end_listen(now, &id, &listen);
            self.watch_changed(listen.filter.uris, false);
        }
    }

    pub(super) fn listen(
        &mut self,
        arrival: &Arrival<'_>,
        context: RequestContext,
    ) -> Result<(), ErrorObject> {
        if self.listens.len() >= self.core.config.max_listens {
            return Err(errors::too_many("streams"));
        }
        let params: SubscriptionsListenParams =
            decode_params(arrival.params).map_err(|fault| errors::invalid_params(&fault))?;
        let declared = &self.core.config.capabilities;
        let filter = Filter::honour(&params.notifications, &context, declared);
        if filter.is_too_much(self.core.config.max_subscriptions) {
            return Err(errors::too_many("subscriptions"));
        }
        let mut acknowledged = SubscriptionsAcknowledgedParams::new(filter.to_wire());
        acknowledged.meta = Some(subscription_meta(arrival.id));
        let dialect = &context.rules.dialect;
        if !self.core.notify(None, dialect, acknowledged) {
            return Err(errors::too_many("subscriptions"));
        }
        let watched = filter.uris.clone();
        let listen = Listen {
            context,
            filter,
            started: arrival.now,
        };
        self.listens.open(arrival.id.clone(), listen);
        self.core.observe(|| Telemetry::ListenStart);
        self.watch_changed(watched, true);
        Ok(())
    }

    /// The client ends a stream: it hears nothing more of it.
    pub(super) fn listen_called_off(&mut self, now: Instant, id: &RequestId) {
        let Some(listen) = self.listens.close(id) else {
            return;
        };
        self.observe_listen_end(now, &listen);
        self.watch_changed(listen.filter.uris, false);
    }

    /// These are watched from here on, or no longer.
    pub(super) fn watch_changed(
        &mut self,
        uris: impl IntoIterator<Item = Box<str>>,
        is_watched: bool,
    ) {
        for uri in uris {
            self.core.event(Event::WatchChanged { uri, is_watched });
        }
    }

    fn end_listen(&mut self, now: Instant, id: &RequestId, listen: &Listen) {
        let result = SubscriptionsListenResult {
            meta: Some(subscription_meta(id)),
            ..SubscriptionsListenResult::default()
        };
        if let Ok(frame) = encode_response(&listen.context, id, result) {
            self.core.answer(None, frame);
        }
        let over = CancelledParams {
            request_id: Some(id.clone()),
            reason: Some("the server ends the subscription".to_owned()),
            ..CancelledParams::default()
        };
        self.core.notify(None, &listen.context.rules.dialect, over);
        self.observe_listen_end(now, listen);
    }

    fn observe_listen_end(&mut self, now: Instant, listen: &Listen) {
        let duration = now - listen.started;
        self.core.observe(|| Telemetry::ListenStop { duration });
    }
}

/// Says which stream a message belongs to: its request's id, as it came.
pub(super) fn subscription_meta(id: &RequestId) -> Meta {
    let mut meta = Meta::new();
    meta.set_subscription_id(id);
    meta
}
