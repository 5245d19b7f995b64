//! Methods that are not in the protocol, and what clients say by themselves.

use std::{collections::BTreeMap, fmt, future::Future, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    proto::{
        model::{EmptyResult, ResultObject as _, decode_params},
        server::errors,
    },
    server::{
        ServerContext,
        error::{Error, Result},
        request::{Heard, Work},
        state::{AnyState, typed},
    },
    transport::BoxFuture,
};

/// What a server does beyond the protocol.
#[derive(Default)]
pub(crate) struct Extensions {
    methods: BTreeMap<Box<str>, Method>,
    listeners: BTreeMap<Box<str>, Listener>,
}

/// A method, whatever its types are.
pub(crate) type Method = Work<Option<Bytes>, EmptyResult>;

/// Who hears of a notification.
type Listener = Arc<dyn Fn(Notice) -> BoxFuture<'static, ()> + Send + Sync>;

/// A notification of a client's.
///
/// Nobody waits for an answer, and there is nobody to complain to.
pub struct Notice<S = ()> {
    state: AnyState,
    heard: Heard,
    typed: PhantomData<fn() -> S>,
}

impl Notice {
    /// The same, for who is made for servers with this state.
    fn for_state<S>(self) -> Notice<S> {
        Notice {
            state: self.state,
            heard: self.heard,
            typed: PhantomData,
        }
    }
}

impl<S: 'static> Notice<S> {
    /// The state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        typed(&self.state)
    }
}

impl<S> Notice<S> {
    /// Whom the transport knows the client to be, where it does.
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.heard.principal.as_deref()
    }

    /// Its method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.heard.method
    }

    /// Its parameters; an empty object where there are none.
    ///
    /// # Errors
    ///
    /// Where they do not fit.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(decode_params(self.heard.params.as_deref())?)
    }
}

impl Extensions {
    /// Adds a method. Says whether it is the first of that name.
    pub(crate) fn add_method<S, P, R, F, W>(&mut self, name: &str, work: F) -> bool
    where
        S: 'static,
        P: DeserializeOwned,
        R: Serialize + 'static,
        F: Fn(P, ServerContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R>> + Send + 'static,
    {
        let work: Method = Arc::new(move |params: Option<Bytes>, cx: ServerContext| {
            let params = decode_params(params.as_deref());
            let doing = params.map(|params| work(params, cx.for_state()));
            Box::pin(async move {
                let doing =
                    doing.map_err(|fault| Error::protocol(errors::invalid_params(&fault)))?;
                result_of(&doing.await?)
            })
        });
        self.methods.insert(name.into(), work).is_none()
    }

    pub(crate) fn add_listener<S, F, W>(&mut self, method: &str, listener: F)
    where
        S: 'static,
        F: Fn(Notice<S>) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener: Listener =
            Arc::new(move |notice: Notice| Box::pin(listener(notice.for_state())));
        self.listeners.insert(method.into(), listener);
    }

    /// The author's work on a notification.
    pub(crate) fn hear(&self, heard: Heard, state: &AnyState) -> Option<BoxFuture<'static, ()>> {
        let listener = Arc::clone(self.listeners.get(&*heard.method)?);
        let state = Arc::clone(state);
        // The author's code runs with the future, where panics are contained.
        Some(Box::pin(async move {
            let typed = PhantomData;
            listener(Notice {
                state,
                heard,
                typed,
            })
            .await;
        }))
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.methods.get(name)
    }

    /// All that the machine must let through.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Box<str>> {
        self.methods.keys().chain(self.listeners.keys())
    }
}

/// What a method returns, as a result; nothing at all is an empty one.
fn result_of<R: Serialize>(value: &R) -> Result<EmptyResult> {
    let json = serde_json::to_vec(value)?;
    if json == b"null" {
        return Ok(EmptyResult::default());
    }
    EmptyResult::decode(&json)
        .map_err(|fault| Error::internal(format_args!("The result must be an object: {fault}")))
}

impl<S> fmt::Debug for Notice<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notice = f.debug_struct("Notice");
        notice
            .field("method", &self.method())
            .finish_non_exhaustive()
    }
}
