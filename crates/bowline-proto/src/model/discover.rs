//! Asking a stateless server what it is.

use super::{
    CacheScope, Dialect, Meta, ResultType, ServerCapabilities,
    message::{request, result, set_complete, set_uncacheable},
    method,
    object::object,
};

object! {
    /// Asks what a server is and can do.
    pub struct DiscoverParams {
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(DiscoverParams = method::DISCOVER => DiscoverResult);

object! {
    /// What a server is and can do. Who it is stands in `_meta`.
    pub struct DiscoverResult adjusted by DiscoverResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The versions that the server speaks, of whatever era.
        supported_versions: Vec<String> = required "supportedVersions",
        /// What the server can do.
        capabilities: ServerCapabilities = required "capabilities",
        /// How to use the server, for the model.
        instructions: Option<String> = optional "instructions",
        /// For how many milliseconds it may be kept.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share it.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(DiscoverResult);

impl DiscoverResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, dialect);
    }
}
