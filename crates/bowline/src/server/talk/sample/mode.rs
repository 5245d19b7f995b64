//! What models are asked for: text, a value that fits a schema, calls of tools.

use std::{
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Sample, Sampled, Structured, ToolCalls, schema::Schema, tools::Toolbox};
use crate::{
    proto::model::{Tool, ToolChoice, ToolChoiceMode},
    server::error::Result,
};

/// A model is asked for text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ForText;

/// A model is asked for a value of this type.
#[derive(Clone, Copy, Debug)]
pub struct ForValue<T>(PhantomData<fn() -> T>);

impl<T> Default for ForValue<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// A model is asked for calls of tools.
#[derive(Clone, Debug)]
pub struct ForCalls {
    tools: Vec<Tool>,
    choice: ToolChoiceMode,
}

impl ForCalls {
    pub(super) fn of(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            choice: ToolChoiceMode::Required,
        }
    }
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl<'a> IntoFuture for Sample<'a> {
    type Output = Result<Sampled>;
    type IntoFuture = Answer<'a, Sampled>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let params = self.query.params()?;
            let sampled = self.query.send(params, 1).await?;
            self.query.remember(&sampled);
            Ok(sampled)
        })
    }
}

impl<T> Sample<'_, ForValue<T>> {
    /// How often the model is asked: 3 times unless given.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.query.set_attempts(attempts);
        self
    }
}

impl<'a, T: JsonSchema + DeserializeOwned + 'a> IntoFuture for Sample<'a, ForValue<T>> {
    type Output = Result<Structured<T>>;
    type IntoFuture = Answer<'a, Structured<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let query = &self.query;
            let takes_tools = query.call.context.client.capabilities.has("sampling.tools");
            let schema = Schema::<T>::of(takes_tools)?;
            let mut params = query.params()?;
            schema.ask_for(&mut params);
            let asked = query.corrected(params, |sampled| schema.read(sampled));
            let (value, sampled) = asked.await?;
            let sampled = sampled.acknowledged();
            query.remember(&sampled);
            Ok(Structured { value, sampled })
        })
    }
}

impl Sample<'_, ForCalls> {
    /// How often the model is asked: 3 times unless given.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.query.set_attempts(attempts);
        self
    }

    /// Whether the client is told that the model must call a tool, which it is
    /// unless given. An answer without a call does not fit in any case.
    pub fn tool_choice(mut self, choice: ToolChoiceMode) -> Self {
        self.mode.choice = choice;
        self
    }
}

impl<'a> IntoFuture for Sample<'a, ForCalls> {
    type Output = Result<ToolCalls>;
    type IntoFuture = Answer<'a, ToolCalls>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let ForCalls { tools, choice } = self.mode;
            let toolbox = Toolbox::new(&tools)?;
            let mut params = self.query.params()?;
            params.tools = Some(tools);
            let mut wanted = ToolChoice::default();
            wanted.mode = Some(choice);
            params.tool_choice = Some(wanted);
            let asked = self
                .query
                .corrected(params, |sampled| toolbox.read(sampled));
            let (calls, sampled) = asked.await?;
            self.query.remember(&sampled);
            Ok(ToolCalls { calls, sampled })
        })
    }
}
