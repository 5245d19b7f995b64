//! Conversion of a resource handler's return value into contents.

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

/// A value that reading a resource can return.
///
/// Strings and bytes are returned unchanged, under the requested URI and with
/// the declared media type; [`ContentPart`]s can set both. `None`, and an
/// empty list of parts, mean that the resource does not exist.
#[diagnostic::on_unimplemented(
    message = "reading a resource cannot return `{Self}`",
    label = "this type cannot be converted into resource contents",
    note = "return text, bytes, `Json(value)`, `ContentPart`s, or an `Option` of one of them"
)]
pub trait IntoReadResult: Send + 'static {
    /// Converts the value into the result for the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the resource does not exist or the value cannot be
    /// encoded.
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult>;
}

/// The resource that is being read.
#[derive(Clone, Debug)]
pub struct RequestedResource {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) rules: &'static Rules,
}

impl RequestedResource {
    /// Returns the requested URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the declared media type.
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        self.mime_type.as_deref()
    }

    /// Returns the error for a resource that does not exist.
    #[must_use]
    pub fn not_found(&self) -> Error {
        Error::protocol(errors::resource_not_found(self.rules, &self.uri))
    }
}

/// One part of a resource's contents.
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
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::with_body(PartBody::Text(text.into()))
    }

    /// Creates a binary part, which is sent as base64.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::with_body(PartBody::Base64(STANDARD.encode(bytes)))
    }

    /// Sets the URI of the part, if it differs from the resource's.
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }

    /// Sets the media type of the part, if it differs from the resource's.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the `_meta` of the part.
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

/// Returns the JSON as text, with the media type `application/json` unless
/// another one was declared.
impl<T: Serialize + Send + 'static> IntoReadResult for Json<T> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        let text = serde_json::to_string(&self.0)?;
        let mime_type = requested.mime_type.as_deref().unwrap_or("application/json");
        ContentPart::text(text)
            .mime_type(mime_type)
            .into_result(requested)
    }
}

/// Returns the JSON as text, with the media type `application/json` unless
/// another one was declared.
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

/// Returned unchanged, unless it is empty.
impl IntoReadResult for ReadResourceResult {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        if self.contents.is_empty() {
            return Err(requested.not_found());
        }
        Ok(self)
    }
}

/// `None` means that the resource does not exist.
impl<T: IntoReadResult> IntoReadResult for Option<T> {
    fn into_result(self, requested: &RequestedResource) -> Result<ReadResourceResult> {
        match self {
            Some(contents) => contents.into_result(requested),
            None => Err(requested.not_found()),
        }
    }
}
