//! Requests and their replies.

use std::{any::Any, borrow::Cow, sync::Arc};

use bowline_schema::Budget;
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::{
    proto::{
        jsonrpc::{ErrorObject, RequestId, decode_params},
        model::ResultObject,
        server::{Reply, RequestContext, RequestParams, encode_response, errors},
    },
    server::{
        auth::permissions::Permissions,
        background::Caller,
        conversation::{HandlerContext, client_channel::ClientChannel},
        error::Result as HandlerResult,
        serve::LatencyEstimate,
    },
    transport::BoxFuture,
};

/// A request of a client that is not answered yet.
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Option<RequestParams>,
    pub(crate) context: Box<RequestContext>,
    /// The principal that the transport authenticated.
    pub(crate) principal: Option<Arc<str>>,
    /// The caller's permissions.
    pub(crate) permissions: Permissions,
    /// The remaining budget for checking schemas, if the request is part of a
    /// batch. A single request has a full budget.
    pub(crate) validation_budget: Option<Arc<Budget>>,
    pub(crate) origin: RequestOrigin,
}

/// The client that the work on a message is charged to.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestOrigin {
    pub(crate) caller: Caller,
    /// The transport's quota permit, held until the work has ended.
    pub(crate) quota_permit: Option<Arc<dyn Any + Send + Sync>>,
}

impl RequestOrigin {
    /// Returns an origin for which nothing is charged.
    pub(crate) fn from_principal(principal: Option<&Arc<str>>) -> Self {
        Self {
            caller: principal.into(),
            quota_permit: None,
        }
    }
}

/// The handler's reply to a request.
pub(crate) enum HandlerReply {
    /// The reply is available.
    Ready(Reply),
    /// The reply needs the author's code to run.
    Pending(BoxFuture<'static, Reply>),
}

/// A dispatched request.
pub(crate) struct Dispatched {
    pub(crate) reply: HandlerReply,
    /// The estimate of how long the work takes, if it is measured.
    pub(crate) latency: Option<Arc<LatencyEstimate>>,
}

impl From<HandlerReply> for Dispatched {
    fn from(reply: HandlerReply) -> Self {
        let latency = None;
        Self { reply, latency }
    }
}

/// Opens the channel back to the client for a handler. Many handlers never use
/// one.
pub(crate) type OpenChannel<'a> = &'a mut dyn FnMut(&Request) -> ClientChannel;

/// The interface of a server for drivers, independent of its state type.
pub(crate) trait RequestHandler: Send + Sync {
    /// Dispatches a request. Does not run any of the author's code itself.
    fn dispatch(self: Arc<Self>, request: Request, open_channel: OpenChannel<'_>) -> Dispatched;

    /// Dispatches a request for drivers that run the work immediately, however
    /// long it takes; see [`dispatch`](Self::dispatch).
    #[cfg(feature = "http-server")]
    fn dispatch_untimed(
        self: Arc<Self>,
        request: Request,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply {
        self.dispatch(request, open_channel).reply
    }

    /// Dispatches a notification. Returns the author's work on it, if there is
    /// any.
    fn notify(&self, notification: IncomingNotification) -> Option<BoxFuture<'static, ()>>;

    /// Reports that a connection has subscribed to resources or unsubscribed
    /// from them.
    fn subscriptions_changed(&self, changes: Vec<SubscriptionChange>);

    /// Returns the protocol configuration of the server.
    #[cfg(feature = "http-server")]
    fn config(&self) -> &Arc<crate::proto::server::Config>;

    /// Returns the keys that seal what leaves the process.
    #[cfg(feature = "http-server")]
    fn seal_keys(&self) -> &crate::server::seal::SealKeys;

    /// Returns the settings of connections.
    #[cfg(feature = "http-server")]
    fn serve_options(&self) -> &crate::server::service::ServeOptions;

    /// Returns the open connections.
    #[cfg(feature = "http-server")]
    fn connections(&self) -> &crate::server::serve::Connections;

    /// Returns the stores that nodes share, if there are any.
    #[cfg(feature = "http-server")]
    fn stores(&self) -> Option<&crate::server::store::Stores>;

    /// Starts what runs beside the requests.
    #[cfg(feature = "http-server")]
    fn start(self: Arc<Self>);

    /// Ends what runs beside the requests, up to the deadline.
    #[cfg(feature = "http-server")]
    fn shut_down(&self, deadline: tokio::time::Instant) -> BoxFuture<'_, ()>;

    /// Returns the tasks that continue after their caller has left.
    #[cfg(feature = "http-server")]
    fn background(&self) -> &crate::server::background::BackgroundTasks;

    /// Returns whether a tool has arguments that HTTP requests repeat in
    /// headers.
    #[cfg(feature = "http-server")]
    fn has_param_headers(&self) -> bool;

    /// Returns the arguments of a tool that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    fn param_headers(&self, tool: &str) -> Option<crate::proto::http::header::ParamHeaders>;

    /// Returns the scopes that a request of this method for this item needs, if
    /// the caller lacks any.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    fn insufficient_scopes(
        &self,
        method: &str,
        name: &str,
        permissions: &Permissions,
    ) -> Option<Vec<Box<str>>>;
}

/// Returns a pending reply whose errors become error responses.
pub(crate) fn pending(
    work: impl Future<Output = Result<Reply, ErrorObject>> + Send + 'static,
) -> Dispatched {
    let work = async move { work.await.unwrap_or_else(Reply::Error) };
    HandlerReply::Pending(Box::pin(work)).into()
}

/// A notification from a client.
pub(crate) struct IncomingNotification {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Option<Bytes>,
    /// The principal that the transport authenticated.
    pub(crate) principal: Option<Arc<str>>,
    /// Held until the author's code has run.
    pub(crate) _origin: RequestOrigin,
}

/// A resource that a connection has subscribed to, or unsubscribed from.
pub(crate) struct SubscriptionChange {
    pub(crate) uri: Box<str>,
    pub(crate) is_subscribed: bool,
}

/// A handler with its types erased.
pub(crate) type ErasedHandler<I, O> =
    Arc<dyn Fn(I, HandlerContext) -> BoxFuture<'static, HandlerResult<O>> + Send + Sync>;

impl Request {
    /// Parses the params.
    ///
    /// # Errors
    ///
    /// Returns an error if they do not match.
    pub(crate) fn parse_params<T: DeserializeOwned>(&self) -> Result<T, ErrorObject> {
        decode_params(self.params.as_deref())
            .map_err(|decode_error| errors::invalid_params(&decode_error))
    }

    /// Encodes the result as a reply.
    pub(crate) fn encode_reply<R: ResultObject>(&self, result: R) -> Reply {
        match encode_response(&self.context, &self.id, result) {
            Ok(frame) => Reply::Response(frame),
            Err(error) => Reply::Error(errors::internal_error(&error.to_string())),
        }
    }
}

/// Returns the reply for a handler that panicked.
pub(crate) fn panic_reply() -> Reply {
    Reply::Error(errors::internal_error(
        "Internal error: the handler panicked",
    ))
}
