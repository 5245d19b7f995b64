//! The builder of prompts.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    Argument, Arguments, IntoPromptResult, Prompt, PromptInner, arguments::arguments_from_schema,
};
use crate::{
    proto::model,
    server::{
        Conversation, HandlerContext,
        auth::scope,
        builder_methods::{common_parts, completion_parts},
        capability::CapabilitySet,
        completion::Completers,
        error::{Error, Result},
        limits::CallLimits,
    },
};

/// A builder for a [`Prompt`]. `A` is the type of arguments that its handler
/// receives; [`get`](Self::get) finishes it.
#[must_use = "a builder is not a prompt until `get` is called"]
pub struct PromptBuilder<S, A> {
    spec: PromptSpec,
    typestate: PhantomData<fn(S) -> A>,
}

/// The parts of a prompt collected by its builder.
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

    /// Adds an argument.
    pub fn argument(mut self, argument: Argument) -> Self {
        self.spec.definition.arguments.push(argument.definition);
        self
    }

    /// Declares the arguments as the fields of a struct. Doc comments on the fields
    /// describe them. A field is required unless it is an `Option` or has a default.
    /// Clients send strings; numbers and booleans are parsed from them.
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

/// Optional parts.
impl<S: 'static, A> PromptBuilder<S, A> {
    common_parts! {
        in spec,
        item: "prompt",
        request: "request",
        unavailable: "they cannot get it",
    }
    completion_parts!("an argument");

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.definition.description = Some(description.into());
        self
    }
}

/// Finishing methods.
impl<S: 'static, A: DeserializeOwned + Send + 'static> PromptBuilder<S, A> {
    /// Sets the handler, which returns the messages, and finishes the prompt. Through
    /// its [`Conversation`], the handler can ask the user and models, and use the
    /// application's state. Errors become error responses.
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
                get: Arc::new(move |arguments: Arguments, context: HandlerContext| {
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
            return Some(format!("it completes the unknown argument {name:?}"));
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
