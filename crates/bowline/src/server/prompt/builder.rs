//! Writing a prompt, step by step.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    Argument, Arguments, IntoPromptResult, Prompt, PromptInner, arguments::arguments_from_schema,
};
use crate::{
    proto::model::{self, Icon, Meta},
    server::{
        Conversation, ServerContext,
        auth::scope,
        capability::{CapabilitySet, ClientCapability},
        completion::{Completers, CompletionContext, Completions},
        error::{Error, Result},
        limits::CallLimits,
    },
};

/// A prompt in the making. `A` is what its handler is given;
/// [`get`](Self::get) finishes it.
#[must_use = "a draft is not a prompt yet"]
pub struct PromptBuilder<S, A> {
    spec: PromptSpec,
    typestate: PhantomData<fn(S) -> A>,
}

/// What a draft has gathered.
struct PromptSpec {
    definition: model::Prompt,
    needs: CapabilitySet,
    scopes: Vec<Box<str>>,
    limits: CallLimits,
    completers: Completers,
    problem: Option<String>,
}

impl<S: 'static> PromptBuilder<S, Arguments> {
    pub(super) fn new(name: String) -> Self {
        Self {
            spec: PromptSpec {
                definition: model::Prompt::new(name),
                needs: CapabilitySet::default(),
                scopes: Vec::new(),
                limits: CallLimits::default(),
                completers: Completers::default(),
                problem: None,
            },
            typestate: PhantomData,
        }
    }

    /// A blank to fill in; one more each time.
    pub fn argument(mut self, argument: Argument) -> Self {
        self.spec.definition.arguments.push(argument.definition);
        self
    }

    /// What can be filled in, as a struct: its fields, described by their
    /// comments and required unless they are options or have a default.
    /// Numbers and truth values are read from their texts.
    pub fn arguments<A: DeserializeOwned + JsonSchema + Send + 'static>(
        mut self,
    ) -> PromptBuilder<S, A> {
        match arguments_from_schema::<A>() {
            Ok(derived) => self.spec.definition.arguments.extend(derived),
            Err(why) => self.spec.problem = Some(why),
        }
        PromptBuilder {
            spec: self.spec,
            typestate: PhantomData,
        }
    }
}

/// What may be said of every prompt.
impl<S: 'static, A> PromptBuilder<S, A> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.definition.title = Some(title.into());
        self
    }

    /// What it is for.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.definition.description = Some(description.into());
        self
    }

    /// A picture to show; one more each time.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.spec.definition.icons.push(icon);
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.spec.definition.meta = Some(meta);
        self
    }

    /// What a client must be able to do. To others the prompt is not listed,
    /// and they cannot get it.
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

    /// How much getting it may do.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.spec.limits = limits;
        self
    }

    /// Proposes values for an argument, by what is typed so far.
    pub fn complete<F, W>(mut self, argument: &str, complete: F) -> Self
    where
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        self.spec.completers.add(argument, complete);
        self
    }

    /// Proposes those of these values that begin with what is typed so far,
    /// whatever its case.
    pub fn complete_from<T: Into<String>>(
        mut self,
        argument: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.spec.completers.add_fixed(argument, values);
        self
    }
}

/// How a prompt is finished.
impl<S: 'static, A: DeserializeOwned + Send + 'static> PromptBuilder<S, A> {
    /// Makes the messages. This may ask the user and models, and has the
    /// application's state at hand. Errors become error responses.
    pub fn get<M, F, W>(self, get: F) -> Prompt<S>
    where
        M: IntoPromptResult,
        F: Fn(A, Conversation<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<M>> + Send + 'static,
    {
        let spec = self.spec;
        let problem = spec.problem();
        let description = spec.definition.description.clone();
        Prompt {
            state: PhantomData,
            shared: Arc::new(PromptInner {
                definition: spec.definition,
                needs: spec.needs,
                scopes: spec.scopes,
                limits: spec.limits,
                completers: spec.completers,
                get: Arc::new(move |arguments: Arguments, context: ServerContext| {
                    let future = arguments
                        .read()
                        .map(|arguments| get(arguments, Conversation::new(context.for_state())));
                    let description = description.clone();
                    Box::pin(async move {
                        let future = future.map_err(Error::protocol)?;
                        let mut result = future.await?.into_result()?;
                        result.description = result.description.or(description);
                        Ok(result)
                    })
                }),
                problem,
            }),
        }
    }
}

impl PromptSpec {
    fn problem(&self) -> Option<String> {
        if self.problem.is_some() {
            return self.problem.clone();
        }
        if let Some(problem) = scope::first_problem(&self.scopes) {
            return Some(problem);
        }
        if self.definition.name.is_empty() {
            return Some("it has no name".to_owned());
        }
        let arguments = self.definition.arguments.iter();
        let mut names: Vec<&str> = arguments.map(|it| it.name.as_str()).collect();
        let unknown = self.completers.names().find(|name| !names.contains(name));
        if let Some(name) = unknown {
            return Some(format!("it completes {name:?}, and has no such argument"));
        }
        names.sort_unstable();
        let duplicate = names.windows(2).find(|pair| pair[0] == pair[1]);
        duplicate.map(|pair| format!("two of its arguments have the name {:?}", pair[0]))
    }
}

impl<S, A> fmt::Debug for PromptBuilder<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut builder = f.debug_struct("PromptBuilder");
        builder
            .field("name", &self.spec.definition.name)
            .finish_non_exhaustive()
    }
}
