//! Writing a prompt, step by step.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Argument, Arguments, Messages, Prompt, Shared, arguments::blanks_of};
use crate::{
    proto::model::{self, Icon, Meta},
    server::{
        Conversation, ServerContext,
        auth::scope,
        completion::{Completers, CompletionContext, Completions},
        error::{Error, Result},
        limits::Limits,
        needs::{Need, Needs},
    },
};

/// A prompt in the making. `A` is what its handler is given;
/// [`get`](Self::get) finishes it.
#[must_use = "a draft is not a prompt yet"]
pub struct Draft<S, A> {
    parts: Parts,
    stage: PhantomData<fn(S) -> A>,
}

/// What a draft has gathered.
struct Parts {
    definition: model::Prompt,
    needs: Needs,
    scopes: Vec<Box<str>>,
    limits: Limits,
    completers: Completers,
    problem: Option<String>,
}

impl<S: 'static> Draft<S, Arguments> {
    pub(super) fn new(name: String) -> Self {
        Self {
            parts: Parts {
                definition: model::Prompt::new(name),
                needs: Needs::default(),
                scopes: Vec::new(),
                limits: Limits::default(),
                completers: Completers::default(),
                problem: None,
            },
            stage: PhantomData,
        }
    }

    /// A blank to fill in; one more each time.
    pub fn argument(mut self, argument: Argument) -> Self {
        self.parts.definition.arguments.push(argument.definition);
        self
    }

    /// What can be filled in, as a struct: its fields, described by their
    /// comments and required unless they are options or have a default.
    /// Numbers and truth values are read from their texts.
    pub fn arguments<A: DeserializeOwned + JsonSchema + Send + 'static>(mut self) -> Draft<S, A> {
        match blanks_of::<A>() {
            Ok(blanks) => self.parts.definition.arguments.extend(blanks),
            Err(why) => self.parts.problem = Some(why),
        }
        Draft {
            parts: self.parts,
            stage: PhantomData,
        }
    }
}

/// What may be said of every prompt.
impl<S: 'static, A> Draft<S, A> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.parts.definition.title = Some(title.into());
        self
    }

    /// What it is for.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.parts.definition.description = Some(description.into());
        self
    }

    /// A picture to show; one more each time.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.parts.definition.icons.push(icon);
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.parts.definition.meta = Some(meta);
        self
    }

    /// What a client must be able to do. To others the prompt is not listed,
    /// and they cannot get it.
    pub fn requires(mut self, needs: impl IntoIterator<Item = Need>) -> Self {
        let needs: Needs = needs.into_iter().collect();
        self.parts.needs = self.parts.needs.union(needs);
        self
    }

    /// What a caller's token must allow, over HTTP; one more scope each time.
    /// Requests without it are refused before anything runs, with a challenge that
    /// names all scopes that it takes; so are those without any token. Where
    /// there are no tokens, on stdio and in memory, it means nothing.
    ///
    /// It is listed to everybody, so that clients can ask for more.
    pub fn scope(mut self, scope: &str) -> Self {
        scope::add(&mut self.parts.scopes, [scope]);
        self
    }

    /// How much getting it may do.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.parts.limits = limits;
        self
    }

    /// Proposes values for an argument, by what is typed so far.
    pub fn complete<F, W>(mut self, argument: &str, complete: F) -> Self
    where
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        self.parts.completers.add(argument, complete);
        self
    }

    /// Proposes those of these values that begin with what is typed so far,
    /// whatever its case.
    pub fn complete_from<T: Into<String>>(
        mut self,
        argument: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.parts.completers.add_fixed(argument, values);
        self
    }
}

/// How a prompt is finished.
impl<S: 'static, A: DeserializeOwned + Send + 'static> Draft<S, A> {
    /// Makes the messages. This may ask the user and models, and has the
    /// application's state at hand. Errors become error responses.
    pub fn get<M, F, W>(self, get: F) -> Prompt<S>
    where
        M: Messages,
        F: Fn(A, Conversation<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<M>> + Send + 'static,
    {
        let parts = self.parts;
        let problem = parts.problem();
        let description = parts.definition.description.clone();
        Prompt {
            state: PhantomData,
            shared: Arc::new(Shared {
                definition: parts.definition,
                needs: parts.needs,
                scopes: parts.scopes,
                limits: parts.limits,
                completers: parts.completers,
                get: Arc::new(move |arguments: Arguments, context: ServerContext| {
                    let getting = arguments
                        .read()
                        .map(|arguments| get(arguments, Conversation::new(context.for_state())));
                    let description = description.clone();
                    Box::pin(async move {
                        let getting = getting.map_err(Error::protocol)?;
                        let mut result = getting.await?.into_result()?;
                        result.description = result.description.or(description);
                        Ok(result)
                    })
                }),
                problem,
            }),
        }
    }
}

impl Parts {
    fn problem(&self) -> Option<String> {
        if self.problem.is_some() {
            return self.problem.clone();
        }
        if let Some(problem) = scope::problem_in(&self.scopes) {
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
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map(|pair| format!("two of its arguments have the name {:?}", pair[0]))
    }
}

impl<S, A> fmt::Debug for Draft<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut draft = f.debug_struct("Draft");
        draft
            .field("name", &self.parts.definition.name)
            .finish_non_exhaustive()
    }
}
