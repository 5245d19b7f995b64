//! Scope names.

use serde_json::json;

use crate::proto::jsonrpc::{ErrorObject, RawJson, code};

/// The scope that requests refresh tokens. It is for the client, so no resource
/// may require it.
const OFFLINE_ACCESS: &str = "offline_access";

/// Returns what is wrong with a scope name, if anything. Names are written into
/// headers between quotes, separated by spaces.
pub(crate) fn problem(name: &str) -> Option<String> {
    let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if name.is_empty() || !name.bytes().all(allowed) {
        return Some(format!("{name:?} is not a valid scope name"));
    }
    (name == OFFLINE_ACCESS).then(|| format!("a resource must not require {OFFLINE_ACCESS}"))
}

/// Returns what is wrong with the first invalid name.
pub(crate) fn first_problem(names: &[Box<str>]) -> Option<String> {
    names.iter().find_map(|name| problem(name))
}

/// Adds the names that are not present yet, in order.
pub(crate) fn push_unique<'a>(all: &mut Vec<Box<str>>, names: impl IntoIterator<Item = &'a str>) {
    for name in names {
        if !all.iter().any(|known| **known == *name) {
            all.push(name.into());
        }
    }
}

/// Returns the error for missing scopes, which lists all that are needed.
pub(crate) fn insufficient_scope_error(scopes: &[Box<str>]) -> ErrorObject {
    let scopes = scopes.join(" ");
    let message = format!("Insufficient scope: it takes {scopes}");
    let data = json!({"error": "insufficient_scope", "scope": scopes});
    let error = ErrorObject::new(code::INVALID_REQUEST, message);
    match RawJson::encode(&data) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn names_fit_between_quotes() {
        for name in ["a", "files:write", "https://example.com/.default", "!#[]~"] {
            assert_eq!(problem(name), None, "{name}");
        }
        for name in ["", "a b", "a\"", "a\\", "é", "a\n", "offline_access"] {
            assert!(problem(name).is_some(), "{name}");
        }
    }
}
