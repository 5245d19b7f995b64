//! Prompts for a model, and their validation.

use crate::{
    proto::model::{
        Role, SamplingBlock, SamplingContent, SamplingMessage, ToolResultContent, ToolUseContent,
    },
    server::error::{Error, ErrorKind, Result},
};

/// The prompt of a sampling request.
///
/// Usually it is the next user turn of the conversation: text, content blocks,
/// or the results of tools that the model called. The model receives the
/// earlier messages too, and its answer is recorded.
///
/// It can be a complete list of messages instead. Then the model receives only
/// these, and nothing is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPrompt(pub(super) PromptContent);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PromptContent {
    Turn(SamplingContent),
    Messages(Vec<SamplingMessage>),
}

impl From<String> for ModelPrompt {
    fn from(text: String) -> Self {
        SamplingBlock::text(text).into()
    }
}

impl From<&str> for ModelPrompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for ModelPrompt {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<SamplingBlock> for ModelPrompt {
    fn from(block: SamplingBlock) -> Self {
        Self(PromptContent::Turn(block.into()))
    }
}

impl From<Vec<SamplingBlock>> for ModelPrompt {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self(PromptContent::Turn(blocks.into()))
    }
}

/// The results of the tools that the model called.
impl From<Vec<ToolResultContent>> for ModelPrompt {
    fn from(results: Vec<ToolResultContent>) -> Self {
        let blocks: Vec<SamplingBlock> = results.into_iter().map(Into::into).collect();
        blocks.into()
    }
}

/// A complete list of messages.
impl From<Vec<SamplingMessage>> for ModelPrompt {
    fn from(messages: Vec<SamplingMessage>) -> Self {
        Self(PromptContent::Messages(messages))
    }
}

/// Removes the system messages, which have their own member in the request.
pub(super) fn extract_system(messages: &mut Vec<SamplingMessage>) -> Vec<String> {
    let mut system = Vec::new();
    messages.retain(|message| {
        let is_system = message.role.as_str() == "system";
        if is_system {
            let blocks = message.content.blocks().iter();
            system.extend(blocks.filter_map(|block| block.as_text().map(str::to_owned)));
        }
        !is_system
    });
    system
}

/// Checks that messages can be sent: each message with tool calls must be
/// followed by a user message with the results of these calls and nothing else.
pub(super) fn check(messages: &[SamplingMessage]) -> Result<()> {
    if messages.is_empty() {
        return Err(invalid("there are no messages for the model"));
    }
    let mut pending = Vec::new();
    for message in messages {
        pending = check_turn(message, &pending)?;
    }
    if pending.is_empty() {
        Ok(())
    } else {
        Err(invalid(MISSING_RESULTS))
    }
}

/// Checks one message after calls that are still open. Returns the calls it
/// leaves open.
fn check_turn<'a>(message: &'a SamplingMessage, pending: &[&str]) -> Result<Vec<&'a str>> {
    let blocks = message.content.blocks();
    let mut calls: Vec<_> = tool_calls(blocks).map(|call| call.id.as_str()).collect();
    let mut results: Vec<_> = blocks.iter().filter_map(tool_result_id).collect();
    calls.sort_unstable();
    results.sort_unstable();
    match message.role {
        Role::Assistant if !pending.is_empty() => Err(invalid(MISSING_RESULTS)),
        Role::Assistant if results.is_empty() => Ok(calls),
        Role::Assistant => Err(invalid(
            "an assistant message must not contain tool results",
        )),
        Role::User if !calls.is_empty() => {
            Err(invalid("a user message must not contain tool calls"))
        }
        Role::User if results == pending && [0, blocks.len()].contains(&results.len()) => {
            Ok(Vec::new())
        }
        Role::User if results.is_empty() => Err(invalid(MISSING_RESULTS)),
        Role::User if results == pending => Err(invalid(
            "a message with tool results must not contain other content",
        )),
        Role::User => Err(invalid("tool results must match the preceding tool calls")),
        _ => Err(Error::with_kind(
            ErrorKind::InvalidQuestion,
            format!("unknown role {:?}", message.role.as_str()),
        )),
    }
}

const MISSING_RESULTS: &str = "tool calls must be followed by their results";

/// Returns the tool calls among content blocks.
pub(super) fn tool_calls(blocks: &[SamplingBlock]) -> impl Iterator<Item = &ToolUseContent> {
    blocks.iter().filter_map(|block| match block {
        SamplingBlock::ToolUse(call) => Some(call),
        _ => None,
    })
}

fn tool_result_id(block: &SamplingBlock) -> Option<&str> {
    match block {
        SamplingBlock::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    }
}

fn invalid(why: &'static str) -> Error {
    Error::with_kind(ErrorKind::InvalidQuestion, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::jsonrpc::RawJson;

    fn call(id: &str) -> SamplingBlock {
        let input = RawJson::encode(&()).expect("JSON");
        ToolUseContent::new(id, "tool", input).into()
    }

    fn result(id: &str) -> SamplingBlock {
        ToolResultContent::new(id).into()
    }

    fn text() -> SamplingBlock {
        SamplingBlock::text("text")
    }

    #[track_caller]
    fn check_turns(turns: &[(&str, &[SamplingBlock])], fault: Option<&str>) {
        let message = |(role, blocks): &(&str, &[SamplingBlock])| {
            SamplingMessage::new(Role::from(*role), blocks.to_vec())
        };
        let messages: Vec<_> = turns.iter().map(message).collect();
        let found = check(&messages).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), fault);
    }

    #[test]
    fn calls_are_followed_by_their_results_and_nothing_else() {
        let text_turn = [text()];
        let called = [text(), call("a"), call("b")];
        let user = ("user", text_turn.as_slice());
        let both = ("assistant", called.as_slice());
        check_turns(&[], Some("there are no messages for the model"));
        check_turns(&[user, ("assistant", &[text()]), user], None);
        check_turns(
            &[user, both, ("user", &[result("b"), result("a")]), user],
            None,
        );
        check_turns(&[user, both], Some(MISSING_RESULTS));
        check_turns(&[user, both, user], Some(MISSING_RESULTS));
        check_turns(&[user, both, both], Some(MISSING_RESULTS));
        let alone = "a message with tool results must not contain other content";
        let mixed = [result("a"), result("b"), text()];
        check_turns(&[user, both, ("user", &mixed)], Some(alone));
        let answer = "tool results must match the preceding tool calls";
        check_turns(&[user, both, ("user", &[result("a")])], Some(answer));
        check_turns(&[("user", &[result("a")])], Some(answer));
    }

    #[test]
    fn everyone_says_what_is_theirs_to_say() {
        check_turns(
            &[("user", &[call("a")])],
            Some("a user message must not contain tool calls"),
        );
        let why = "an assistant message must not contain tool results";
        check_turns(&[("assistant", &[result("a")])], Some(why));
        check_turns(&[("judge", &[text()])], Some("unknown role \"judge\""));
    }

    #[test]
    fn what_the_system_says_is_taken_out() {
        let message = |role: &str| SamplingMessage::new(Role::from(role), text());
        let mut messages = vec![message("system"), message("user"), message("system")];
        assert_eq!(extract_system(&mut messages), ["text", "text"]);
        assert_eq!(messages, [message("user")]);
    }
}
