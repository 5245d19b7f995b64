//! What a prompt makes.

use crate::{
    proto::model::{
        AudioContent, ContentBlock, EmbeddedResource, GetPromptResult, ImageContent, PromptMessage,
        ResourceLink, Role, TextContent,
    },
    server::error::Result,
};

/// What getting a prompt may return: a text or a content block, which is one
/// message of the user's, or messages of any kind.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not messages",
    note = "return text, a content block, or messages made with `user(..)` and `assistant(..)`"
)]
pub trait IntoPromptResult: Send + 'static {
    /// The result for the client. Where it has no description, it gets that of
    /// the prompt.
    ///
    /// # Errors
    ///
    /// Where the value cannot be encoded.
    fn into_result(self) -> Result<GetPromptResult>;
}

/// A message of the user's.
pub fn user(content: impl IntoContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, content.into_content_block())
}

/// A message of the model's.
pub fn assistant(content: impl IntoContentBlock) -> PromptMessage {
    PromptMessage::new(Role::Assistant, content.into_content_block())
}

/// What a message may hold: text, or a content block.
pub trait IntoContentBlock {
    /// The content block.
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
