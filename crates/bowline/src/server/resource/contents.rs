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
pub trait Contents: Send + 'static {
    /// The result for the client.
    ///
    /// # Errors
    ///
    /// Where there is nothing, or the value cannot be encoded.
    fn into_result(self, about: &About) -> Result<ReadResourceResult>;
}

/// Which resource is read.
#[derive(Clone, Debug)]
pub struct About {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) rules: &'static Rules,
}

impl About {
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
/// use bowline::server::resource::Part;
///
/// let page = Part::text("<h1>Hello</h1>").mime_type("text/html");
/// let picture = Part::bytes(vec![0x89, 0x50]).uri("site:///logo.png").mime_type("image/png");
/// # drop((page, picture));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Part {
    body: Body,
    uri: Option<String>,
    mime_type: Option<String>,
    meta: Option<Meta>,
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    Text(String),
    Base64(String),
}

impl Part {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Body::Text(text.into()))
    }

    /// Anything else. It travels in base64.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::of(Body::Base64(STANDARD.encode(bytes)))
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

    fn of(body: Body) -> Self {
        Self {
            body,
            uri: None,
            mime_type: None,
            meta: None,
        }
    }

    fn into_contents(self, about: &About) -> ResourceContents {
        let uri = self.uri.unwrap_or_else(|| about.uri.clone());
        let mut contents = match self.body {
            Body::Text(text) => ResourceContents::from_text(uri, text),
            Body::Base64(blob) => ResourceContents::from_base64(uri, blob),
        };
        contents.mime_type = self.mime_type.or_else(|| about.mime_type.clone());
        contents.meta = self.meta;
        contents
    }
}

impl Contents for Part {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        vec![self].into_result(about)
    }
}

impl Contents for Vec<Part> {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        let parts = self.into_iter().map(|part| part.into_contents(about));
        parts.collect::<Vec<_>>().into_result(about)
    }
}

impl Contents for String {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        Part::text(self).into_result(about)
    }
}

impl Contents for &'static str {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        Part::text(self).into_result(about)
    }
}

impl Contents for Vec<u8> {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        Part::bytes(self).into_result(about)
    }
}

impl Contents for Bytes {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        Part::bytes(self).into_result(about)
    }
}

/// Its JSON, as text; `application/json` unless another type was declared.
impl<T: Serialize + Send + 'static> Contents for Json<T> {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        let text = serde_json::to_string(&self.0)?;
        let mime_type = about.mime_type.as_deref().unwrap_or("application/json");
        Part::text(text).mime_type(mime_type).into_result(about)
    }
}

/// Its JSON, as text; `application/json` unless another type was declared.
impl Contents for Value {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        Json(self).into_result(about)
    }
}

impl Contents for ResourceContents {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        vec![self].into_result(about)
    }
}

impl Contents for Vec<ResourceContents> {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        ReadResourceResult::new(self).into_result(about)
    }
}

/// As it is, but never without anything in it.
impl Contents for ReadResourceResult {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        if self.contents.is_empty() {
            return Err(about.not_found());
        }
        Ok(self)
    }
}

/// `None` where there is no such resource.
impl<T: Contents> Contents for Option<T> {
    fn into_result(self, about: &About) -> Result<ReadResourceResult> {
        match self {
            Some(contents) => contents.into_result(about),
            None => Err(about.not_found()),
        }
    }
}
