//! The builder of resource templates.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{ResourceTemplate, TemplateInner, UriPattern, Variables};
use crate::{
    proto::{
        model::{self, Annotations, CacheScope, Icon, Meta},
        server::CacheHint,
    },
    server::{
        Conversation, ServerContext,
        auth::scope,
        capability::{CapabilitySet, ClientCapability},
        completion::{Completers, CompletionContext, Completions},
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
    /// Sets the display name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.definition.title = Some(title.into());
        self
    }

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

    /// Adds an icon.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.spec.definition.icons.push(icon);
        self
    }

    /// Sets hints for the client.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.spec.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// Sets the `_meta` of the definition.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.spec.definition.meta = Some(meta);
        self
    }

    /// Adds capabilities that a client must have. For other clients the
    /// template is not listed, and they cannot read what matches it.
    pub fn requires(mut self, needs: impl IntoIterator<Item = ClientCapability>) -> Self {
        let needs: CapabilitySet = needs.into_iter().collect();
        self.spec.needs = self.spec.needs.union(needs);
        self
    }

    /// Adds a scope that the caller's token must have, over HTTP. Requests
    /// without it, and requests without any token, are rejected before anything
    /// runs, with a challenge that names all scopes the request needs. It has
    /// no effect where there are no tokens: on stdio and in memory.
    ///
    /// The template is listed for everyone, so clients can ask for more scopes.
    pub fn scope(mut self, scope: &str) -> Self {
        scope::push_unique(&mut self.spec.scopes, [scope]);
        self
    }

    /// Sets the limits of one read.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.spec.limits = limits;
        self
    }

    /// Sets how long clients may cache the contents, and who may share them.
    /// Defaults to the server's setting.
    pub fn cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.spec.cache_hint = Some(CacheHint { ttl, scope });
        self
    }

    /// Sets a function that completes a variable from the text typed so far.
    pub fn complete<F, W>(mut self, variable: &str, complete: F) -> Self
    where
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        self.spec.completers.add(variable, complete);
        self
    }

    /// Completes a variable with the values that begin with the text typed so
    /// far, ignoring case.
    pub fn complete_from<T: Into<String>>(
        mut self,
        variable: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.spec.completers.add_fixed(variable, values);
        self
    }
}

/// Finishing methods.
impl<S: 'static, V: DeserializeOwned + Send + 'static> ResourceTemplateBuilder<S, V> {
    /// Finishes the template with the handler that reads a URI with these
    /// variables. The handler may ask the user and models, and uses the
    /// application's state.
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
                          context: ServerContext| {
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
