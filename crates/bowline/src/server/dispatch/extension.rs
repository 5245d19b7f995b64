//! Methods that are not in the protocol, and notifications from clients.

use std::{collections::BTreeMap, fmt, future::Future, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use super::request::{ErasedHandler, IncomingNotification};
use crate::{
    proto::{
        model::{EmptyResult, ResultObject as _, decode_params},
        server::errors,
    },
    server::{
        HandlerContext,
        error::{Error, Result},
        state::{AnyState, downcast},
    },
    transport::BoxFuture,
};

/// The extension methods and notification listeners of a server.
#[derive(Default)]
pub(crate) struct Extensions {
    methods: BTreeMap<Box<str>, ExtensionMethod>,
    listeners: BTreeMap<Box<str>, NotificationListener>,
}

/// An extension method, with its types erased.
pub(crate) type ExtensionMethod = ErasedHandler<Option<Bytes>, EmptyResult>;

/// A listener for a notification, with its types erased.
type NotificationListener =
    Arc<dyn Fn(NotificationContext) -> BoxFuture<'static, ()> + Send + Sync>;

/// A notification from a client.
///
/// It has no response, so errors cannot be reported to the client.
pub struct NotificationContext<S = ()> {
    state: AnyState,
    notification: IncomingNotification,
    state_type: PhantomData<fn() -> S>,
}

impl NotificationContext {
    /// Returns the same context with the type of the state.
    fn for_state<S>(self) -> NotificationContext<S> {
        NotificationContext {
            state: self.state,
            notification: self.notification,
            state_type: PhantomData,
        }
    }
}

impl<S: 'static> NotificationContext<S> {
    /// Returns the state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        downcast(&self.state)
    }
}

impl<S> NotificationContext<S> {
    /// Returns the principal that the transport authenticated, if there is one.
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.notification.principal.as_deref()
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.notification.method
    }

    /// Deserializes the params; an empty object if there are none.
    ///
    /// # Errors
    ///
    /// Returns an error if they do not match the type.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(decode_params(self.notification.params.as_deref())?)
    }
}

impl Extensions {
    /// Adds a method. Returns whether it is the first with that name.
    pub(crate) fn add_method<S, P, R, F, W>(&mut self, name: &str, handler: F) -> bool
    where
        S: 'static,
        P: DeserializeOwned,
        R: Serialize + 'static,
        F: Fn(P, HandlerContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R>> + Send + 'static,
    {
        let handler: ExtensionMethod =
            Arc::new(move |params: Option<Bytes>, cx: HandlerContext| {
                let params = decode_params(params.as_deref());
                let future = params.map(|params| handler(params, cx.for_state()));
                Box::pin(async move {
                    let future =
                        future.map_err(|fault| Error::protocol(errors::invalid_params(&fault)))?;
                    into_empty_result(&future.await?)
                })
            });
        self.methods.insert(name.into(), handler).is_none()
    }

    pub(crate) fn add_listener<S, F, W>(&mut self, method: &str, listener: F)
    where
        S: 'static,
        F: Fn(NotificationContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener: NotificationListener =
            Arc::new(move |context: NotificationContext| Box::pin(listener(context.for_state())));
        self.listeners.insert(method.into(), listener);
    }

    /// Returns the author's work on a notification.
    pub(crate) fn notify(
        &self,
        notification: IncomingNotification,
        state: &AnyState,
    ) -> Option<BoxFuture<'static, ()>> {
        let listener = Arc::clone(self.listeners.get(&*notification.method)?);
        let state = Arc::clone(state);
        // The author's code runs with the future, where panics are caught.
        Some(Box::pin(async move {
            let typed = PhantomData;
            listener(NotificationContext {
                state,
                notification,
                state_type: typed,
            })
            .await;
        }))
    }

    pub(crate) fn method(&self, name: &str) -> Option<&ExtensionMethod> {
        self.methods.get(name)
    }

    /// Returns all names that the state machine must let through.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Box<str>> {
        self.methods.keys().chain(self.listeners.keys())
    }
}

/// Converts the return value of a method into a result; `null` becomes an empty
/// object.
fn into_empty_result<R: Serialize>(value: &R) -> Result<EmptyResult> {
    let json = serde_json::to_vec(value)?;
    if json == b"null" {
        return Ok(EmptyResult::default());
    }
    EmptyResult::decode(&json)
        .map_err(|fault| Error::internal(format_args!("The result must be an object: {fault}")))
}

impl<S> fmt::Debug for NotificationContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut context = f.debug_struct("NotificationContext");
        context
            .field("method", &self.method())
            .finish_non_exhaustive()
    }
}
