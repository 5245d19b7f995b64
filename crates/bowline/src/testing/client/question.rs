//! A question of the server, as seen by a test.

use std::fmt;

use serde_json::Value;

use crate::proto::model::{
    Adapt as _, CreateMessageParams, ElicitParams, InputKind, InputRequest, SamplingBlock,
    WireFeatures,
};

/// A question that the server asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerQuestion {
    request: InputRequest,
}

impl ServerQuestion {
    pub(super) fn new(mut request: InputRequest) -> Self {
        // `_meta` differs from call to call.
        match &mut request.kind {
            InputKind::Elicit(params) => {
                params.meta = None;
                params.elicitation_id = None;
            }
            InputKind::CreateMessage(params) => params.meta = None,
            InputKind::ListRoots(params) => *params = None,
            _ => {}
        }
        Self { request }
    }

    /// Returns the question itself, without its metadata.
    #[must_use]
    pub fn request(&self) -> &InputRequest {
        &self.request
    }

    /// Returns the text for the user or the model: the message of a form, or
    /// the last message of a sampling request. Empty for roots.
    #[must_use]
    pub fn message(&self) -> &str {
        match &self.request.kind {
            InputKind::Elicit(params) => &params.message,
            InputKind::CreateMessage(params) => last_text(params),
            _ => "",
        }
    }

    /// Returns the parameters, if it is an elicitation.
    #[must_use]
    pub fn as_elicit(&self) -> Option<&ElicitParams> {
        match &self.request.kind {
            InputKind::Elicit(params) => Some(params),
            _ => None,
        }
    }

    /// Returns the parameters, if it is a sampling request.
    #[must_use]
    pub fn as_sample(&self) -> Option<&CreateMessageParams> {
        match &self.request.kind {
            InputKind::CreateMessage(params) => Some(params),
            _ => None,
        }
    }

    /// Returns the question as a revision with this wire format writes it, for
    /// comparisons between revisions.
    pub(super) fn for_features(&self, features: &WireFeatures) -> Value {
        let mut request = self.request.clone();
        request.adapt(features);
        serde_json::to_value(&request).unwrap_or_default()
    }
}

fn last_text(params: &CreateMessageParams) -> &str {
    let blocks = params.messages.last().map(|last| last.content.blocks());
    let mut texts = blocks.unwrap_or_default().iter();
    texts.find_map(SamplingBlock::as_text).unwrap_or_default()
}

impl fmt::Display for ServerQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = self.request.method();
        let Some(params) = self.as_elicit() else {
            return match self.message() {
                "" => f.write_str(method),
                message => write!(f, "{method} {message:?}"),
            };
        };
        write!(f, "{method} {:?}", params.message)?;
        if let Some(url) = &params.url {
            write!(f, " at {url}")?;
        }
        if let Some(form) = &params.requested_schema {
            let fields: Vec<&str> = form.properties.iter().map(|(name, _)| name).collect();
            write!(f, " ({})", fields.join(", "))?;
        }
        Ok(())
    }
}
