//! What tokens say, in the words of RFC 7519, 7662 and 9068.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::{Grant, Refusal};

/// Reads what a token says into a grant.
///
/// # Errors
///
/// Where it says less than it must, or something that is not understood here
/// and must be.
pub(super) fn read(issuer: &str, claims: Map<String, Value>) -> Result<Grant, Refusal> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    // Whom it names in another way than by a text is not known by the client's
    // name either: all who use that client would be one.
    if claims.contains_key("sub") && text("sub").is_none() {
        return Err(Refusal::Invalid("the subject of the token is not a text"));
    }
    let client = text("client_id").or_else(|| text("azp"));
    let mut grant = match (text("sub"), client) {
        (Some(subject), _) => Grant::new(issuer, subject),
        (None, Some(client)) => Grant::to_client(issuer, client),
        (None, None) => return Err(Refusal::Invalid("the token names no subject")),
    };
    if let Some(client) = client {
        grant = grant.through_client(client);
    }
    for audience in texts(claims.get("aud")) {
        grant = grant.for_audience(audience);
    }
    // The second is what some issuers say in its place.
    let scopes = claims.get("scope").or_else(|| claims.get("scp"));
    let scopes = texts(scopes).flat_map(|it| it.split(' '));
    grant = grant.with_scopes(scopes.filter(|it| !it.is_empty()));
    if let Some(expires) = moment(&claims, "exp")? {
        grant = grant.until(expires);
    }
    if let Some(confirmation) = claims.get("cnf") {
        let key = confirmation.get("jkt").and_then(Value::as_str);
        let unknown = Refusal::Invalid("the token is bound in a way that is not known here");
        grant = grant.bound_to_key(key.ok_or(unknown)?);
    }
    Ok(grant.with_claims(claims))
}

/// One text, or a list of texts.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match value {
        Some(Value::String(text)) => (Some(text.as_str()), None),
        Some(Value::Array(texts)) => (None, Some(texts)),
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
pub(super) fn moment(
    claims: &Map<String, Value>,
    name: &str,
) -> Result<Option<SystemTime>, Refusal> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64().filter(|it| *it >= 0.0);
    let since = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let moment = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    let moment = moment.ok_or(Refusal::Invalid("the token names a moment that is none"))?;
    Ok(Some(moment))
}

/// Whether a token is good now, as far as time goes: it must say until when.
///
/// # Errors
///
/// Where it is not.
pub(super) fn in_time(claims: &Map<String, Value>, leeway: Duration) -> Result<(), Refusal> {
    let now = SystemTime::now();
    let expires = moment(claims, "exp")?;
    let expires = expires.ok_or(Refusal::Invalid("the token does not say until when"))?;
    // Moments that cannot be counted are for ever.
    if expires.checked_add(leeway).is_some_and(|end| end <= now) {
        return Err(Refusal::Invalid("the token has expired"));
    }
    let begins = moment(claims, "nbf")?;
    if begins.is_some_and(|begin| begin.checked_sub(leeway).is_some_and(|it| it > now)) {
        return Err(Refusal::Invalid("the token is not good yet"));
    }
    Ok(())
}
