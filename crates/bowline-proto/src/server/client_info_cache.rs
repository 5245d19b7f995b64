//! A cache of the last client that described itself.

use std::sync::Arc;

use super::{
    ClientInfo, client_info,
    request_head::RequestHead,
    stateless::{Rejection, missing_meta},
};
use crate::model::{ClientCapabilities, meta::key};

/// A cache of the last client and its raw JSON. On a link, the same client
/// sends request after request with the same description of itself.
#[derive(Debug, Default)]
pub(super) struct ClientInfoCache {
    /// Its capabilities and its info, concatenated. Neither JSON value can be a
    /// prefix of another one, so they cannot be confused.
    json: Vec<u8>,
    client: Option<Arc<ClientInfo>>,
}

impl ClientInfoCache {
    /// The longest description that is cached.
    const MAX_LEN: usize = 4096;

    pub(super) fn read(&mut self, head: &RequestHead<'_>) -> Result<Arc<ClientInfo>, Rejection> {
        let (capabilities_json, info_json) = (
            head.raw_or_empty(key::CLIENT_CAPABILITIES),
            head.raw_or_empty(key::CLIENT_INFO),
        );
        if let Some(client) = &self.client
            && !capabilities_json.is_empty()
            && self.json.strip_prefix(capabilities_json) == Some(info_json)
        {
            return Ok(Arc::clone(client));
        }
        client_info::check_size(&[capabilities_json, info_json])?;
        let capabilities: ClientCapabilities = head
            .get(key::CLIENT_CAPABILITIES)?
            .ok_or_else(|| missing_meta(key::CLIENT_CAPABILITIES))?;
        let client = Arc::new(ClientInfo {
            capabilities,
            info: head.get(key::CLIENT_INFO)?,
        });
        if capabilities_json.len() + info_json.len() <= Self::MAX_LEN {
            self.json.clear();
            self.json.extend_from_slice(capabilities_json);
            self.json.extend_from_slice(info_json);
            self.client = Some(Arc::clone(&client));
        }
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::code;

    #[test]
    fn a_client_is_known_by_its_words() {
        let mut cache = ClientInfoCache::default();
        let mut read = |capabilities_json: &str, info_json: &str| {
            let (can_key, is_key) = (key::CLIENT_CAPABILITIES, key::CLIENT_INFO);
            let params = format!(
                r#"{{"_meta":{{"{can_key}":{capabilities_json},"{is_key}":{info_json}}}}}"#
            );
            cache.read(&RequestHead::read(Some(params.as_bytes())).unwrap())
        };
        let info_json = r#"{"name":"a","version":"1"}"#;
        let first = read("{}", info_json).unwrap();
        assert!(Arc::ptr_eq(&first, &read("{}", info_json).unwrap()));
        let able = read(r#"{"roots":{}}"#, info_json).unwrap();
        assert!(able.capabilities.has("roots") && !first.capabilities.has("roots"));
        let other = read(r#"{"roots":{}}"#, r#"{"name":"b","version":"1"}"#).unwrap();
        assert_eq!(other.info.as_ref().unwrap().name, "b");
        assert_eq!(
            read("7", info_json).unwrap_err().error.code,
            code::INVALID_PARAMS
        );
        assert!(
            read("{}", info_json).unwrap().info.is_some(),
            "a fault is forgotten"
        );
    }
}
