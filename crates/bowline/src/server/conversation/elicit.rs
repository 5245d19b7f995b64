//! Elicitation: asking the user.

use std::{
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
    sync::OnceLock,
    time::Duration,
};

use serde_json::Value;

use super::{invocation::Invocation, question::OutgoingQuestion, scope::Scope};
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{
            BooleanSchema, DecodeError, ElicitAction, ElicitParams, ElicitResult, ElicitSchema,
            Members, PropertySchema, ResultObject as _,
        },
    },
    server::{
        builder_methods::question_options,
        error::{Error, ErrorKind, Result},
        form::{self, AnswerCheck, Elicit},
    },
};

/// The user's reaction to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elicited<T> {
    /// The user answered.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user dismissed the question.
    Cancelled,
}

impl<T> Elicited<T> {
    /// Returns the answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the user declined or cancelled.
    pub fn accepted(self) -> Result<T> {
        match self {
            Self::Accepted(answer) => Ok(answer),
            Self::Declined => Err(declined()),
            Self::Cancelled => Err(cancelled()),
        }
    }

    /// Maps the answer.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Elicited<U> {
        match self {
            Self::Accepted(answer) => Elicited::Accepted(change(answer)),
            Self::Declined => Elicited::Declined,
            Self::Cancelled => Elicited::Cancelled,
        }
    }
}

/// What to do when the user declines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDecline {
    /// Ask again.
    Retry,
    /// Return an error.
    Error,
    /// Return [`Elicited::Declined`].
    Return,
}

/// A form for the user. Await it to send it.
#[must_use = "the question is only sent when awaited"]
#[derive(Debug)]
pub struct Elicitation<'a, T> {
    invocation: &'a Invocation,
    scope: &'a Scope,
    message: String,
    key: Option<&'a str>,
    timeout: Option<Duration>,
    form: PhantomData<fn() -> T>,
}

impl<'a, T: Elicit> Elicitation<'a, T> {
    pub(super) fn new(invocation: &'a Invocation, scope: &'a Scope, message: String) -> Self {
        Self {
            invocation,
            scope,
            message,
            key: T::KEY,
            timeout: None,
            form: PhantomData,
        }
    }

    question_options!();

    /// Makes awaiting return the answer itself, or an error if the user declines or
    /// cancels.
    pub fn required(self) -> RequiredElicitation<'a, T> {
        RequiredElicitation(self)
    }

    /// Asks again if the answer is not valid, and tells the user why, until the user
    /// has been asked `attempts` times.
    ///
    /// `on_decline` decides what happens if the user declines. A user who cancels is
    /// not asked again. The result is that of the last attempt; if its answer is not
    /// valid either, the error is [`ErrorKind::InvalidAnswer`].
    pub fn retry(self, attempts: u32, on_decline: OnDecline) -> RetryingElicitation<'a, T> {
        RetryingElicitation {
            elicitation: self,
            attempts,
            on_decline,
        }
    }

    async fn ask(&self, key: Option<&str>, message: String) -> Result<Elicited<T>> {
        let question = OutgoingQuestion {
            request: ElicitParams::form(message, T::form()).into(),
            key,
            timeout: self.timeout,
        };
        let answer = self.scope.ask(self.invocation, question).await?;
        decode_answer(&answer)
    }
}

/// Decodes an answer, which must be valid for the form.
fn decode_answer<T: Elicit>(answer: &RawJson) -> Result<Elicited<T>> {
    let invalid = |decode_error: DecodeError| Error::invalid_answer(&decode_error);
    let answer = ElicitResult::decode(answer.get().as_bytes()).map_err(invalid)?;
    match answer.action {
        ElicitAction::Accept => {
            let content: Value = match answer.content {
                Some(content) => content.decode()?,
                None => Value::Object(serde_json::Map::new()),
            };
            form::read(&content)
                .map(Elicited::Accepted)
                .map_err(invalid)
        }
        other => not_accepted(&other),
    }
}

fn not_accepted<T>(action: &ElicitAction) -> Result<Elicited<T>> {
    match action {
        ElicitAction::Decline => Ok(Elicited::Declined),
        ElicitAction::Cancel => Ok(Elicited::Cancelled),
        other => {
            let message = format!("unknown elicitation action {:?}", other.as_str());
            Err(Error::with_kind(ErrorKind::InvalidAnswer, message))
        }
    }
}

impl<'a, T: Elicit> IntoFuture for Elicitation<'a, T> {
    type Output = Result<Elicited<T>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.ask(self.key, self.message.clone()).await })
    }
}

/// A form that the user must answer. Await it to send it.
#[must_use = "the question is only sent when awaited"]
#[derive(Debug)]
pub struct RequiredElicitation<'a, T>(Elicitation<'a, T>);

impl<'a, T: Elicit> IntoFuture for RequiredElicitation<'a, T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.0.await?.accepted() })
    }
}

/// A form that the user may be asked to fill in again. Await it to send it.
#[must_use = "the question is only sent when awaited"]
#[derive(Debug)]
pub struct RetryingElicitation<'a, T> {
    elicitation: Elicitation<'a, T>,
    attempts: u32,
    on_decline: OnDecline,
}

impl<T: Elicit> RetryingElicitation<'_, T> {
    async fn ask(self) -> Result<Elicited<T>> {
        let question = &self.elicitation;
        let mut message = question.message.clone();
        for attempt in 1.. {
            // A key is for one question; its repetitions have a number
            // appended.
            let key = question.key.map(|key| match attempt {
                1 => key.to_owned(),
                attempt_number => format!("{key}_{attempt_number}"),
            });
            let answer = question.ask(key.as_deref(), message).await;
            let last = attempt >= self.attempts;
            message = match answer {
                Ok(Elicited::Declined) if self.on_decline == OnDecline::Error => {
                    return Err(declined());
                }
                Ok(Elicited::Declined) if self.on_decline == OnDecline::Retry && !last => {
                    question.message.clone()
                }
                Err(error) if *error.kind() == ErrorKind::InvalidAnswer && !last => {
                    format!(
                        "{}\n\nThe last answer was not valid: {error}",
                        question.message
                    )
                }
                result => return result,
            };
        }
        Err(declined())
    }
}

impl<'a, T: Elicit> IntoFuture for RetryingElicitation<'a, T> {
    type Output = Result<Elicited<T>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.ask())
    }
}

/// A URL for the user to visit. Await it to send it.
#[must_use = "the question is only sent when awaited"]
#[derive(Debug)]
pub struct UrlElicitation<'a> {
    invocation: &'a Invocation,
    scope: &'a Scope,
    message: String,
    url: String,
    key: Option<&'a str>,
    timeout: Option<Duration>,
}

impl<'a> UrlElicitation<'a> {
    pub(super) fn new(
        invocation: &'a Invocation,
        scope: &'a Scope,
        message: String,
        url: String,
    ) -> Self {
        Self {
            invocation,
            scope,
            message,
            url,
            key: None,
            timeout: None,
        }
    }

    question_options!();

    async fn ask(self) -> Result<Elicited<()>> {
        let mut params = ElicitParams::url(self.message, self.url);
        if self
            .invocation
            .request
            .context
            .rules
            .features
            .elicitation
            .url_id
        {
            params.elicitation_id = Some(elicitation_id()?);
        }
        let question = OutgoingQuestion {
            request: params.into(),
            key: self.key,
            timeout: self.timeout,
        };
        let answer = self.scope.ask(self.invocation, question).await?;
        let answer = ElicitResult::decode(answer.get().as_bytes());
        let answer = answer.map_err(|decode_error| Error::invalid_answer(&decode_error))?;
        match answer.action {
            ElicitAction::Accept => Ok(Elicited::Accepted(())),
            other => not_accepted(&other),
        }
    }
}

impl<'a> IntoFuture for UrlElicitation<'a> {
    type Output = Result<Elicited<()>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.ask())
    }
}

/// Returns an id for a URL elicitation. Only the handshake era has them, so no
/// replay depends on it.
fn elicitation_id() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(crate::server::replay::journal::hex(&bytes))
}

/// A form with one checkbox.
pub(super) struct Confirmation(bool);

impl Confirmation {
    pub(super) fn into_result(self) -> Result<()> {
        if self.0 { Ok(()) } else { Err(declined()) }
    }
}

impl Elicit for Confirmation {
    fn form() -> ElicitSchema {
        let mut confirmed = BooleanSchema::default();
        confirmed.title = Some("Confirm".to_owned());
        let fields: Members<PropertySchema> =
            [("confirmed", confirmed.into())].into_iter().collect();
        let mut form = ElicitSchema::new(fields);
        form.required = vec!["confirmed".to_owned()];
        form
    }

    fn check_answer(answer: &Value) -> Result<(), DecodeError> {
        static CHECK: OnceLock<AnswerCheck> = OnceLock::new();
        let check = CHECK.get_or_init(|| AnswerCheck::new(&Self::form()));
        check.check(answer)
    }

    fn from_answer(answer: &Value) -> Result<Self, DecodeError> {
        Ok(Self(answer["confirmed"] == true))
    }
}

fn declined() -> Error {
    Error::with_kind(ErrorKind::Declined, "the user declined")
}

fn cancelled() -> Error {
    Error::with_kind(ErrorKind::Cancelled, "the user cancelled")
}
