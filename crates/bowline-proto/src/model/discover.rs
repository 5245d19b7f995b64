//! Discovery of a stateless server.

use super::{
    CacheScope, Meta, ResultType, ServerCapabilities, WireFeatures,
    message::{request, result, set_complete, set_uncacheable},
    method,
    object::object,
};

object! {
    /// Requests a description of the server.
    pub struct DiscoverParams {
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(DiscoverParams = method::DISCOVER => DiscoverResult);

object! {
    /// The description of a server. Its name and version are in `_meta`.
    pub struct DiscoverResult adjusted by DiscoverResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The versions that the server supports, of either era.
        supported_versions: Vec<String> = required "supportedVersions",
        /// The server's capabilities.
        capabilities: ServerCapabilities = required "capabilities",
        /// How to use the server, for the model.
        instructions: Option<String> = optional "instructions",
        /// How long the result may be cached, in milliseconds.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share the cached result.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(DiscoverResult);

impl DiscoverResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, features);
    }
}
