//! Sampling modes: text, a value that matches a schema, or tool calls.

use std::{
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    Sample, Sampled, StructuredSample, ToolCalls, schema::ResponseSchema, tools::ToolValidators,
};
use crate::{
    proto::model::{Tool, ToolChoice, ToolChoiceMode},
    server::error::Result,
};

/// Samples text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SampleText;

/// Samples a value of this type.
#[derive(Clone, Copy, Debug)]
pub struct SampleValue<T>(PhantomData<fn() -> T>);

impl<T> Default for SampleValue<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// Samples tool calls.
#[derive(Clone, Debug)]
pub struct SampleToolCalls {
    tools: Vec<Tool>,
    choice: ToolChoiceMode,
}

impl SampleToolCalls {
    pub(super) fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            choice: ToolChoiceMode::Required,
        }
    }
}

type SampleFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl<'a> IntoFuture for Sample<'a> {
    type Output = Result<Sampled>;
    type IntoFuture = SampleFuture<'a, Sampled>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let params = self.query.params()?;
            let sampled = self.query.send(params, 1).await?;
            self.query.record(&sampled);
            Ok(sampled)
        })
    }
}

impl<T> Sample<'_, SampleValue<T>> {
    /// Sets the maximum number of attempts to get a valid answer. The default is 3.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.query.set_max_attempts(attempts);
        self
    }
}

impl<'a, T: JsonSchema + DeserializeOwned + 'a> IntoFuture for Sample<'a, SampleValue<T>> {
    type Output = Result<StructuredSample<T>>;
    type IntoFuture = SampleFuture<'a, StructuredSample<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let query = &self.query;
            let supports_tools = query
                .invocation
                .request
                .context
                .client
                .capabilities
                .has("sampling.tools");
            let schema = ResponseSchema::<T>::new(supports_tools)?;
            let mut params = query.params()?;
            schema.apply_to(&mut params);
            let response = query.send_with_retries(params, |sampled| schema.read(sampled));
            let (value, sampled) = response.await?;
            let sampled = sampled.acknowledged();
            query.record(&sampled);
            Ok(StructuredSample { value, sampled })
        })
    }
}

impl Sample<'_, SampleToolCalls> {
    /// Sets the maximum number of attempts to get a valid answer. The default is 3.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.query.set_max_attempts(attempts);
        self
    }

    /// Sets the tool choice sent to the client. By default the model must call
    /// a tool. An answer without a call is invalid in any case.
    pub fn tool_choice(mut self, choice: ToolChoiceMode) -> Self {
        self.mode.choice = choice;
        self
    }
}

impl<'a> IntoFuture for Sample<'a, SampleToolCalls> {
    type Output = Result<ToolCalls>;
    type IntoFuture = SampleFuture<'a, ToolCalls>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let SampleToolCalls { tools, choice } = self.mode;
            let validators = ToolValidators::new(&tools)?;
            let mut params = self.query.params()?;
            params.tools = Some(tools);
            let mut tool_choice = ToolChoice::default();
            tool_choice.mode = Some(choice);
            params.tool_choice = Some(tool_choice);
            let response = self
                .query
                .send_with_retries(params, |sampled| validators.read(sampled));
            let (calls, sampled) = response.await?;
            self.query.record(&sampled);
            Ok(ToolCalls { calls, sampled })
        })
    }
}
