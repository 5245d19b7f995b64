//! Prompts: listing and getting them.

use super::{
    CacheScope, ContentBlock, Dialect, Icon, InputResponses, Members, Meta, RejectedItem,
    ResultType, Role,
    list::lenient_list,
    message::{notification, request, result, set_complete, set_uncacheable},
    method,
    object::object,
};

object! {
    /// A prompt, or a template for one, that a server offers.
    pub struct Prompt {
        /// The name for programs, by which it is got.
        name: String = required "name",
        /// The name for people.
        title: Option<String> = optional "title" if titles,
        /// What it is for.
        description: Option<String> = optional "description",
        /// What can be filled in.
        arguments: Vec<PromptArgument> = sparse "arguments",
        /// Pictures to show.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// A blank in a prompt.
    pub struct PromptArgument {
        /// The name for programs.
        name: String = required "name",
        /// The name for people.
        title: Option<String> = optional "title" if titles,
        /// What belongs there.
        description: Option<String> = optional "description",
        /// Whether it must be filled in.
        required: Option<bool> = optional "required",
    }
}

object! {
    /// One turn of the conversation that a prompt makes.
    pub struct PromptMessage {
        /// Whose turn.
        role: Role = required "role",
        /// What is said.
        content: ContentBlock = required "content",
    }
}

object! {
    /// Asks for a page of prompts.
    pub struct ListPromptsParams {
        /// Where the page begins, as the one before it said.
        cursor: Option<String> = optional "cursor",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListPromptsParams = method::PROMPTS_LIST => ListPromptsResult);

object! {
    /// A page of prompts.
    pub struct ListPromptsResult adjusted by ListPromptsResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The prompts.
        prompts: Vec<Prompt> = required "prompts",
        /// Where the next page begins; an empty string is a place, too.
        next_cursor: Option<String> = optional "nextCursor",
        /// For how many milliseconds it may be kept.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share it.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that were not prompts.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListPromptsResult, list);
lenient_list!(ListPromptsResult {
    prompts: Prompt = "prompts"
});

impl ListPromptsResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, dialect);
    }
}

object! {
    /// Gets a prompt, filled in.
    pub struct GetPromptParams {
        /// Which prompt.
        name: String = required "name",
        /// What to fill in.
        arguments: Option<Members<String>> = optional "arguments",
        /// Answers to what the round before asked.
        input_responses: Option<InputResponses> = optional "inputResponses" if input_rounds,
        /// What the round before said to bring along, unchanged.
        request_state: Option<String> = optional "requestState" if input_rounds,
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(GetPromptParams = method::PROMPTS_GET => GetPromptResult);

object! {
    /// A prompt, filled in.
    pub struct GetPromptResult adjusted by GetPromptResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// What it is for.
        description: Option<String> = optional "description",
        /// The conversation that it makes.
        messages: Vec<PromptMessage> = required "messages",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(GetPromptResult);

impl GetPromptResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
    }
}

object! {
    /// Says that the list of prompts changed.
    pub struct PromptListChangedParams {
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(PromptListChangedParams = method::PROMPTS_LIST_CHANGED);
