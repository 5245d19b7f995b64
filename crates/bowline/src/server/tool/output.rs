//! Conversion of a tool's return value into a result for the client.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::input::schema_of;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{
            AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent,
            ResourceLink, TextContent,
        },
    },
    server::error::Result,
};

/// A value that a tool can return.
///
/// Strings and content blocks are returned unchanged, [`Json`] becomes
/// structured content with its schema, and a [`CallToolResult`] is sent as it
/// is.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this type cannot be converted into a tool result",
    note = "return a string, content blocks, or `Json(value)` for a value of your own type",
    note = "the type inside `Json` needs `#[derive(Serialize, JsonSchema)]`"
)]
pub trait IntoToolResult: Send + 'static {
    /// Returns the schema of the structured content, if there is any.
    fn schema() -> Option<RawJson>
    where
        Self: Sized,
    {
        None
    }

    /// Converts the value into the result for the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be encoded.
    fn into_result(self) -> Result<CallToolResult>;
}

/// A value returned as structured content, with its schema, and as text for
/// clients that only read text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + Send + 'static> IntoToolResult for Json<T> {
    fn schema() -> Option<RawJson> {
        RawJson::encode(&schema_of::<T>()).ok()
    }

    fn into_result(self) -> Result<CallToolResult> {
        let value = RawJson::encode(&self.0)?;
        let mut result = CallToolResult::text(value.get());
        result.structured_content = Some(value);
        Ok(result)
    }
}

impl IntoToolResult for CallToolResult {
    fn into_result(self) -> Result<CallToolResult> {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for &'static str {
    fn into_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::text(self))
    }
}

/// Returns an empty result.
impl IntoToolResult for () {
    fn into_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::default())
    }
}

/// Returns the JSON as text.
impl IntoToolResult for Value {
    fn into_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::text(self.to_string()))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_result(self) -> Result<CallToolResult> {
        let mut result = CallToolResult::default();
        result.content = self;
        Ok(result)
    }
}

impl IntoToolResult for ContentBlock {
    fn into_result(self) -> Result<CallToolResult> {
        vec![self].into_result()
    }
}

macro_rules! blocks {
    ($($block:ty),* $(,)?) => {
        $(
            impl IntoToolResult for $block {
                fn into_result(self) -> Result<CallToolResult> {
                    ContentBlock::from(self).into_result()
                }
            }
        )*
    };
}

blocks!(
    TextContent,
    ImageContent,
    AudioContent,
    ResourceLink,
    EmbeddedResource
);
