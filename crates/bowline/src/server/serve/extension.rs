//! Methods that are not in the protocol, and what clients say by themselves.

use std::{collections::BTreeMap, fmt, future::Future, sync::Arc};

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
        request::{Heard, Work, with_any_state},
    },
    transport::BoxFuture,
};

/// What a server does beyond the protocol.
pub(crate) struct Extensions<S> {
    methods: BTreeMap<Box<str>, Method<S>>,
    listeners: BTreeMap<Box<str>, Listener<S>>,
}

/// A method, whatever its types are.
pub(crate) type Method<S> = Work<S, Option<Bytes>, EmptyResult>;

/// Who hears of a notification.
type Listener<S> = Arc<dyn Fn(Notice<S>) -> BoxFuture<'static, ()> + Send + Sync>;

/// A notification of a client's.
///
/// Nobody waits for an answer, and there is nobody to complain to.
pub struct Notice<S = ()> {
    state: Arc<S>,
    heard: Heard,
}

impl<S> Notice<S> {
    /// The state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.state
    }

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

impl<S: Send + Sync + 'static> Extensions<S> {
    /// Adds a method. Says whether it is the first of that name.
    pub(crate) fn add_method<P, R, F, W>(&mut self, name: &str, work: F) -> bool
    where
        P: DeserializeOwned,
        R: Serialize + 'static,
        F: Fn(P, ServerContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R>> + Send + 'static,
    {
        let work: Method<S> = Arc::new(move |params: Option<Bytes>, cx| {
            let params = decode_params(params.as_deref());
            let doing = params.map(|params| work(params, cx));
            Box::pin(async move {
                let doing =
                    doing.map_err(|fault| Error::protocol(errors::invalid_params(&fault)))?;
                result_of(&doing.await?)
            })
        });
        self.methods.insert(name.into(), work).is_none()
    }

    pub(crate) fn add_listener<F, W>(&mut self, method: &str, listener: F)
    where
        F: Fn(Notice<S>) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener: Listener<S> = Arc::new(move |notice| Box::pin(listener(notice)));
        self.listeners.insert(method.into(), listener);
    }

    /// The author's work on a notification.
    pub(crate) fn hear(&self, heard: Heard, state: &Arc<S>) -> Option<BoxFuture<'static, ()>> {
        let listener = Arc::clone(self.listeners.get(&*heard.method)?);
        let state = Arc::clone(state);
        // The author's code runs with the future, where panics are contained.
        Some(Box::pin(
            async move { listener(Notice { state, heard }).await },
        ))
    }
}

impl<S> Extensions<S> {
    pub(crate) fn method(&self, name: &str) -> Option<&Method<S>> {
        self.methods.get(name)
    }

    /// All that the machine must let through.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Box<str>> {
        self.methods.keys().chain(self.listeners.keys())
    }
}

impl Extensions<()> {
    pub(crate) fn with_any_state<S: Send + Sync + 'static>(self) -> Extensions<S> {
        let methods = self.methods.into_iter();
        let listeners = self.listeners.into_iter();
        Extensions {
            methods: methods
                .map(|(name, work)| (name, with_any_state(work)))
                .collect(),
            listeners: listeners
                .map(|(name, listener)| (name, deaf_to_state(listener)))
                .collect(),
        }
    }
}

fn deaf_to_state<S: Send + Sync + 'static>(listener: Listener<()>) -> Listener<S> {
    Arc::new(move |notice: Notice<S>| {
        let state = Arc::new(());
        let heard = notice.heard;
        listener(Notice { state, heard })
    })
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

impl<S> Default for Extensions<S> {
    fn default() -> Self {
        Self {
            methods: BTreeMap::new(),
            listeners: BTreeMap::new(),
        }
    }
}

impl<S> fmt::Debug for Notice<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notice = f.debug_struct("Notice");
        notice
            .field("method", &self.method())
            .finish_non_exhaustive()
    }
}
