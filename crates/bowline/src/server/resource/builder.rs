//! The builder of resources.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use super::{ContentPart, IntoReadResult, RequestedResource, Resource, ResourceInner};
use crate::{
    proto::{
        model::{self, Annotations, CacheScope, ReadResourceResult},
        server::CacheHint,
    },
    server::{
        Conversation, HandlerContext, auth::scope, builder_methods::common_parts,
        capability::CapabilitySet, dispatch::request::ErasedHandler, error::Result,
        limits::CallLimits,
    },
};

/// A builder for a [`Resource`]. [`text`](Self::text), [`bytes`](Self::bytes)
/// or [`read`](Self::read) finish it.
#[must_use = "a builder is not a resource until it has contents"]
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

    common_parts! {
        item: "resource",
        request: "read",
        unavailable: "they cannot read it",
    }

    /// Sets the description, for the model.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Sets the media type.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes. For fixed contents it is set automatically.
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }

    /// Sets hints for the client: the audience, the priority, the time of the
    /// last change.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// Sets how long clients may cache the contents, and who may share them.
    /// Defaults to the server's setting.
    pub fn cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache_hint = Some(CacheHint { ttl, scope });
        self
    }

    /// Finishes a resource with fixed text.
    pub fn text<S>(mut self, text: impl Into<String>) -> Resource<S> {
        let text = text.into();
        self.definition.size.get_or_insert(text.len() as u64);
        self.fixed(ContentPart::text(text))
    }

    /// Finishes a resource with fixed bytes.
    pub fn bytes<S>(mut self, bytes: impl AsRef<[u8]>) -> Resource<S> {
        let bytes = bytes.as_ref();
        self.definition.size.get_or_insert(bytes.len() as u64);
        self.fixed(ContentPart::bytes(bytes))
    }

    /// Finishes a resource with a handler that runs on every read. Through its
    /// [`Conversation`], the handler can ask the user and models, and use the
    /// application's state.
    ///
    /// Errors become error responses; `Ok(None)` means that the resource does
    /// not exist.
    pub fn read<S, C, F, W>(self, read: F) -> Resource<S>
    where
        S: 'static,
        C: IntoReadResult,
        F: Fn(Conversation<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<C>> + Send + 'static,
    {
        self.finish(Arc::new(
            move |requested: RequestedResource, context: HandlerContext| {
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

/// Returns what is wrong with a URI. It must begin with a scheme, by which
/// clients tell the kinds of URIs apart.
pub(crate) fn uri_problem(uri: &str) -> Option<String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let starts_with_letter = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_valid = starts_with_letter && scheme.bytes().all(rest);
    (!is_valid).then(|| "its URI must begin with a scheme, such as `file:`".to_owned())
}
