//! Conversion of a prompt handler's return value into messages.

use crate::{
    proto::model::{
        AudioContent, ContentBlock, EmbeddedResource, GetPromptResult, ImageContent, PromptMessage,
        ResourceLink, Role, TextContent,
    },
    server::error::Result,
};

/// A value that getting a prompt can return: a string or a content block, which
/// becomes one user message, or messages of any kind.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "this type cannot be converted into messages",
    note = "return a string, a content block, or messages made with `user(..)` and `assistant(..)`"
)]
pub trait IntoPromptResult: Send + 'static {
    /// Converts the value into the result for the client. A result without a
    /// description gets the prompt's.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be encoded.
    fn into_result(self) -> Result<GetPromptResult>;
}

/// Creates a user message.
pub fn user(content: impl IntoContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, content.into_content_block())
}

/// Creates an assistant message.
pub fn assistant(content: impl IntoContentBlock) -> PromptMessage {
    PromptMessage::new(Role::Assistant, content.into_content_block())
}

/// The content of a message: a string or a content block.
pub trait IntoContentBlock {
    /// Converts the value into a content block.
    fn into_content_block(self) -> ContentBlock;
}

impl IntoContentBlock for &str {
    fn into_content_block(self) -> ContentBlock {
        ContentBlock::text(self)
    }
}

impl IntoContentBlock for String {
    fn into_content_block(self) -> ContentBlock {
        ContentBlock::text(self)
    }
}

impl IntoPromptResult for GetPromptResult {
    fn into_result(self) -> Result<GetPromptResult> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_result(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> IntoPromptResult for [PromptMessage; N] {
    fn into_result(self) -> Result<GetPromptResult> {
        Vec::from(self).into_result()
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_result(self) -> Result<GetPromptResult> {
        vec![self].into_result()
    }
}

impl IntoPromptResult for &'static str {
    fn into_result(self) -> Result<GetPromptResult> {
        user(self).into_result()
    }
}

impl IntoPromptResult for String {
    fn into_result(self) -> Result<GetPromptResult> {
        user(self).into_result()
    }
}

macro_rules! blocks {
    ($($block:ty),* $(,)?) => {
        $(
            impl IntoContentBlock for $block {
                fn into_content_block(self) -> ContentBlock {
                    self.into()
                }
            }

            impl IntoPromptResult for $block {
                fn into_result(self) -> Result<GetPromptResult> {
                    user(self).into_result()
                }
            }
        )*
    };
}

blocks!(
    ContentBlock,
    TextContent,
    ImageContent,
    AudioContent,
    ResourceLink,
    EmbeddedResource
);
