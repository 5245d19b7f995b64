//! Token claims as defined by RFC 7519, 7662 and 9068.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::{TokenClaims, VerifyError};

/// Converts the JSON claims of a token.
///
/// # Errors
///
/// Returns an error if a mandatory claim is missing, or if a claim that must be
/// understood is not.
pub(super) fn token_claims(
    issuer: &str,
    claims: Map<String, Value>,
) -> Result<TokenClaims, VerifyError> {
    let string = |name: &str| claims.get(name).and_then(Value::as_str);
    // A subject that is not a string is not replaced by the client id: all
    // users of that client would share one principal.
    if claims.contains_key("sub") && string("sub").is_none() {
        return Err(VerifyError::Invalid(
            "the subject of the token is not a string",
        ));
    }
    let client = string("client_id").or_else(|| string("azp"));
    let mut token = match (string("sub"), client) {
        (Some(subject), _) => TokenClaims::new(issuer, subject),
        (None, Some(client)) => TokenClaims::for_client(issuer, client),
        (None, None) => return Err(VerifyError::Invalid("the token has no subject")),
    };
    if let Some(client) = client {
        token = token.with_client_id(client);
    }
    for audience in strings(claims.get("aud")) {
        token = token.with_audience(audience);
    }
    // Some issuers use `scp` instead.
    let scopes = claims.get("scope").or_else(|| claims.get("scp"));
    let scopes = strings(scopes).flat_map(|it| it.split(' '));
    token = token.with_scopes(scopes.filter(|it| !it.is_empty()));
    if let Some(expires) = timestamp(&claims, "exp")? {
        token = token.with_expiry(expires);
    }
    if let Some(confirmation) = claims.get("cnf") {
        let key = confirmation.get("jkt").and_then(Value::as_str);
        let unknown = VerifyError::Invalid("the token is bound to a key in an unsupported way");
        token = token.with_key_thumbprint(key.ok_or(unknown)?);
    }
    Ok(token.with_claims(claims))
}

/// Iterates over a single string or a list of strings.
fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match value {
        Some(Value::String(text)) => (Some(text.as_str()), None),
        Some(Value::Array(items)) => (None, Some(items)),
        _ => (None, None),
    };
    let many = many.into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many)
}

/// Returns the value of a time claim.
///
/// # Errors
///
/// Returns an error if the claim is present but not a valid timestamp.
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
    let time = time.ok_or(VerifyError::Invalid("the token has an invalid timestamp"))?;
    Ok(Some(time))
}

/// Checks that a token is valid now. It must have an expiry.
///
/// # Errors
///
/// Returns an error if the token has no expiry, has expired or is not valid
/// yet.
pub(super) fn check_validity(
    claims: &Map<String, Value>,
    leeway: Duration,
) -> Result<(), VerifyError> {
    let now = SystemTime::now();
    let expires = timestamp(claims, "exp")?;
    let expires = expires.ok_or(VerifyError::Invalid("the token has no expiry"))?;
    // Times too large to represent never expire.
    if expires.checked_add(leeway).is_some_and(|end| end <= now) {
        return Err(VerifyError::Invalid("the token has expired"));
    }
    let not_before = timestamp(claims, "nbf")?;
    if not_before.is_some_and(|begin| begin.checked_sub(leeway).is_some_and(|it| it > now)) {
        return Err(VerifyError::Invalid("the token is not valid yet"));
    }
    Ok(())
}
