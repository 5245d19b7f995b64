//! Results as the revision of their request has them.

use bytes::Bytes;

use super::RequestContext;
use crate::{
    jsonrpc::{EncodeError, RawJson, RequestId, response},
    model::{Meta, ResultObject, meta::key},
};

/// Encodes a result for the client that asked: what its revision cannot carry is
/// taken off, what it demands is added, and in the stateless era the result says
/// whose it is.
///
/// # Errors
///
/// Where the result refuses to be serialised.
pub fn encode_result<R: ResultObject>(
    context: &RequestContext,
    mut result: R,
) -> Result<RawJson, EncodeError> {
    dress(context, &mut result);
    Ok(RawJson::encode(&result)?)
}

/// Encodes a whole answer in one pass: [`encode_result`] and its envelope.
///
/// # Errors
///
/// Where the result refuses to be serialised.
pub fn encode_response<R: ResultObject>(
    context: &RequestContext,
    id: &RequestId,
    mut result: R,
) -> Result<Bytes, EncodeError> {
    dress(context, &mut result);
    response(id, &result)
}

fn dress<R: ResultObject>(context: &RequestContext, result: &mut R) {
    result.adapt(&context.rules.dialect);
    let Some(introduction) = &context.introduction else {
        return;
    };
    let meta = result.meta_mut().get_or_insert_with(Meta::new);
    if !meta.members().contains_key(key::SERVER_INFO) {
        let introduction = RawJson::clone(introduction);
        meta.members_mut().insert(key::SERVER_INFO, introduction);
    }
}
