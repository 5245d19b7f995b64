//! Writing a resource, step by step.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use super::{ContentPart, IntoReadResult, RequestedResource, Resource, ResourceInner};
use crate::{
    proto::{
        model::{self, Annotations, CacheScope, Icon, Meta, ReadResourceResult},
        server::CacheHint,
    },
    server::{
        Conversation, ServerContext,
        auth::scope,
        capability::{CapabilitySet, ClientCapability},
        dispatch::request::ErasedHandler,
        error::Result,
        limits::CallLimits,
    },
};

/// A resource in the making. [`text`](Self::text), [`bytes`](Self::bytes) or
/// [`read`](Self::read) finish it.
#[must_use = "a draft is not a resource yet"]
#[derive(Debug)]
pub struct ResourceBuilder {
    definition: model::Resource,
    needs: CapabilitySet,
    scopes: Vec<Box<str>>,
    limits: CallLimits,
    cache_hint: Option<CacheHint>,
}

impl ResourceBuilder {
    pub(super) fn new(uri: String, name: String) -> Self {
        Self {
            definition: model::Resource::new(uri, name),
            needs: CapabilitySet::default(),
            scopes: Vec::new(),
            limits: CallLimits::default(),
            cache_hint: None,
        }
    }

    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is, for the model.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Its media type.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// Its size in bytes. That of fixed contents is known.
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }

    /// A picture to show; one more each time.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.push(icon);
        self
    }

    /// Hints for the client: for whom it is, how much it matters, when it
    /// changed.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.definition.meta = Some(meta);
        self
    }

    /// What a client must be able to do. To others the resource is not listed,
    /// and they cannot read it.
    pub fn requires(mut self, needs: impl IntoIterator<Item = ClientCapability>) -> Self {
        let needs: CapabilitySet = needs.into_iter().collect();
        self.needs = self.needs.union(needs);
        self
    }

    /// What a caller's token must allow, over HTTP; one more scope each time.
    /// Requests without it are refused before anything runs, with a challenge that
    /// names all scopes that it takes; so are those without any token. Where
    /// there are no tokens, on stdio and in memory, it means nothing.
    ///
    /// It is listed to everybody, so that clients can ask for more.
    pub fn scope(mut self, scope: &str) -> Self {
        scope::push_unique(&mut self.scopes, [scope]);
        self
    }

    /// How much reading it may do.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How long clients may keep what they read, and who may share it; as the
    /// server says unless given.
    pub fn cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache_hint = Some(CacheHint { ttl, scope });
        self
    }

    /// Always the same text.
    pub fn text<S>(mut self, text: impl Into<String>) -> Resource<S> {
        let text = text.into();
        self.definition.size.get_or_insert(text.len() as u64);
        self.fixed(ContentPart::text(text))
    }

    /// Always the same bytes.
    pub fn bytes<S>(mut self, bytes: impl AsRef<[u8]>) -> Resource<S> {
        let bytes = bytes.as_ref();
        self.definition.size.get_or_insert(bytes.len() as u64);
        self.fixed(ContentPart::bytes(bytes))
    }

    /// Read anew each time. Reading may ask the user and models, and has the
    /// application's state at hand.
    ///
    /// Errors become error responses; `Ok(None)` says that there is no such
    /// resource.
    pub fn read<S, C, F, W>(self, read: F) -> Resource<S>
    where
        S: 'static,
        C: IntoReadResult,
        F: Fn(Conversation<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<C>> + Send + 'static,
    {
        self.finish(Arc::new(
            move |requested: RequestedResource, context: ServerContext| {
                let reading = read(Conversation::new(context.for_state()));
                Box::pin(async move { reading.await?.into_result(&requested) })
            },
        ))
    }

    fn fixed<S>(self, part: ContentPart) -> Resource<S> {
        self.finish(Arc::new(move |requested, _| {
            let part = part.clone();
            Box::pin(async move { part.into_result(&requested) })
        }))
    }

    fn finish<S>(self, read: ErasedHandler<RequestedResource, ReadResourceResult>) -> Resource<S> {
        let problem =
            uri_problem(&self.definition.uri).or_else(|| scope::first_problem(&self.scopes));
        Resource {
            state: PhantomData,
            shared: Arc::new(ResourceInner {
                definition: self.definition,
                needs: self.needs,
                scopes: self.scopes,
                limits: self.limits,
                cache_hint: self.cache_hint,
                read,
                problem,
            }),
        }
    }
}

/// URIs begin with a scheme: clients tell the servers' worlds apart by it.
pub(crate) fn uri_problem(uri: &str) -> Option<String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let starts_with_letter = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_valid = starts_with_letter && scheme.bytes().all(rest);
    (!is_valid).then(|| "its URI must begin with a scheme, such as `file:`".to_owned())
}
