//! A request on its way through the server, and its answer.

use std::{any::Any, borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::{
    auth::grant::Granted,
    background::Caller,
    error::Result as HandlerResult,
    schema::Allowance,
    serve::Pace,
    talk::{ServerContext, voice::Voice},
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RequestId, decode_params},
        model::ResultObject,
        server::{Reply, RequestContext, encode_response, errors},
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
    pub(crate) granted: Granted,
    /// How much work it may be to check it, where it came with others. One that
    /// came alone has all of its own.
    pub(crate) allowance: Option<Arc<Allowance>>,
    pub(crate) sender: SentBy,
}

/// Whom the work on a message counts for.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentBy {
    pub(crate) caller: Caller,
    /// What the transport counts for them, until the work has ended.
    pub(crate) charge: Option<Arc<dyn Any + Send + Sync>>,
}

impl SentBy {
    /// Somebody whose name may be known, for whom nothing is counted.
    pub(crate) fn named(principal: Option<&Arc<str>>) -> Self {
        Self {
            caller: principal.into(),
            charge: None,
        }
    }
}

/// What becomes of a request.
pub(crate) enum Handled {
    /// It is answered.
    Now(Reply),
    /// It takes work of the author's.
    Later(BoxFuture<'static, Reply>),
}

/// A request that was taken in.
pub(crate) struct Taken {
    pub(crate) handled: Handled,
    /// How long the work on it may take, where that is watched.
    pub(crate) pace: Option<Arc<Pace>>,
}

impl From<Handled> for Taken {
    fn from(handled: Handled) -> Self {
        let pace = None;
        Self { handled, pace }
    }
}

/// Makes a voice for those who work on a request. Many never say anything, and
/// do without.
pub(crate) type Voices<'a> = &'a mut dyn FnMut(&Request) -> Voice;

/// What drivers need of a server, whatever its state is.
pub(crate) trait Handle: Send + Sync {
    /// Takes a request in. Does no work of the author's by itself.
    fn take(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Taken;

    /// As [`take`](Self::take), for drivers that do the work at once however
    /// long it takes.
    #[cfg(feature = "http-server")]
    fn handle(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Handled {
        self.take(request, voice).handled
    }

    /// Takes a notification in. Gives the author's work on it, if there is any.
    fn hear(&self, notification: Heard) -> Option<BoxFuture<'static, ()>>;

    /// The resources that a connection watches are others than before.
    fn watch_changed(&self, changes: Vec<WatchChange>);

    /// What the server is.
    #[cfg(feature = "http-server")]
    fn config(&self) -> &Arc<crate::proto::server::Config>;

    /// How connections are treated.
    #[cfg(feature = "http-server")]
    fn serving(&self) -> &super::service::Serving;

    /// Those that are open.
    #[cfg(feature = "http-server")]
    fn connections(&self) -> &super::serve::Connections;

    /// What goes on although its caller left.
    #[cfg(feature = "http-server")]
    fn background(&self) -> &super::background::Background;

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
    fn refused_scopes(&self, method: &str, name: &str, granted: &Granted) -> Option<Vec<Box<str>>>;
}

/// Work whose errors are answers, too.
pub(crate) fn later(
    work: impl Future<Output = Result<Reply, ErrorObject>> + Send + 'static,
) -> Taken {
    let work = async move { work.await.unwrap_or_else(Reply::Error) };
    Handled::Later(Box::pin(work)).into()
}

/// A notification of a client's.
pub(crate) struct Heard {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Option<Bytes>,
    /// Whom the transport knows the client to be.
    pub(crate) principal: Option<Arc<str>>,
    /// Held until the author has heard of it.
    pub(crate) _sender: SentBy,
}

/// A resource that a connection watches from here on, or no longer.
pub(crate) struct WatchChange {
    pub(crate) uri: Box<str>,
    pub(crate) is_watched: bool,
}

/// Work of an author's, whatever its types are.
pub(crate) type Work<I, O> =
    Arc<dyn Fn(I, ServerContext) -> BoxFuture<'static, HandlerResult<O>> + Send + Sync>;

impl Request {
    /// Reads the params.
    ///
    /// # Errors
    ///
    /// Where they do not fit.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ErrorObject> {
        decode_params(self.params.as_deref()).map_err(|fault| errors::invalid_params(&fault))
    }

    /// Encodes the whole answer.
    pub(crate) fn answer<R: ResultObject>(&self, result: R) -> Reply {
        answer(&self.context, &self.id, result)
    }
}

pub(crate) fn answer<R: ResultObject>(
    context: &RequestContext,
    id: &RequestId,
    result: R,
) -> Reply {
    match encode_response(context, id, result) {
        Ok(frame) => Reply::Response(frame),
        Err(error) => Reply::Error(errors::internal(&error.to_string())),
    }
}

/// The answer where the author's code panicked.
pub(crate) fn panicked() -> Reply {
    Reply::Error(errors::internal(
        "The server failed at this: its handler panicked",
    ))
}
