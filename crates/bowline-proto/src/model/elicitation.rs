//! Elicitation: questions from a server to the user.

use serde::Serialize;

use super::{
    ElicitSchema, Meta, TaskMetadata, WireFeatures,
    message::{notification, request, result},
    method,
    object::object,
    open_enum::open_enum,
};
use crate::jsonrpc::RawJson;

object! {
    /// Asks the user to fill in a form or to visit a page.
    pub struct ElicitParams {
        /// The mode; a form by default.
        mode: Option<ElicitMode> = optional "mode" if elicitation.url,
        /// The message for the user.
        message: String = required "message",
        /// The form.
        requested_schema: Option<ElicitSchema> = optional "requestedSchema",
        /// The URL of the page.
        url: Option<String> = optional "url",
        /// The id of this visit, with which its end is announced.
        elicitation_id: Option<String> = optional "elicitationId" if elicitation.url_id,
        /// Runs the request as a core task.
        task: Option<TaskMetadata> = optional "task" if core_tasks,
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ElicitParams = method::ELICITATION_CREATE => ElicitResult);

impl ElicitParams {
    /// Creates a request to fill in a form.
    pub fn form(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self {
            requested_schema: Some(schema),
            ..Self::new(message)
        }
    }

    /// Creates a request to visit a page.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            mode: Some(ElicitMode::Url),
            url: Some(url.into()),
            ..Self::new(message)
        }
    }

    /// Returns whether this is a request to visit a page.
    #[must_use]
    pub fn is_url(&self) -> bool {
        self.mode == Some(ElicitMode::Url)
    }

    /// Returns the client capability that this requires, as a path for
    /// [`ClientCapabilities::has`](super::ClientCapabilities::has).
    #[must_use]
    pub fn required_capability(&self) -> &'static str {
        if self.is_url() {
            "elicitation.url"
        } else {
            "elicitation.form"
        }
    }

    /// Returns why the wire format cannot carry this at all, or `None` if it can.
    #[must_use]
    pub fn unsupported_reason(&self, features: &WireFeatures) -> Option<&'static str> {
        if !features.elicitation.form {
            return Some("this protocol version does not support elicitation");
        }
        if !self.is_url() {
            return self.requested_schema.as_ref()?.unsupported_reason(features);
        }
        if !features.elicitation.url {
            return Some("this protocol version does not support elicitation by URL");
        }
        if features.elicitation.url_id && self.elicitation_id.is_none() {
            return Some("this protocol version requires an elicitationId with the URL");
        }
        None
    }
}

open_enum! {
    /// The mode of an elicitation.
    pub enum ElicitMode {
        /// A form.
        Form = "form",
        /// A page to visit.
        Url = "url",
    }
}

object! {
    /// The user's response.
    pub struct ElicitResult {
        /// Accepted, declined or cancelled.
        action: ElicitAction = required "action",
        /// The filled-in form: an object of primitive values. Only present if a
        /// form was accepted.
        content: Option<RawJson> = optional "content",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ElicitResult, untyped);

impl ElicitResult {
    /// Creates the result of a filled-in form.
    #[must_use]
    pub fn accept(content: RawJson) -> Self {
        Self {
            content: Some(content),
            ..Self::new(ElicitAction::Accept)
        }
    }

    /// Creates the result of a filled-in form from a value that serialises to
    /// an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be serialised.
    pub fn accept_with<T: Serialize + ?Sized>(content: &T) -> Result<Self, serde_json::Error> {
        RawJson::encode(content).map(Self::accept)
    }

    /// Creates the result for a user who declined.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// Creates the result for a user who did not answer.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

open_enum! {
    /// The action of a user.
    pub enum ElicitAction {
        /// Accepted. For a page, this is consent to open it and no more.
        Accept = "accept",
        /// Declined.
        Decline = "decline",
        /// Dismissed without an answer.
        Cancel = "cancel",
    }
}

object! {
    /// Notifies that a page visit is complete.
    pub struct ElicitationCompleteParams {
        /// The id of the visit.
        elicitation_id: String = required "elicitationId",
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ElicitationCompleteParams = method::ELICITATION_COMPLETE);
