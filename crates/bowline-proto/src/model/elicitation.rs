//! Elicitation: a server asks the user.

use serde::Serialize;

use super::{
    Dialect, ElicitSchema, Meta, TaskMetadata,
    message::{notification, request, result},
    method,
    object::object,
    open_enum::open_enum,
};
use crate::jsonrpc::RawJson;

object! {
    /// Asks the user to fill in a form, or to visit a page.
    pub struct ElicitParams {
        /// Which of the two; a form where it does not say.
        mode: Option<ElicitMode> = optional "mode" if elicitation.url,
        /// What to tell the user.
        message: String = required "message",
        /// The form.
        requested_schema: Option<ElicitSchema> = optional "requestedSchema",
        /// The page.
        url: Option<String> = optional "url",
        /// The name of this visit, by which its end is announced.
        elicitation_id: Option<String> = optional "elicitationId" if elicitation.url_id,
        /// Asks for a core task instead of an answer.
        task: Option<TaskMetadata> = optional "task" if core_tasks,
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ElicitParams = method::ELICITATION_CREATE => ElicitResult);

impl ElicitParams {
    /// A form to fill in.
    pub fn form(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self {
            requested_schema: Some(schema),
            ..Self::new(message)
        }
    }

    /// A page to visit.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            mode: Some(ElicitMode::Url),
            url: Some(url.into()),
            ..Self::new(message)
        }
    }

    /// Whether it is a page to visit.
    #[must_use]
    pub fn is_url(&self) -> bool {
        self.mode == Some(ElicitMode::Url)
    }

    /// The client capability that this needs, as a path for
    /// [`ClientCapabilities::has`](super::ClientCapabilities::has).
    #[must_use]
    pub fn required_capability(&self) -> &'static str {
        if self.is_url() {
            "elicitation.url"
        } else {
            "elicitation.form"
        }
    }

    /// Why the dialect cannot carry this at all, if it cannot.
    #[must_use]
    pub fn unsupported_reason(&self, dialect: &Dialect) -> Option<&'static str> {
        if !dialect.elicitation.form {
            return Some("this protocol version has no elicitation");
        }
        if !self.is_url() {
            return self.requested_schema.as_ref()?.unsupported_reason(dialect);
        }
        if !dialect.elicitation.url {
            return Some("this protocol version has no elicitation by URL");
        }
        if dialect.elicitation.url_id && self.elicitation_id.is_none() {
            return Some("this protocol version wants an elicitationId beside the URL");
        }
        None
    }
}

open_enum! {
    /// How a user is asked.
    pub enum ElicitMode {
        /// By a form.
        Form = "form",
        /// By a page to visit.
        Url = "url",
    }
}

object! {
    /// What the user did.
    pub struct ElicitResult {
        /// Accepted, declined, or neither.
        action: ElicitAction = required "action",
        /// The form as filled in: an object of plain values. Only where a form
        /// was accepted.
        content: Option<RawJson> = optional "content",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ElicitResult, untyped);

impl ElicitResult {
    /// A form that was filled in.
    #[must_use]
    pub fn accept(content: RawJson) -> Self {
        Self {
            content: Some(content),
            ..Self::new(ElicitAction::Accept)
        }
    }

    /// A form that was filled in, from a value that becomes an object.
    ///
    /// # Errors
    ///
    /// Where the value refuses to be serialised.
    pub fn accept_with<T: Serialize + ?Sized>(content: &T) -> Result<Self, serde_json::Error> {
        RawJson::encode(content).map(Self::accept)
    }

    /// The user said no.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user did not answer.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

open_enum! {
    /// What a user did when asked.
    pub enum ElicitAction {
        /// Agreed. To a page, this is consent to open it and no more.
        Accept = "accept",
        /// Refused.
        Decline = "decline",
        /// Went away without an answer.
        Cancel = "cancel",
    }
}

object! {
    /// Says that a visit to a page has come to its end.
    pub struct ElicitationCompleteParams {
        /// The name of the visit.
        elicitation_id: String = required "elicitationId",
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ElicitationCompleteParams = method::ELICITATION_COMPLETE);
