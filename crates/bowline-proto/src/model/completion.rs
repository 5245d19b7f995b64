//! Completing the arguments of prompts and resource templates.

use super::{
    Adapt, Dialect, Members, Meta, ResultType,
    message::{request, result, set_complete},
    method,
    object::object,
    tagged::tagged_union,
};

object! {
    /// Asks how an argument might go on.
    pub struct CompleteParams {
        /// What the argument belongs to.
        reference: Reference = required "ref",
        /// The argument so far.
        argument: CompleteArgument = required "argument",
        /// What is known of the other arguments.
        context: Option<CompleteContext> = optional "context" if completion_context,
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CompleteParams = method::COMPLETION_COMPLETE => CompleteResult);

tagged_union! {
    /// What an argument belongs to.
    pub enum Reference by "type" {
        /// A prompt.
        Prompt(PromptReference),
        /// A resource or resource template.
        Resource(ResourceReference),
    }
}

impl Adapt for Reference {
    fn adapt(&mut self, dialect: &Dialect) {
        match self {
            Self::Prompt(prompt) => prompt.adapt(dialect),
            Self::Resource(resource) => resource.adapt(dialect),
            Self::Unknown(_) => {}
        }
    }
}

object! {
    /// Names a prompt.
    pub struct PromptReference tagged "type" = "ref/prompt" {
        /// The prompt's name for programs.
        name: String = required "name",
        /// Its name for people.
        title: Option<String> = optional "title" if titles,
    }
}

object! {
    /// Names a resource or resource template.
    pub struct ResourceReference tagged "type" = "ref/resource" {
        /// The URI, or the template for one.
        uri: String = required "uri",
    }
}

object! {
    /// An argument as far as it is typed.
    pub struct CompleteArgument {
        /// Which argument.
        name: String = required "name",
        /// What is typed so far.
        value: String = required "value",
    }
}

object! {
    /// What is known of the other arguments.
    pub struct CompleteContext {
        /// Their values.
        arguments: Option<Members<String>> = optional "arguments",
    }
}

object! {
    /// How the argument might go on.
    pub struct CompleteResult adjusted by CompleteResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The proposals.
        completion: Completion = required "completion",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CompleteResult);

impl CompleteResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
    }
}

object! {
    /// Proposals for an argument.
    pub struct Completion {
        /// At most 100 values.
        values: Vec<String> = required "values",
        /// How many there are in all.
        total: Option<u64> = optional "total",
        /// Whether there are more, even if it is unknown how many.
        has_more: Option<bool> = optional "hasMore",
    }
}
