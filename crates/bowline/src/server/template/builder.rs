//! Writing a template, step by step.

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

/// A template in the making. `V` is what its handler is given;
/// [`read`](Self::read) finishes it.
#[must_use = "a draft is not a template yet"]
pub struct ResourceTemplateBuilder<S, V> {
    spec: TemplateSpec,
    typestate: PhantomData<fn(S) -> V>,
}

/// What a draft has gathered.
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

    /// Gives the handler a struct with a field for each variable. Numbers and
    /// truth values are read from their texts; a URI whose variables do not fit
    /// is one of a resource that does not exist.
    pub fn variables<V: DeserializeOwned + Send + 'static>(self) -> ResourceTemplateBuilder<S, V> {
        ResourceTemplateBuilder {
            spec: self.spec,
            typestate: PhantomData,
        }
    }
}

/// What may be said of every template.
impl<S: 'static, V> ResourceTemplateBuilder<S, V> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.definition.title = Some(title.into());
        self
    }

    /// What it is for, for the model.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.definition.description = Some(description.into());
        self
    }

    /// The media type, if all that match have the same.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.spec.definition.mime_type = Some(mime_type.into());
        self
    }

    /// A picture to show; one more each time.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.spec.definition.icons.push(icon);
        self
    }

    /// Hints for the client.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.spec.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.spec.definition.meta = Some(meta);
        self
    }

    /// What a client must be able to do. To others the template is not listed,
    /// and they cannot read what matches it.
    pub fn requires(mut self, needs: impl IntoIterator<Item = ClientCapability>) -> Self {
        let needs: CapabilitySet = needs.into_iter().collect();
        self.spec.needs = self.spec.needs.union(needs);
        self
    }

    /// What a caller's token must allow, over HTTP; one more scope each time.
    /// Requests without it are refused before anything runs, with a challenge that
    /// names all scopes that it takes; so are those without any token. Where
    /// there are no tokens, on stdio and in memory, it means nothing.
    ///
    /// It is listed to everybody, so that clients can ask for more.
    pub fn scope(mut self, scope: &str) -> Self {
        scope::push_unique(&mut self.spec.scopes, [scope]);
        self
    }

    /// How much reading may do.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.spec.limits = limits;
        self
    }

    /// How long clients may keep what they read, and who may share it; as the
    /// server says unless given.
    pub fn cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.spec.cache_hint = Some(CacheHint { ttl, scope });
        self
    }

    /// Proposes values for a variable, by what is typed so far.
    pub fn complete<F, W>(mut self, variable: &str, complete: F) -> Self
    where
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        self.spec.completers.add(variable, complete);
        self
    }

    /// Proposes those of these values that begin with what is typed so far,
    /// whatever its case.
    pub fn complete_from<T: Into<String>>(
        mut self,
        variable: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.spec.completers.add_fixed(variable, values);
        self
    }
}

/// How a template is finished.
impl<S: 'static, V: DeserializeOwned + Send + 'static> ResourceTemplateBuilder<S, V> {
    /// Reads what a URI with these variables stands for. Reading may ask the
    /// user and models, and has the application's state at hand.
    ///
    /// Errors become error responses; `Ok(None)` says that there is no such
    /// resource.
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
        let unknown =
            unknown.map(|name| format!("it completes {name:?}, and has no such variable"));
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
