//! OAuth scopes, and which of them to request.

use std::fmt;

use super::{ResourceMetadata, ServerMetadata};

/// The scope that asks for a refresh token.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes that keeps its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Parses scopes separated by spaces. Invalid scopes are skipped.
    #[must_use]
    pub fn parse(input: &str) -> Self {
        input.split(' ').collect()
    }

    /// Selects the scopes to request first: those in the server's challenge;
    /// else those of the application, if it names any; else all that the
    /// metadata lists; else none, which leaves the choice to the authorization
    /// server.
    #[must_use]
    pub fn select(
        challenged: Option<&Self>,
        requested: &Self,
        resource: Option<&ResourceMetadata>,
    ) -> Self {
        if let Some(challenged) = challenged.filter(|scopes| !scopes.is_empty()) {
            return challenged.union(requested);
        }
        if !requested.is_empty() {
            return requested.clone();
        }
        let listed = resource.and_then(|metadata| metadata.scopes_supported.as_ref());
        let listed = listed.into_iter().flatten().map(String::as_str);
        // Listing it in the resource metadata does not request it.
        listed.filter(|scope| *scope != OFFLINE_ACCESS).collect()
    }

    /// Adds the scope for a refresh token, if the authorization server supports
    /// it. Servers that do not would refuse the request. Nothing is added to an
    /// empty set, because then the server would no longer choose the scopes.
    #[must_use]
    pub fn with_offline_access(self, server: &ServerMetadata) -> Self {
        let is_supported = server
            .scopes_supported
            .as_ref()
            .is_some_and(|scopes| scopes.iter().any(|scope| scope == OFFLINE_ACCESS));
        match is_supported {
            true if self.is_empty() => self,
            true => self.union(&[OFFLINE_ACCESS].into_iter().collect()),
            false => Self(
                self.0
                    .into_iter()
                    .filter(|scope| scope != OFFLINE_ACCESS)
                    .collect(),
            ),
        }
    }

    /// Returns the scopes of both: what to request when more is needed, without
    /// losing what was granted before.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    /// Returns whether all of `other` are among these.
    #[must_use]
    pub fn contains_all(&self, other: &Self) -> bool {
        other
            .iter()
            .all(|scope| self.iter().any(|own| own == scope))
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an iterator over the scopes.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<'a> FromIterator<&'a str> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'a str>>(scopes: I) -> Self {
        let mut set: Vec<String> = Vec::new();
        for scope in scopes {
            if is_scope(scope) && !set.iter().any(|known| known == scope) {
                set.push(scope.to_owned());
            }
        }
        Self(set)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// Returns whether it is printable ASCII without quotes and backslashes.
fn is_scope(input: &str) -> bool {
    let is_scope_byte = |byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !input.is_empty() && input.bytes().all(is_scope_byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::JsonDocument;

    fn resource(scopes: &str) -> ResourceMetadata {
        let text = format!(r#"{{"resource": "https://a", "scopes_supported": {scopes}}}"#);
        ResourceMetadata::from_document(JsonDocument::parse(text.as_bytes()).unwrap()).unwrap()
    }

    fn server(scopes: &str) -> ServerMetadata {
        let text = format!(r#"{{"issuer": "https://a", "scopes_supported": {scopes}}}"#);
        let document = JsonDocument::parse(text.as_bytes()).unwrap();
        ServerMetadata::from_document(document, "https://a").unwrap()
    }

    #[test]
    fn the_challenge_comes_first_and_the_metadata_last() {
        let listed = resource(r#"["x", "y", "offline_access"]"#);
        let none = Scopes::default();
        let choose = |challenged: Option<&str>, wanted: &str, listed| {
            let challenged = challenged.map(Scopes::parse);
            Scopes::select(challenged.as_ref(), &Scopes::parse(wanted), listed).to_string()
        };
        assert_eq!(choose(Some("a b"), "", Some(&listed)), "a b");
        assert_eq!(choose(Some("a b"), "c a", Some(&listed)), "a b c");
        assert_eq!(choose(Some(""), "", Some(&listed)), "x y");
        assert_eq!(choose(None, "c", Some(&listed)), "c");
        assert_eq!(choose(None, "", Some(&listed)), "x y");
        assert_eq!(choose(None, "", None), "");
        assert!(none.is_empty());
    }

    #[test]
    fn offline_access_is_for_servers_that_know_it() {
        let is_supported = server(r#"["a", "offline_access"]"#);
        let not = server(r#"["a"]"#);
        assert_eq!(
            Scopes::parse("a")
                .with_offline_access(&is_supported)
                .to_string(),
            "a offline_access"
        );
        assert_eq!(
            Scopes::parse("a").with_offline_access(&not).to_string(),
            "a"
        );
        assert!(
            Scopes::default()
                .with_offline_access(&is_supported)
                .is_empty()
        );
        assert_eq!(
            Scopes::parse("offline_access a")
                .with_offline_access(&not)
                .to_string(),
            "a"
        );
    }

    #[test]
    fn a_union_keeps_what_was_asked_for_before() {
        let union = Scopes::parse("a b").union(&Scopes::parse("c b"));
        assert_eq!(union.to_string(), "a b c");
        assert!(union.contains_all(&Scopes::parse("c a")));
        assert!(!union.contains_all(&Scopes::parse("d")));
    }

    #[test]
    fn what_is_no_scope_is_left_out() {
        assert_eq!(Scopes::parse("a  \"b\" c\\d é e\nf a g").to_string(), "a g");
    }
}
