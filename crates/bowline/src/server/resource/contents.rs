//! What a resource holds, as its author says it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::{
    proto::{
        model::{Meta, ReadResourceResult, ResourceContents},
        revision::Rules,
        server::errors,
    },
    server::{
        Json,
        error::{Error, Result},
    },
};

/// What reading a resource may return.
///
/// Texts and bytes are returned as they are, under the URI that was read and
/// with the media type that was declared; [`Part`]s say more. `None`, and no
/// parts at all, mean that there is no such resource.
#[diagnostic::on_unimplemented(
    message = "reading a resource cannot return `{Self}`",
    label = "not something that a client can be sent",
    note = "return text, bytes, `Json(value)`, `Part`s, or an `Option` of one of them"
)]
pub trait IntoReadResult: Send + 'static {
    /// The result for the client.
    ///
    /// # Errors
    ///
    /// Where there is nothing, or the value cannot be encoded.
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult>;
}

/// Which resource is read.
#[derive(Clone, Debug)]
pub struct RequestedResource {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) rules: &'static Rules,
}

impl RequestedResource {
    /// The URI that was asked for.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The media type that was declared.
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        self.mime_type.as_deref()
    }

    /// The error that says that there is no such resource.
    #[must_use]
    pub fn not_found(&self) -> Error {
        Error::protocol(errors::resource_not_found(self.rules, &self.uri))
    }
}

/// One part of what a resource holds.
///
/// ```
/// use bowline::server::resource::ContentPart;
///
/// let page = ContentPart::text("<h1>Hello</h1>").mime_type("text/html");
/// let picture = ContentPart::bytes(vec![0x89, 0x50]).uri("site:///logo.png").mime_type("image/png");
/// # drop((page, picture));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct ContentPart {
    body: PartBody,
    uri: Option<String>,
    mime_type: Option<String>,
    meta: Option<Meta>,
}

#[derive(Clone, Debug, PartialEq)]
enum PartBody {
    Text(String),
    Base64(String),
}

impl ContentPart {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::with_body(PartBody::Text(text.into()))
    }

    /// Anything else. It travels in base64.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::with_body(PartBody::Base64(STANDARD.encode(bytes)))
    }

    /// Where the part is, if not where the resource is.
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }

    /// Its media type, if not that of the resource.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    fn with_body(body: PartBody) -> Self {
        Self {
            body,
            uri: None,
            mime_type: None,
            meta: None,
        }
    }

    fn into_contents(self, requested: &RequestedResource) -> ResourceContents {
        let uri = self.uri.unwrap_or_else(|| requested.uri.clone());
        let mut contents = match self.body {
            PartBody::Text(text) => ResourceContents::from_text(uri, text),
            PartBody::Base64(blob) => ResourceContents::from_base64(uri, blob),
        };
        contents.mime_type = self.mime_type.or_else(|| requested.mime_type.clone());
        contents.meta = self.meta;
        contents
    }
}

impl IntoReadResult for ContentPart {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        vec![self].into_result(requested)
    }
}

impl IntoReadResult for Vec<ContentPart> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        let parts = self.into_iter().map(|part| part.into_contents(requested));
        parts.collect::<Vec<_>>().into_result(requested)
    }
}

impl IntoReadResult for String {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        ContentPart::text(self).into_result(requested)
    }
}

impl IntoReadResult for &'static str {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        ContentPart::text(self).into_result(requested)
    }
}

impl IntoReadResult for Vec<u8> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        ContentPart::bytes(self).into_result(requested)
    }
}

impl IntoReadResult for Bytes {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        ContentPart::bytes(self).into_result(requested)
    }
}

/// Its JSON, as text; `application/json` unless another type was declared.
impl<T: Serialize + Send + 'static> IntoReadResult for Json<T> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        let text = serde_json::to_string(&self.0)?;
        let mime_type = requested.mime_type.as_deref().unwrap_or("application/json");
        ContentPart::text(text)
            .mime_type(mime_type)
            .into_result(requested)
    }
}

/// Its JSON, as text; `application/json` unless another type was declared.
impl IntoReadResult for Value {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        Json(self).into_result(requested)
    }
}

impl IntoReadResult for ResourceContents {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        vec![self].into_result(requested)
    }
}

impl IntoReadResult for Vec<ResourceContents> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        ReadResourceResult::new(self).into_result(requested)
    }
}

/// As it is, but never without anything in it.
impl IntoReadResult for ReadResourceResult {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        if self.contents.is_empty() {
            return Err(requested.not_found());
        }
        Ok(self)
    }
}

/// `None` where there is no such resource.
impl<T: IntoReadResult> IntoReadResult for Option<T> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        match self {
            Some(contents) => contents.into_result(requested),
            None => Err(requested.not_found()),
        }
    }
}
