//! A request on its way through the server, and its answer.

use std::{any::Any, borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::{
    proto::{
        jsonrpc::{ErrorObject, RequestId, decode_params},
        model::ResultObject,
        server::{Reply, RequestContext, encode_response, errors},
    },
    server::{
        auth::grant::Permissions,
        background::Caller,
        conversation::{ServerContext, client_channel::ClientChannel},
        error::Result as HandlerResult,
        schema::SharedBudget,
        serve::LatencyEstimate,
    },
    transport::BoxFuture,
};

/// A request of a client's that nobody has answered yet.
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Option<Bytes>,
    pub(crate) context: Box<RequestContext>,
    /// Whom the transport knows the caller to be.
    pub(crate) principal: Option<Arc<str>>,
    /// What the caller may do.
    pub(crate) permissions: Permissions,
    /// How much work it may be to check it, where it came with others. One that
    /// came alone has all of its own.
    pub(crate) validation_budget: Option<Arc<SharedBudget>>,
    pub(crate) origin: RequestOrigin,
}

/// Whom the work on a message counts for.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestOrigin {
    pub(crate) caller: Caller,
    /// What the transport counts for them, until the work has ended.
    pub(crate) quota_permit: Option<Arc<dyn Any + Send + Sync>>,
}

impl RequestOrigin {
    /// Somebody whose name may be known, for whom nothing is counted.
    pub(crate) fn from_principal(principal: Option<&Arc<str>>) -> Self {
        Self {
            caller: principal.into(),
            quota_permit: None,
        }
    }
}

/// What becomes of a request.
pub(crate) enum HandlerReply {
    /// It is answered.
    Ready(Reply),
    /// It takes work of the author's.
    Pending(BoxFuture<'static, Reply>),
}

/// A request that was taken in.
pub(crate) struct Dispatched {
    pub(crate) reply: HandlerReply,
    /// How long the work on it may take, where that is watched.
    pub(crate) latency: Option<Arc<LatencyEstimate>>,
}

impl From<HandlerReply> for Dispatched {
    fn from(reply: HandlerReply) -> Self {
        let latency = None;
        Self { reply, latency }
    }
}

/// Makes a voice for those who work on a request. Many never say anything, and
/// do without.
pub(crate) type OpenChannel<'a> = &'a mut dyn FnMut(&Request) -> ClientChannel;

/// What drivers need of a server, whatever its state is.
pub(crate) trait RequestHandler: Send + Sync {
    /// Takes a request in. Does no work of the author's by itself.
    fn dispatch(self: Arc<Self>, request: Request, open_channel: OpenChannel<'_>) -> Dispatched;

    /// As [`take`](Self::take), for drivers that do the work at once however
    /// long it takes.
    #[cfg(feature = "http-server")]
    fn dispatch_untimed(
        self: Arc<Self>,
        request: Request,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply {
        self.dispatch(request, open_channel).reply
    }

    /// Takes a notification in. Gives the author's work on it, if there is any.
    fn notify(&self, notification: IncomingNotification) -> Option<BoxFuture<'static, ()>>;

    /// The resources that a connection watches are others than before.
    fn subscriptions_changed(&self, changes: Vec<SubscriptionChange>);

    /// What the server is.
    #[cfg(feature = "http-server")]
    fn config(&self) -> &Arc<crate::proto::server::Config>;

    /// How connections are treated.
    #[cfg(feature = "http-server")]
    fn serve_options(&self) -> &crate::server::service::ServeOptions;

    /// Those that are open.
    #[cfg(feature = "http-server")]
    fn connections(&self) -> &crate::server::serve::Connections;

    /// What goes on although its caller left.
    #[cfg(feature = "http-server")]
    fn background(&self) -> &crate::server::background::BackgroundTasks;

    /// Whether there is a tool with arguments that HTTP requests repeat in
    /// headers.
    #[cfg(feature = "http-server")]
    fn has_param_headers(&self) -> bool;

    /// The arguments of a tool that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    fn param_headers(&self, tool: &str) -> Option<crate::proto::http::header::ParamHeaders>;

    /// What a request of this method takes that names this, for those who are
    /// not allowed to.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    fn insufficient_scopes(
        &self,
        method: &str,
        name: &str,
        permissions: &Permissions,
    ) -> Option<Vec<Box<str>>>;
}

/// Work whose errors are answers, too.
pub(crate) fn pending(
    work: impl Future<Output = Result<Reply, ErrorObject>> + Send + 'static,
) -> Dispatched {
    let work = async move { work.await.unwrap_or_else(Reply::Error) };
    HandlerReply::Pending(Box::pin(work)).into()
}

/// A notification of a client's.
pub(crate) struct IncomingNotification {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Option<Bytes>,
    /// Whom the transport knows the client to be.
    pub(crate) principal: Option<Arc<str>>,
    /// Held until the author has heard of it.
    pub(crate) _origin: RequestOrigin,
}

/// A resource that a connection watches from here on, or no longer.
pub(crate) struct SubscriptionChange {
    pub(crate) uri: Box<str>,
    pub(crate) is_subscribed: bool,
}

/// Work of an author's, whatever its types are.
pub(crate) type ErasedHandler<I, O> =
    Arc<dyn Fn(I, ServerContext) -> BoxFuture<'static, HandlerResult<O>> + Send + Sync>;

impl Request {
    /// Reads the params.
    ///
    /// # Errors
    ///
    /// Where they do not fit.
    pub(crate) fn parse_params<T: DeserializeOwned>(&self) -> Result<T, ErrorObject> {
        decode_params(self.params.as_deref())
            .map_err(|decode_error| errors::invalid_params(&decode_error))
    }

    /// Encodes the whole answer.
    pub(crate) fn encode_reply<R: ResultObject>(&self, result: R) -> Reply {
        encode_reply(&self.context, &self.id, result)
    }
}

pub(crate) fn encode_reply<R: ResultObject>(
    context: &RequestContext,
    id: &RequestId,
    result: R,
) -> Reply {
    match encode_response(context, id, result) {
        Ok(frame) => Reply::Response(frame),
        Err(error) => Reply::Error(errors::internal_error(&error.to_string())),
    }
}

/// The answer where the author's code panicked.
pub(crate) fn panic_reply() -> Reply {
    Reply::Error(errors::internal_error(
        "The server failed at this: its handler panicked",
    ))
}
