//! A question to a model.

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
        conversation::{invocation::Invocation, question::OutgoingQuestion, scope::Scope},
        error::{Error, ErrorKind, Result},
    },
};

/// How many tokens a model may write where nothing else is said.
const DEFAULT_MAX_TOKENS: u32 = 4096;
/// How often a model is asked for what must fit a schema.
const DEFAULT_MAX_ATTEMPTS: u32 = 3;
/// How much of an answer that does not fit goes into the error.
const MAX_QUOTED_CHARS: usize = 1000;

/// A question to a model. Await it.
///
/// `M` is what it is a question for: text, unless [`schema`](Self::schema) or
/// [`tools`](Self::tools) say otherwise. It cannot be for both.
#[must_use = "nothing is asked until it is awaited"]
#[derive(Debug)]
pub struct Sample<'a, M = SampleText> {
    pub(super) query: Query<'a>,
    pub(super) mode: M,
}

/// What all questions to models have in common.
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
    /// Why this cannot be asked.
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
    /// A client that takes tools is given one whose input has the schema of
    /// the type; others are told to answer with JSON alone. What does not fit
    /// is asked for again, with a hint at what is wrong, up to
    /// [`attempts`](Sample::attempts) times in all.
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
    /// more. ForCalls that do not fit are asked for again, as with a
    /// [`schema`](Self::schema).
    pub fn tools(self, tools: impl IntoIterator<Item = Tool>) -> Sample<'a, SampleToolCalls> {
        Sample {
            query: self.query,
            mode: SampleToolCalls::new(tools.into_iter().collect()),
        }
    }
}

/// What may be said of every question to a model.
impl<'a, M> Sample<'a, M> {
    /// What to tell the model first, instead of what holds in the conversation.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.query.system = Some(system.into());
        self
    }

    /// How many tokens the model may write: 4096 unless given.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.query.max_tokens = tokens;
        self.require(tokens > 0, "it may not write anything")
    }

    /// How daring the model should be.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.query.temperature = Some(temperature);
        let is_valid = temperature.is_finite() && temperature >= 0.0;
        self.require(is_valid, "its temperature must be 0 or more")
    }

    /// Texts at which the model should stop.
    pub fn stop_sequences<T: Into<String>>(
        mut self,
        sequences: impl IntoIterator<Item = T>,
    ) -> Self {
        let sequences = sequences.into_iter().map(Into::into);
        self.query.stop_sequences.extend(sequences);
        self
    }

    /// The name of a model that would be right, or a part of it; one more each
    /// time, the best first. The client has the last word.
    pub fn model_hint(mut self, name: impl Into<String>) -> Self {
        let mut hint = ModelHint::default();
        hint.name = Some(name.into());
        self.preferences().hints.push(hint);
        self
    }

    /// How much it matters that the model is cheap, from 0 to 1.
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.preferences().cost_priority = Some(priority.into());
        self.require(is_priority(priority), PRIORITY_RANGE)
    }

    /// How much it matters that the model is quick, from 0 to 1.
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.preferences().speed_priority = Some(priority.into());
        self.require(is_priority(priority), PRIORITY_RANGE)
    }

    /// How much it matters that the model is able, from 0 to 1.
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.preferences().intelligence_priority = Some(priority.into());
        self.require(is_priority(priority), PRIORITY_RANGE)
    }

    /// Names the question, so that it keeps its name when others are asked
    /// before it.
    pub fn key(mut self, key: &'a str) -> Self {
        self.query.key = Some(key);
        self
    }

    /// How long the answer may take, where the client is asked live.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.query.timeout = Some(timeout);
        self
    }

    fn preferences(&mut self) -> &mut ModelPreferences {
        self.query.preferences.get_or_insert_default()
    }

    fn require(mut self, is_valid: bool, why: &str) -> Self {
        if !is_valid {
            let why = format!("a model cannot be asked like this: {why}");
            self.query.problem.get_or_insert(why);
        }
        self
    }
}

const PRIORITY_RANGE: &str = "priorities go from 0 to 1";

fn is_priority(priority: f64) -> bool {
    (0.0..=1.0).contains(&priority)
}

impl Query<'_> {
    pub(super) fn set_max_attempts(&mut self, attempts: u32) {
        self.max_attempts = attempts;
    }

    /// The question as it stands, checked.
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

    /// The turn that the conversation is to remember, if it is.
    fn user_message(&self) -> Option<SamplingMessage> {
        match &self.prompt.0 {
            PromptContent::Turn(content) => Some(SamplingMessage::new(Role::User, content.clone())),
            PromptContent::Messages(_) => None,
        }
    }

    /// Asks. Repetitions of a question with a key have a number besides.
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

    /// Asks until the answer can be read, for so many attempts.
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
        Err(Error::internal("a model was asked too often"))
    }

    /// Remembers what was said, unless the question was a list of messages.
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
        "in {attempts} attempts the model did not write what was asked for.\n{fault}\nIts last answer: {quoted}"
    );
    Error::with_kind(ErrorKind::SampleValidation { attempts }, message)
}
