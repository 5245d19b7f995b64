//! Completion of arguments of prompts and resource templates.

use super::{
    Adapt, Members, Meta, ResultType, WireFeatures,
    message::{request, result, set_complete},
    method,
    object::object,
    tagged::tagged_union,
};

object! {
    /// Requests completions for an argument.
    pub struct CompleteParams {
        /// The prompt or resource that the argument belongs to.
        reference: Reference = required "ref",
        /// The argument so far.
        argument: CompleteArgument = required "argument",
        /// The other arguments, as far as they are known.
        context: Option<CompleteContext> = optional "context" if completion_context,
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CompleteParams = method::COMPLETION_COMPLETE => CompleteResult);

tagged_union! {
    /// The prompt or resource that an argument belongs to.
    pub enum Reference by "type" {
        /// A prompt.
        Prompt(PromptReference),
        /// A resource or resource template.
        Resource(ResourceReference),
    }
}

impl Adapt for Reference {
    fn adapt(&mut self, features: &WireFeatures) {
        match self {
            Self::Prompt(prompt) => prompt.adapt(features),
            Self::Resource(resource) => resource.adapt(features),
            Self::Unknown(_) => {}
        }
    }
}

object! {
    /// A reference to a prompt.
    pub struct PromptReference tagged "type" = "ref/prompt" {
        /// The prompt's name for programs.
        name: String = required "name",
        /// Its name for people.
        title: Option<String> = optional "title" if titles,
    }
}

object! {
    /// A reference to a resource or resource template.
    pub struct ResourceReference tagged "type" = "ref/resource" {
        /// The URI or URI template.
        uri: String = required "uri",
    }
}

object! {
    /// An argument as typed so far.
    pub struct CompleteArgument {
        /// The argument's name.
        name: String = required "name",
        /// The value typed so far.
        value: String = required "value",
    }
}

object! {
    /// The other arguments, as far as they are known.
    pub struct CompleteContext {
        /// Their values.
        arguments: Option<Members<String>> = optional "arguments",
    }
}

object! {
    /// Completions for an argument.
    pub struct CompleteResult adjusted by CompleteResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The completions.
        completion: Completion = required "completion",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CompleteResult);

impl CompleteResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
    }
}

object! {
    /// Completions for an argument.
    pub struct Completion {
        /// At most 100 values.
        values: Vec<String> = required "values",
        /// The total number of completions.
        total: Option<u64> = optional "total",
        /// Whether there are more, even if the total is unknown.
        has_more: Option<bool> = optional "hasMore",
    }
}
