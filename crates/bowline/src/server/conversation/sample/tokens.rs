//! Token budgets of sampling: estimated, and the same in every replay.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{
            ContentBlock, CreateMessageParams, CreateMessageResult, ResultObject as _,
            SamplingBlock, SamplingContent,
        },
    },
    server::{
        conversation::scope::Scope,
        error::{Error, ErrorKind, Result},
    },
};

/// The assumed number of characters per token.
const CHARACTERS_PER_TOKEN: u64 = 4;
/// The assumed size of an image or a sound, whose encoded length says little.
const MEDIA_CHARACTERS: u64 = 1000 * CHARACTERS_PER_TOKEN;

/// A limit of tokens and the number used.
#[derive(Debug)]
pub(in crate::server::conversation) struct TokenBudget {
    limit: Option<u64>,
    used: AtomicU64,
}

impl TokenBudget {
    pub(in crate::server::conversation) fn new(limit: Option<u64>) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
        }
    }

    /// Reserves tokens, or returns the limit if not enough are left.
    fn reserve(&self, tokens: u64) -> Result<(), u64> {
        let limit = self.limit.unwrap_or(u64::MAX);
        let add = |used: u64| used.checked_add(tokens).filter(|sum| *sum <= limit);
        let added = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        added.map(drop).map_err(|_| limit)
    }

    fn release(&self, tokens: u64) {
        self.used.fetch_sub(tokens, Ordering::Relaxed);
    }

    /// Charges tokens, even beyond the limit.
    fn charge(&self, tokens: u64) {
        let add = |used: u64| Some(used.saturating_add(tokens));
        let _ = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}

impl Scope {
    /// Reserves the tokens of a question in all enclosing budgets, or in none.
    pub(in crate::server::conversation) fn reserve(&self, tokens: u64) -> Result<()> {
        for (index, scope) in self.ancestors().enumerate() {
            if let Err(limit) = scope.budget.reserve(tokens) {
                for reserved in self.ancestors().take(index) {
                    reserved.budget.release(tokens);
                }
                let message = format!("sampling exceeds the limit of {limit} tokens");
                return Err(Error::with_kind(
                    ErrorKind::TokenBudgetExceeded { limit },
                    message,
                ));
            }
        }
        Ok(())
    }

    /// Charges an answer to all enclosing budgets.
    pub(in crate::server::conversation) fn charge(&self, tokens: u64) {
        self.ancestors()
            .for_each(|scope| scope.budget.charge(tokens));
    }
}

/// Estimates the tokens of a question.
pub(in crate::server::conversation) fn estimate_question(params: &CreateMessageParams) -> u64 {
    let system = params.system_prompt.as_deref().map_or(0, count_characters);
    let messages = params
        .messages
        .iter()
        .map(|it| content_characters(&it.content));
    let tools = params.tools.as_ref().map_or(0, json_characters);
    characters_to_tokens(system + messages.sum::<u64>() + tools)
}

/// Estimates the tokens of an answer. An invalid answer costs nothing.
pub(in crate::server::conversation) fn estimate_answer(answer: &RawJson) -> u64 {
    match CreateMessageResult::decode(answer.get().as_bytes()) {
        Ok(answer) => characters_to_tokens(content_characters(&answer.content)),
        Err(_) => 0,
    }
}

fn characters_to_tokens(characters: u64) -> u64 {
    characters.div_ceil(CHARACTERS_PER_TOKEN)
}

fn content_characters(content: &SamplingContent) -> u64 {
    content.blocks().iter().map(block_characters).sum()
}

fn block_characters(block: &SamplingBlock) -> u64 {
    match block {
        SamplingBlock::Text(text) => count_characters(&text.text),
        SamplingBlock::Image(_) | SamplingBlock::Audio(_) => MEDIA_CHARACTERS,
        SamplingBlock::ToolUse(call) => {
            count_characters(&call.name) + count_characters(call.input.get())
        }
        SamplingBlock::ToolResult(result) => {
            let structured = result.structured_content.as_ref();
            let structured = structured.map_or(0, |value| count_characters(value.get()));
            structured + result.content.iter().map(result_characters).sum::<u64>()
        }
        other => json_characters(other),
    }
}

fn result_characters(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text(text) => count_characters(&text.text),
        ContentBlock::Image(_) | ContentBlock::Audio(_) => MEDIA_CHARACTERS,
        other => json_characters(other),
    }
}

fn json_characters<T: Serialize>(value: &T) -> u64 {
    serde_json::to_string(value).map_or(0, |json| count_characters(&json))
}

fn count_characters(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::model::{Role, SamplingMessage};

    #[test]
    fn four_characters_are_a_token_and_a_rest_is_one_more() {
        let message = SamplingMessage::new(Role::User, SamplingBlock::text("äöüß5"));
        let mut params = CreateMessageParams::new(vec![message], 10);
        assert_eq!(estimate_question(&params), 2);
        params.system_prompt = Some("678".to_owned());
        assert_eq!(estimate_question(&params), 2);
        params.system_prompt = Some("6789".to_owned());
        assert_eq!(estimate_question(&params), 3);
    }

    #[test]
    fn what_is_no_answer_costs_nothing() {
        let answer = |json: &str| RawJson::from_string(json.to_owned()).expect("JSON");
        let text =
            r#"{"role":"assistant","model":"m","content":{"type":"text","text":"12345678"}}"#;
        assert_eq!(estimate_answer(&answer(text)), 2);
        assert_eq!(estimate_answer(&answer("{}")), 0);
    }
}
