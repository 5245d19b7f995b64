//! Resources: listing, reading and subscribing.

use super::{
    Annotations, CacheScope, EmptyResult, Icon, InputResponses, Meta, RejectedItem, ResultType,
    WireFeatures,
    list::lenient_list,
    message::{notification, request, result, set_complete, set_uncacheable},
    method,
    object::object,
};
use crate::jsonrpc::decode_fast;

object! {
    /// A resource that a server offers.
    pub struct Resource {
        /// The URI.
        uri: String = required "uri",
        /// The programmatic name.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// A description for the model.
        description: Option<String> = optional "description",
        /// Its media type.
        mime_type: Option<String> = optional "mimeType",
        /// Its size in bytes, before any encoding.
        size: Option<u64> = optional "size",
        /// Icons to display.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// A template for the URIs of resources that a server offers.
    pub struct ResourceTemplate {
        /// The RFC 6570 template.
        uri_template: String = required "uriTemplate",
        /// The programmatic name.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// A description for the model.
        description: Option<String> = optional "description",
        /// The media type, if all matching resources have the same.
        mime_type: Option<String> = optional "mimeType",
        /// Icons to display.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// The content of a resource, or of a part of it: either text or bytes.
    pub struct ResourceContents {
        /// The URI.
        uri: String = required "uri",
        /// Its media type.
        mime_type: Option<String> = optional "mimeType",
        /// The content, if it is text.
        text: Option<String> = optional "text",
        /// The content in base64, if it is not text.
        blob: Option<String> = optional "blob",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

impl ResourceContents {
    /// Creates text content.
    pub fn from_text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new(uri)
        }
    }

    /// Creates binary content that is already in base64.
    pub fn from_base64(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self {
            blob: Some(blob.into()),
            ..Self::new(uri)
        }
    }
}

object! {
    /// Requests a page of resources.
    pub struct ListResourcesParams {
        /// The cursor of the page, from the previous page.
        cursor: Option<String> = optional "cursor",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListResourcesParams = method::RESOURCES_LIST => ListResourcesResult);

object! {
    /// A page of resources.
    pub struct ListResourcesResult adjusted by ListResourcesResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The resources.
        resources: Vec<Resource> = required "resources",
        /// The cursor of the next page; an empty string is a valid cursor.
        next_cursor: Option<String> = optional "nextCursor",
        /// How long the result may be cached, in milliseconds.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share the cached result.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that are not valid resources.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListResourcesResult, list);
lenient_list!(ListResourcesResult {
    resources: Resource = "resources"
});

impl ListResourcesResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, features);
    }
}

object! {
    /// Requests a page of resource templates.
    pub struct ListResourceTemplatesParams {
        /// The cursor of the page, from the previous page.
        cursor: Option<String> = optional "cursor",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListResourceTemplatesParams = method::RESOURCES_TEMPLATES_LIST => ListResourceTemplatesResult);

object! {
    /// A page of resource templates.
    pub struct ListResourceTemplatesResult adjusted by ListResourceTemplatesResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The templates.
        resource_templates: Vec<ResourceTemplate> = required "resourceTemplates",
        /// The cursor of the next page; an empty string is a valid cursor.
        next_cursor: Option<String> = optional "nextCursor",
        /// How long the result may be cached, in milliseconds.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share the cached result.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that are not valid templates.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListResourceTemplatesResult, list);
lenient_list!(ListResourceTemplatesResult {
    resource_templates: ResourceTemplate = "resourceTemplates"
});

impl ListResourceTemplatesResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, features);
    }
}

object! {
    /// Reads a resource.
    pub struct ReadResourceParams {
        /// The URI of the resource.
        uri: String = required "uri",
        /// The answers to the previous round.
        input_responses: Option<InputResponses> = optional "inputResponses" if input_rounds,
        /// The state from the previous round, unchanged.
        request_state: Option<String> = optional "requestState" if input_rounds,
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ReadResourceParams = method::RESOURCES_READ => ReadResourceResult);

object! {
    /// The contents of a resource.
    pub struct ReadResourceResult adjusted by ReadResourceResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The content, in one or more parts.
        contents: Vec<ResourceContents> = required "contents",
        /// How long the result may be cached, in milliseconds.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share the cached result.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ReadResourceResult, plain by decode_fast);

impl ReadResourceResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, features);
    }
}

object! {
    /// Subscribes to changes of a resource.
    pub struct SubscribeParams {
        /// The URI of the resource.
        uri: String = required "uri",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(SubscribeParams = method::RESOURCES_SUBSCRIBE => EmptyResult);

object! {
    /// Unsubscribes from changes of a resource.
    pub struct UnsubscribeParams {
        /// The URI of the resource.
        uri: String = required "uri",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(UnsubscribeParams = method::RESOURCES_UNSUBSCRIBE => EmptyResult);

object! {
    /// Notifies that the list of resources changed.
    pub struct ResourceListChangedParams {
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ResourceListChangedParams = method::RESOURCES_LIST_CHANGED);

object! {
    /// Notifies that a resource changed.
    pub struct ResourceUpdatedParams {
        /// The URI of the resource; it may be below the one in the
        /// subscription.
        uri: String = required "uri",
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ResourceUpdatedParams = method::RESOURCES_UPDATED);
