//! Prompts: listing and getting them.

use super::{
    CacheScope, ContentBlock, Icon, InputResponses, Members, Meta, RejectedItem, ResultType, Role,
    WireFeatures,
    list::lenient_list,
    message::{notification, request, result, set_complete, set_uncacheable},
    method,
    object::object,
};

object! {
    /// A prompt, or a template for one, that a server offers.
    pub struct Prompt {
        /// The programmatic name, used to get it.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// A description of the prompt.
        description: Option<String> = optional "description",
        /// The arguments.
        arguments: Vec<PromptArgument> = sparse "arguments",
        /// Icons to display.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// An argument of a prompt.
    pub struct PromptArgument {
        /// The programmatic name.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// A description of the field.
        description: Option<String> = optional "description",
        /// Whether it is required.
        required: Option<bool> = optional "required",
    }
}

object! {
    /// A message of the conversation that a prompt produces.
    pub struct PromptMessage {
        /// The role of the sender.
        role: Role = required "role",
        /// The content.
        content: ContentBlock = required "content",
    }
}

object! {
    /// Requests a page of prompts.
    pub struct ListPromptsParams {
        /// The cursor of the page, from the previous page.
        cursor: Option<String> = optional "cursor",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListPromptsParams = method::PROMPTS_LIST => ListPromptsResult);

object! {
    /// A page of prompts.
    pub struct ListPromptsResult adjusted by ListPromptsResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The prompts.
        prompts: Vec<Prompt> = required "prompts",
        /// The cursor of the next page; an empty string is a valid cursor.
        next_cursor: Option<String> = optional "nextCursor",
        /// How long the result may be cached, in milliseconds.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share the cached result.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that are not valid prompts.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListPromptsResult, list);
lenient_list!(ListPromptsResult {
    prompts: Prompt = "prompts"
});

impl ListPromptsResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, features);
    }
}

object! {
    /// Gets a prompt with its arguments filled in.
    pub struct GetPromptParams {
        /// The name of the prompt.
        name: String = required "name",
        /// The arguments.
        arguments: Option<Members<String>> = optional "arguments",
        /// The answers to the previous round.
        input_responses: Option<InputResponses> = optional "inputResponses" if input_rounds,
        /// The state from the previous round, unchanged.
        request_state: Option<String> = optional "requestState" if input_rounds,
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(GetPromptParams = method::PROMPTS_GET => GetPromptResult);

object! {
    /// A prompt with its arguments filled in.
    pub struct GetPromptResult adjusted by GetPromptResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// A description of the prompt.
        description: Option<String> = optional "description",
        /// The messages of the conversation.
        messages: Vec<PromptMessage> = required "messages",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(GetPromptResult);

impl GetPromptResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
    }
}

object! {
    /// Notifies that the list of prompts changed.
    pub struct PromptListChangedParams {
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(PromptListChangedParams = method::PROMPTS_LIST_CHANGED);
