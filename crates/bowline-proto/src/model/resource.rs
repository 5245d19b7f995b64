//! Resources: listing, reading and watching them.

use super::{
    Annotations, CacheScope, Dialect, EmptyResult, Icon, InputResponses, Meta, RejectedItem,
    ResultType,
    list::lenient_list,
    message::{notification, request, result, set_complete, set_uncacheable},
    method,
    object::object,
};
use crate::jsonrpc::decode_fast;

object! {
    /// Something that a server lets be read.
    pub struct Resource {
        /// Where it is.
        uri: String = required "uri",
        /// The name for programs.
        name: String = required "name",
        /// The name for people.
        title: Option<String> = optional "title" if titles,
        /// What it is, for the model.
        description: Option<String> = optional "description",
        /// Its media type.
        mime_type: Option<String> = optional "mimeType",
        /// Its size in bytes, before any encoding.
        size: Option<u64> = optional "size",
        /// Pictures to show.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// A pattern of URIs that a server lets be read.
    pub struct ResourceTemplate {
        /// The pattern, an RFC 6570 template.
        uri_template: String = required "uriTemplate",
        /// The name for programs.
        name: String = required "name",
        /// The name for people.
        title: Option<String> = optional "title" if titles,
        /// What it is for, for the model.
        description: Option<String> = optional "description",
        /// The media type, if all that match have the same.
        mime_type: Option<String> = optional "mimeType",
        /// Pictures to show.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// The content of a resource, or of a part of it: either text or bytes.
    pub struct ResourceContents {
        /// Where it is.
        uri: String = required "uri",
        /// Its media type.
        mime_type: Option<String> = optional "mimeType",
        /// The content, if it is text.
        text: Option<String> = optional "text",
        /// The content in base64, if it is not.
        blob: Option<String> = optional "blob",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

impl ResourceContents {
    /// Content that is text.
    pub fn from_text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new(uri)
        }
    }

    /// Content that is not text, already in base64.
    pub fn from_base64(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self {
            blob: Some(blob.into()),
            ..Self::new(uri)
        }
    }
}

object! {
    /// Asks for a page of resources.
    pub struct ListResourcesParams {
        /// Where the page begins, as the one before it said.
        cursor: Option<String> = optional "cursor",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListResourcesParams = method::RESOURCES_LIST => ListResourcesResult);

object! {
    /// A page of resources.
    pub struct ListResourcesResult adjusted by ListResourcesResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The resources.
        resources: Vec<Resource> = required "resources",
        /// Where the next page begins; an empty string is a place, too.
        next_cursor: Option<String> = optional "nextCursor",
        /// For how many milliseconds it may be kept.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share it.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that were not resources.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListResourcesResult, list);
lenient_list!(ListResourcesResult {
    resources: Resource = "resources"
});

impl ListResourcesResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, dialect);
    }
}

object! {
    /// Asks for a page of resource templates.
    pub struct ListResourceTemplatesParams {
        /// Where the page begins, as the one before it said.
        cursor: Option<String> = optional "cursor",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListResourceTemplatesParams = method::RESOURCES_TEMPLATES_LIST => ListResourceTemplatesResult);

object! {
    /// A page of resource templates.
    pub struct ListResourceTemplatesResult adjusted by ListResourceTemplatesResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The templates.
        resource_templates: Vec<ResourceTemplate> = required "resourceTemplates",
        /// Where the next page begins; an empty string is a place, too.
        next_cursor: Option<String> = optional "nextCursor",
        /// For how many milliseconds it may be kept.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share it.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that were not templates.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListResourceTemplatesResult, list);
lenient_list!(ListResourceTemplatesResult {
    resource_templates: ResourceTemplate = "resourceTemplates"
});

impl ListResourceTemplatesResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, dialect);
    }
}

object! {
    /// Reads a resource.
    pub struct ReadResourceParams {
        /// Which resource.
        uri: String = required "uri",
        /// Answers to what the round before asked.
        input_responses: Option<InputResponses> = optional "inputResponses" if input_rounds,
        /// What the round before said to bring along, unchanged.
        request_state: Option<String> = optional "requestState" if input_rounds,
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ReadResourceParams = method::RESOURCES_READ => ReadResourceResult);

object! {
    /// What a resource holds.
    pub struct ReadResourceResult adjusted by ReadResourceResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The content, in one part or several.
        contents: Vec<ResourceContents> = required "contents",
        /// For how many milliseconds it may be kept.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share it.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ReadResourceResult, plain by decode_fast);

impl ReadResourceResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, dialect);
    }
}

object! {
    /// Asks to be told when a resource changes.
    pub struct SubscribeParams {
        /// Which resource.
        uri: String = required "uri",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(SubscribeParams = method::RESOURCES_SUBSCRIBE => EmptyResult);

object! {
    /// Asks to be told no more when a resource changes.
    pub struct UnsubscribeParams {
        /// Which resource.
        uri: String = required "uri",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(UnsubscribeParams = method::RESOURCES_UNSUBSCRIBE => EmptyResult);

object! {
    /// Says that the list of resources changed.
    pub struct ResourceListChangedParams {
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ResourceListChangedParams = method::RESOURCES_LIST_CHANGED);

object! {
    /// Says that a resource changed.
    pub struct ResourceUpdatedParams {
        /// Which resource; it may lie below the one that was watched.
        uri: String = required "uri",
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ResourceUpdatedParams = method::RESOURCES_UPDATED);
