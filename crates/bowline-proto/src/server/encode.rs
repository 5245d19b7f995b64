//! Encoding of results for the revision of their request.

use bytes::Bytes;

use super::RequestContext;
use crate::{
    jsonrpc::{EncodeError, RawJson, RequestId, response, response_with_member},
    model::{Meta, ResultObject, meta::key},
};

/// Encodes a result for the client that sent the request: members that its
/// revision does not have are removed, members that it requires are added, and
/// in the stateless era the server info is added.
///
/// # Errors
///
/// Returns an error if the result cannot be serialised.
pub fn encode_result<R: ResultObject>(
    context: &RequestContext,
    mut result: R,
) -> Result<RawJson, EncodeError> {
    attach_server_info(context, &mut result);
    Ok(RawJson::encode(&result)?)
}

/// Encodes a complete response in one pass: [`encode_result`] and its envelope.
///
/// # Errors
///
/// Returns an error if the result cannot be serialised.
pub fn encode_response<R: ResultObject>(
    context: &RequestContext,
    id: &RequestId,
    mut result: R,
) -> Result<Bytes, EncodeError> {
    if let Some(server_info) = &context.server_info_json
        && result.meta().is_none()
    {
        result.adapt(&context.rules.features);
        return response_with_member(id, &result, &server_info.meta_member);
    }
    attach_server_info(context, &mut result);
    response(id, &result)
}

fn attach_server_info<R: ResultObject>(context: &RequestContext, result: &mut R) {
    result.adapt(&context.rules.features);
    let Some(server_info) = &context.server_info_json else {
        return;
    };
    let meta = result.meta_mut().get_or_insert_with(Meta::new);
    if !meta.members().contains_key(key::SERVER_INFO) {
        let info = server_info.info.clone();
        meta.members_mut().insert(key::SERVER_INFO, info);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        model::{CallToolResult, EmptyResult},
        revision::Revision,
        server::{Config, stateless},
    };

    fn check<R: ResultObject + Clone>(result: &R) {
        let params = json!({"_meta": {
            "io.modelcontextprotocol/protocolVersion": Revision::LATEST.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        let config = Config::new("a \"server\"", "1");
        let params = params.to_string();
        let context = stateless::admit(&config, "server/discover", Some(params.as_bytes()))
            .expect("it is admitted");
        let apart = encode_result(&context, result.clone()).expect("it encodes");
        let expected = json!({
            "jsonrpc": "2.0", "id": 1, "result": apart.decode::<Value>().expect("JSON"),
        });
        let whole = encode_response(&context, &1_u64.into(), result.clone()).expect("it encodes");
        let whole: Value = serde_json::from_slice(&whole).expect("JSON");
        assert_eq!(whole, expected);
        let info = &whole["result"]["_meta"][key::SERVER_INFO];
        assert_eq!(info["name"], "a \"server\"");
    }

    #[test]
    fn whole_answers_say_the_same_as_results() {
        check(&EmptyResult::default());
        check(&CallToolResult::text("done"));
        let mut result = CallToolResult::text("done");
        result.meta = Some(Meta::new());
        check(&result);
        let meta = result.meta.get_or_insert_default();
        meta.write("acme/x", &7).expect("it encodes");
        check(&result);
    }
}
