//! The builder of resource templates.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{ResourceTemplate, TemplateInner, UriPattern, Variables};
use crate::{
    proto::{
        model::{self, Annotations, CacheScope},
        server::CacheHint,
    },
    server::{
        Conversation, HandlerContext,
        auth::scope,
        builder_methods::{common_parts, completion_parts},
        capability::CapabilitySet,
        completion::Completers,
        error::Result,
        limits::CallLimits,
        resource::{IntoReadResult, RequestedResource},
    },
};

/// A builder for a [`ResourceTemplate`]. `V` is the type of variables that its
/// handler receives; [`read`](Self::read) finishes it.
#[must_use = "a builder is not a template until `read` is called"]
pub struct ResourceTemplateBuilder<S, V> {
    spec: TemplateSpec,
    typestate: PhantomData<fn(S) -> V>,
}

/// The parts of a template collected by its builder.
struct TemplateSpec {
    definition: model::ResourceTemplate,
    needs: CapabilitySet,
    scopes: Vec<Box<str>>,
    limits: CallLimits,
    cache_hint: Option<CacheHint>,
    completers: Completers,
}

impl<S: 'static> ResourceTemplateBuilder<S, Variables> {
    pub(super) fn new(uri_template: String, name: String) -> Self {
        Self {
            spec: TemplateSpec {
                definition: model::ResourceTemplate::new(uri_template, name),
                needs: CapabilitySet::default(),
                scopes: Vec::new(),
                limits: CallLimits::default(),
                cache_hint: None,
                completers: Completers::default(),
            },
            typestate: PhantomData,
        }
    }

    /// Passes the handler a struct with a field for each variable. Numbers and
    /// booleans are parsed from their strings; a URI whose variables do not
    /// match the struct is treated as a resource that does not exist.
    pub fn variables<V: DeserializeOwned + Send + 'static>(self) -> ResourceTemplateBuilder<S, V> {
        ResourceTemplateBuilder {
            spec: self.spec,
            typestate: PhantomData,
        }
    }
}

/// Optional parts.
impl<S: 'static, V> ResourceTemplateBuilder<S, V> {
    common_parts! {
        in spec,
        item: "template",
        request: "read",
        unavailable: "they cannot read what matches it",
    }
    completion_parts!("a variable");

    /// Sets the description, for the model.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.definition.description = Some(description.into());
        self
    }

    /// Sets the media type, if it is the same for all matching resources.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.spec.definition.mime_type = Some(mime_type.into());
        self
    }

    /// Sets hints for the client.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.spec.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// Sets how long clients may cache the contents, and who may share them.
    /// Defaults to the server's setting.
    pub fn cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.spec.cache_hint = Some(CacheHint { ttl, scope });
        self
    }
}

/// Finishing methods.
impl<S: 'static, V: DeserializeOwned + Send + 'static> ResourceTemplateBuilder<S, V> {
    /// Sets the handler, which reads the URI with these variables, and finishes the
    /// template. Through its [`Conversation`], the handler can ask the user and
    /// models, and use the application's state.
    ///
    /// Errors become error responses; `Ok(None)` means that the resource does
    /// not exist.
    pub fn read<C, F, W>(self, read: F) -> ResourceTemplate<S>
    where
        C: IntoReadResult,
        F: Fn(V, Conversation<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<C>> + Send + 'static,
    {
        let spec = self.spec;
        let pattern = UriPattern::parse(&spec.definition.uri_template);
        let problem = match &pattern {
            Ok(pattern) => spec.problem(pattern),
            Err(why) => Some(why.clone()),
        };
        ResourceTemplate {
            state: PhantomData,
            shared: Arc::new(TemplateInner {
                definition: spec.definition,
                pattern: pattern.unwrap_or_else(|_| UriPattern::match_nothing()),
                needs: spec.needs,
                scopes: spec.scopes,
                limits: spec.limits,
                cache_hint: spec.cache_hint,
                completers: spec.completers,
                read: Arc::new(
                    move |(requested, variables): (RequestedResource, Variables),
                          context: HandlerContext| {
                        let future = variables.read().map(|variables| {
                            read(variables, Conversation::new(context.for_state()))
                        });
                        Box::pin(async move {
                            let future = future.map_err(|_| requested.not_found())?;
                            future.await?.into_result(&requested)
                        })
                    },
                ),
                problem,
            }),
        }
    }
}

impl TemplateSpec {
    fn problem(&self, pattern: &UriPattern) -> Option<String> {
        let names: Vec<&str> = pattern.names().collect();
        let unknown = self.completers.names().find(|name| !names.contains(name));
        let unknown = unknown.map(|name| format!("it completes the unknown variable {name:?}"));
        unknown
            .or_else(|| crate::server::resource::uri_problem(&self.definition.uri_template))
            .or_else(|| scope::first_problem(&self.scopes))
    }
}

impl<S, V> fmt::Debug for ResourceTemplateBuilder<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut builder = f.debug_struct("ResourceTemplateBuilder");
        builder
            .field("uri_template", &self.spec.definition.uri_template)
            .finish_non_exhaustive()
    }
}
