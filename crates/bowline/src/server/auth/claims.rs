//! What tokens say, in the words of RFC 7519, 7662 and 9068.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::{Grant, VerifyError};

/// Reads what a token says into a grant.
///
/// # Errors
///
/// Where it says less than it must, or something that is not understood here
/// and must be.
pub(super) fn into_grant(issuer: &str, claims: Map<String, Value>) -> Result<Grant, VerifyError> {
    let string = |name: &str| claims.get(name).and_then(Value::as_str);
    // Whom it names in another way than by a text is not known by the client's
    // name either: all who use that client would be one.
    if claims.contains_key("sub") && string("sub").is_none() {
        return Err(VerifyError::Invalid(
            "the subject of the token is not a text",
        ));
    }
    let client = string("client_id").or_else(|| string("azp"));
    let mut grant = match (string("sub"), client) {
        (Some(subject), _) => Grant::new(issuer, subject),
        (None, Some(client)) => Grant::for_client(issuer, client),
        (None, None) => return Err(VerifyError::Invalid("the token names no subject")),
    };
    if let Some(client) = client {
        grant = grant.with_client_id(client);
    }
    for audience in strings(claims.get("aud")) {
        grant = grant.with_audience(audience);
    }
    // The second is what some issuers say in its place.
    let scopes = claims.get("scope").or_else(|| claims.get("scp"));
    let scopes = strings(scopes).flat_map(|it| it.split(' '));
    grant = grant.with_scopes(scopes.filter(|it| !it.is_empty()));
    if let Some(expires) = timestamp(&claims, "exp")? {
        grant = grant.with_expiry(expires);
    }
    if let Some(confirmation) = claims.get("cnf") {
        let key = confirmation.get("jkt").and_then(Value::as_str);
        let unknown = VerifyError::Invalid("the token is bound in a way that is not known here");
        grant = grant.with_key_thumbprint(key.ok_or(unknown)?);
    }
    Ok(grant.with_claims(claims))
}

/// One text, or a list of texts.
fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match value {
        Some(Value::String(text)) => (Some(text.as_str()), None),
        Some(Value::Array(items)) => (None, Some(items)),
        _ => (None, None),
    };
    let many = many.into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many)
}

/// A moment that the token names.
///
/// # Errors
///
/// Where there is something in its place that is none.
pub(super) fn timestamp(
    claims: &Map<String, Value>,
    name: &str,
) -> Result<Option<SystemTime>, VerifyError> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64().filter(|it| *it >= 0.0);
    let since_epoch = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let time = since_epoch.and_then(|since_epoch| SystemTime::UNIX_EPOCH.checked_add(since_epoch));
    let time = time.ok_or(VerifyError::Invalid(
        "the token names a moment that is none",
    ))?;
    Ok(Some(time))
}

/// Whether a token is good now, as far as time goes: it must say until when.
///
/// # Errors
///
/// Where it is not.
pub(super) fn check_validity(
    claims: &Map<String, Value>,
    leeway: Duration,
) -> Result<(), VerifyError> {
    let now = SystemTime::now();
    let expires = timestamp(claims, "exp")?;
    let expires = expires.ok_or(VerifyError::Invalid("the token does not say until when"))?;
    // Moments that cannot be counted are for ever.
    if expires.checked_add(leeway).is_some_and(|end| end <= now) {
        return Err(VerifyError::Invalid("the token has expired"));
    }
    let not_before = timestamp(claims, "nbf")?;
    if not_before.is_some_and(|begin| begin.checked_sub(leeway).is_some_and(|it| it > now)) {
        return Err(VerifyError::Invalid("the token is not good yet"));
    }
    Ok(())
}
