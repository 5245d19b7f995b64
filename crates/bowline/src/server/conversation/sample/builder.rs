//! The builder of a sampling request.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    ModelPrompt, Sampled,
    mode::{SampleText, SampleToolCalls, SampleValue},
    prompt::{self, PromptContent},
};
use crate::{
    proto::model::{
        CreateMessageParams, CreateMessageResult, ModelHint, ModelPreferences, Number,
        ResultObject as _, Role, SamplingMessage, Tool,
    },
    server::{
        builder_methods::question_options,
        conversation::{invocation::Invocation, question::OutgoingQuestion, scope::Scope},
        error::{Error, ErrorKind, Result},
    },
};

/// The default limit of output tokens.
const DEFAULT_MAX_TOKENS: u32 = 4096;
/// The default number of attempts to get a valid answer.
const DEFAULT_MAX_ATTEMPTS: u32 = 3;
/// The maximum number of characters of an invalid answer quoted in the error.
const MAX_QUOTED_CHARS: usize = 1000;

/// A sampling request to the client's model. Await it to send it.
///
/// `M` is the kind of output: text, unless [`schema`](Self::schema) or
/// [`tools`](Self::tools) is called. They cannot be combined.
#[must_use = "the question is only sent when awaited"]
#[derive(Debug)]
pub struct Sample<'a, M = SampleText> {
    pub(super) query: Query<'a>,
    pub(super) mode: M,
}

/// The part that all modes share.
#[derive(Debug)]
pub(super) struct Query<'a> {
    pub(super) invocation: &'a Invocation,
    scope: &'a Scope,
    prompt: ModelPrompt,
    system: Option<String>,
    max_tokens: u32,
    temperature: Option<f64>,
    stop_sequences: Vec<String>,
    preferences: Option<ModelPreferences>,
    key: Option<&'a str>,
    timeout: Option<Duration>,
    max_attempts: u32,
    /// Why the request cannot be sent.
    problem: Option<String>,
}

impl<'a> Sample<'a> {
    pub(in crate::server::conversation) fn new(
        invocation: &'a Invocation,
        scope: &'a Scope,
        prompt: ModelPrompt,
    ) -> Self {
        let query = Query {
            invocation,
            scope,
            prompt,
            system: None,
            max_tokens: DEFAULT_MAX_TOKENS,
            temperature: None,
            stop_sequences: Vec::new(),
            preferences: None,
            key: None,
            timeout: None,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            problem: None,
        };
        let mode = SampleText;
        Self { query, mode }
    }

    /// Asks for a value of this type.
    ///
    /// A client that supports tools receives one whose input has the schema of
    /// the type; for others the model is told to answer with JSON only. If the
    /// answer is not valid, the model is asked again with a description of the
    /// problem, up to [`max_attempts`](Sample::max_attempts) times in total.
    ///
    /// ```
    /// # use bowline::server::{Conversation, Result};
    /// # use schemars::JsonSchema;
    /// # use serde::Deserialize;
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Mood {
    ///     happy: bool,
    /// }
    ///
    /// # async fn example(cx: Conversation, letter: &str) -> Result<bool> {
    /// let mood = cx
    ///     .sample(format!("Who wrote this, is he happy?\n\n{letter}"))
    ///     .schema::<Mood>()
    ///     .await?;
    /// Ok(mood.value.happy)
    /// # }
    /// ```
    pub fn schema<T: JsonSchema + DeserializeOwned>(self) -> Sample<'a, SampleValue<T>> {
        Sample {
            query: self.query,
            mode: SampleValue::default(),
        }
    }

    /// Asks which of these tools to call, and how. The model must call one or
    /// more. Invalid calls are retried, as with a [`schema`](Self::schema).
    pub fn tools(self, tools: impl IntoIterator<Item = Tool>) -> Sample<'a, SampleToolCalls> {
        Sample {
            query: self.query,
            mode: SampleToolCalls::new(tools.into_iter().collect()),
        }
    }
}

/// Options of all sampling requests.
impl<'a, M> Sample<'a, M> {
    /// Sets the system prompt, instead of the conversation's.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.query.system = Some(system.into());
        self
    }

    /// Sets the maximum number of output tokens. The default is 4096.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.query.max_tokens = tokens;
        self.require(tokens > 0, "`max_tokens` must be greater than 0")
    }

    /// Sets the temperature.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.query.temperature = Some(temperature);
        let is_valid = temperature.is_finite() && temperature >= 0.0;
        self.require(is_valid, "`temperature` must be 0 or more")
    }

    /// Sets the stop sequences.
    pub fn stop_sequences<T: Into<String>>(
        mut self,
        sequences: impl IntoIterator<Item = T>,
    ) -> Self {
        let sequences = sequences.into_iter().map(Into::into);
        self.query.stop_sequences.extend(sequences);
        self
    }

    /// Adds the name of a suitable model, or a part of it, the best first. The
    /// client decides.
    pub fn model_hint(mut self, name: impl Into<String>) -> Self {
        let mut hint = ModelHint::default();
        hint.name = Some(name.into());
        self.preferences().hints.push(hint);
        self
    }

    /// Sets how much cost matters, from 0 to 1.
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.preferences().cost_priority = Some(priority.into());
        self.require(is_priority(priority), PRIORITY_RANGE)
    }

    /// Sets how much speed matters, from 0 to 1.
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.preferences().speed_priority = Some(priority.into());
        self.require(is_priority(priority), PRIORITY_RANGE)
    }

    /// Sets how much capability matters, from 0 to 1.
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.preferences().intelligence_priority = Some(priority.into());
        self.require(is_priority(priority), PRIORITY_RANGE)
    }

    question_options!(query);

    fn preferences(&mut self) -> &mut ModelPreferences {
        self.query.preferences.get_or_insert_default()
    }

    fn require(mut self, is_valid: bool, why: &str) -> Self {
        if !is_valid {
            let why = format!("invalid sampling request: {why}");
            self.query.problem.get_or_insert(why);
        }
        self
    }
}

const PRIORITY_RANGE: &str = "priorities must be between 0 and 1";

fn is_priority(priority: f64) -> bool {
    (0.0..=1.0).contains(&priority)
}

impl Query<'_> {
    pub(super) fn set_max_attempts(&mut self, attempts: u32) {
        self.max_attempts = attempts;
    }

    /// Returns the params of the request, checked.
    pub(super) fn params(&self) -> Result<CreateMessageParams> {
        if let Some(why) = &self.problem {
            return Err(Error::with_kind(ErrorKind::InvalidQuestion, why.clone()));
        }
        let mut messages = match &self.prompt.0 {
            PromptContent::Turn(_) => self.scope.history.messages(),
            PromptContent::Messages(messages) => messages.clone(),
        };
        messages.extend(self.user_message());
        let first = self.system.clone();
        let mut system: Vec<_> = first
            .or(self.scope.history.system.clone())
            .into_iter()
            .collect();
        system.extend(prompt::extract_system(&mut messages));
        prompt::check(&messages)?;
        let mut params = CreateMessageParams::new(messages, self.max_tokens);
        params.system_prompt = (!system.is_empty()).then(|| system.join("\n\n"));
        params.temperature = self.temperature.map(Number::from);
        params.stop_sequences.clone_from(&self.stop_sequences);
        params.model_preferences.clone_from(&self.preferences);
        Ok(params)
    }

    /// Returns the user message to record in the history, if there is one.
    fn user_message(&self) -> Option<SamplingMessage> {
        match &self.prompt.0 {
            PromptContent::Turn(content) => Some(SamplingMessage::new(Role::User, content.clone())),
            PromptContent::Messages(_) => None,
        }
    }

    /// Sends the request. Repetitions of a question with a key have a number
    /// appended.
    pub(super) async fn send(&self, params: CreateMessageParams, attempt: u32) -> Result<Sampled> {
        let key = self.key.map(|key| match attempt {
            1 => key.to_owned(),
            attempt_number => format!("{key}_{attempt_number}"),
        });
        let question = OutgoingQuestion {
            request: params.into(),
            key: key.as_deref(),
            timeout: self.timeout,
        };
        let answer = self.scope.ask(self.invocation, question).await?;
        let answer = CreateMessageResult::decode(answer.get().as_bytes());
        let answer = answer.map_err(|fault| Error::invalid_answer(&fault))?;
        Ok(Sampled::new(answer).with_question(self.user_message()))
    }

    /// Asks until the answer is valid, up to the maximum number of attempts.
    pub(super) async fn send_with_retries<A>(
        &self,
        mut params: CreateMessageParams,
        read: impl Fn(&Sampled) -> Result<A, String>,
    ) -> Result<(A, Sampled)> {
        for attempt in 1.. {
            let sampled = self.send(params.clone(), attempt).await?;
            match read(&sampled) {
                Ok(answer) => return Ok((answer, sampled)),
                Err(fault) if attempt >= self.max_attempts => {
                    return Err(attempts_exhausted(attempt, &fault, &sampled));
                }
                Err(fault) => params.messages.extend(sampled.correction_messages(&fault)),
            }
        }
        Err(Error::internal("the model was asked too many times"))
    }

    /// Records the exchange, unless the prompt was a list of messages.
    pub(super) fn record(&self, sampled: &Sampled) {
        if matches!(self.prompt.0, PromptContent::Turn(_)) {
            self.scope.history.extend(&sampled.exchange());
        }
    }
}

fn attempts_exhausted(attempts: u32, fault: &str, last: &Sampled) -> Error {
    let content = last.content();
    let output = match last.text() {
        "" => serde_json::to_string(content).unwrap_or_default(),
        text => text.to_owned(),
    };
    let quoted: String = output.chars().take(MAX_QUOTED_CHARS).collect();
    let message = format!(
        "the model gave no valid answer in {attempts} attempts.\n{fault}\nIts last answer: {quoted}"
    );
    Error::with_kind(ErrorKind::SampleValidation { attempts }, message)
}
