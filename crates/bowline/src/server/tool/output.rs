//! What tools return.

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

/// What a tool may return.
///
/// Texts are returned as they are, [`Json`] as structured content with its
/// schema, content blocks as they are; a [`CallToolResult`] says everything
/// itself.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not something that a client can be sent",
    note = "return text, content blocks, or `Json(value)` for a value of your own type",
    note = "the type of that value needs `#[derive(Serialize, JsonSchema)]`"
)]
pub trait IntoToolResult: Send + 'static {
    /// The schema of the structured content, if there is any.
    fn schema() -> Option<RawJson>
    where
        Self: Sized,
    {
        None
    }

    /// The result for the client.
    ///
    /// # Errors
    ///
    /// Where the value cannot be encoded.
    fn into_result(self) -> Result<CallToolResult>;
}

/// A value that is returned as structured content, with its schema, and as
/// text for those who read only that.
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

/// Nothing to say.
impl IntoToolResult for () {
    fn into_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::default())
    }
}

/// Its JSON, as text.
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
