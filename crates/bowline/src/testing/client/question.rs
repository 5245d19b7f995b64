//! A question of the server's, as a test looks at it.

use std::fmt;

use serde_json::Value;

use crate::proto::model::{
    Adapt as _, CreateMessageParams, Dialect, ElicitParams, InputKind, InputRequest, SamplingBlock,
};

/// Something that the server asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerQuestion {
    request: InputRequest,
}

impl ServerQuestion {
    pub(super) fn new(mut request: InputRequest) -> Self {
        // What travels beside a question differs from call to call.
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

    /// The question itself, without what travelled beside it.
    #[must_use]
    pub fn request(&self) -> &InputRequest {
        &self.request
    }

    /// What the user or the model is told: the message of a form, the last
    /// words of a conversation with a model. Nothing for roots.
    #[must_use]
    pub fn message(&self) -> &str {
        match &self.request.kind {
            InputKind::Elicit(params) => &params.message,
            InputKind::CreateMessage(params) => last_text(params),
            _ => "",
        }
    }

    /// The form, the page or the prompt: what there is to answer.
    #[must_use]
    pub fn as_elicit(&self) -> Option<&ElicitParams> {
        match &self.request.kind {
            InputKind::Elicit(params) => Some(params),
            _ => None,
        }
    }

    /// What a model is asked.
    #[must_use]
    pub fn as_sample(&self) -> Option<&CreateMessageParams> {
        match &self.request.kind {
            InputKind::CreateMessage(params) => Some(params),
            _ => None,
        }
    }

    /// The question as a revision with this dialect would have it, for
    /// comparisons between revisions.
    pub(super) fn in_dialect(&self, dialect: &Dialect) -> Value {
        let mut request = self.request.clone();
        request.adapt(dialect);
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
