//! Well-known URLs of metadata, in the order to try them.
//!
//! A URL for a path is never replaced by the one at the root: that document may
//! belong to someone else.

use crate::http::authority::WebOrigin;

/// The well-known path of a resource's metadata.
const RESOURCE: &str = "/.well-known/oauth-protected-resource";
/// The well-known path of an authorization server's metadata.
const SERVER: &str = "/.well-known/oauth-authorization-server";
/// The same, for OpenID providers.
const OPENID: &str = "/.well-known/openid-configuration";

/// Returns the URLs of the metadata of the MCP server at `url`, if its
/// challenge does not name one: at its path, then at the root of its origin.
///
/// ```
/// use bowline_proto::auth::well_known;
///
/// assert_eq!(well_known::resource_metadata_urls("https://a.example/mcp"), [
///     "https://a.example/.well-known/oauth-protected-resource/mcp",
///     "https://a.example/.well-known/oauth-protected-resource",
/// ]);
/// ```
#[must_use]
pub fn resource_metadata_urls(url: &str) -> Vec<String> {
    let Some((origin, path, query)) = split(url) else {
        return Vec::new();
    };
    let root = format!("{origin}{RESOURCE}");
    match (path, query) {
        ("" | "/", "") => vec![root],
        ("" | "/", query) => vec![format!("{root}{query}"), root],
        (path, query) => vec![format!("{root}{path}{query}"), root],
    }
}

/// Returns the URLs of the metadata of the authorization server `issuer`. For
/// an issuer with a path these are the three URLs defined for it, and none at
/// the root.
///
/// ```
/// use bowline_proto::auth::well_known;
///
/// assert_eq!(well_known::server_metadata_urls("https://a.example/tenant"), [
///     "https://a.example/.well-known/oauth-authorization-server/tenant",
///     "https://a.example/.well-known/openid-configuration/tenant",
///     "https://a.example/tenant/.well-known/openid-configuration",
/// ]);
/// ```
#[must_use]
pub fn server_metadata_urls(issuer: &str) -> Vec<String> {
    // An issuer has no query and no fragment.
    let Some((origin, path, "")) = split(issuer) else {
        return Vec::new();
    };
    match path.strip_suffix('/').unwrap_or(path) {
        "" => vec![format!("{origin}{SERVER}"), format!("{origin}{OPENID}")],
        path => vec![
            format!("{origin}{SERVER}{path}"),
            format!("{origin}{OPENID}{path}"),
            format!("{origin}{path}{OPENID}"),
        ],
    }
}

/// Returns the origin of the MCP server, which is the issuer for servers of the
/// first revision with authorization.
#[must_use]
pub fn origin(url: &str) -> Option<String> {
    split(url).map(|(origin, ..)| origin.to_owned())
}

/// Returns origin, path, and query with its question mark. A fragment is
/// dropped.
fn split(url: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = WebOrigin::split(url)?;
    let origin = &url[..url.len() - rest.len()];
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    Some((origin, path, if query == "?" { "" } else { query }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_at_the_root_has_one_place() {
        let root = ["https://a/.well-known/oauth-protected-resource"];
        assert_eq!(resource_metadata_urls("https://a"), root);
        assert_eq!(resource_metadata_urls("https://a/"), root);
        assert_eq!(resource_metadata_urls("https://a/#x"), root);
    }

    #[test]
    fn a_query_belongs_to_the_place() {
        assert_eq!(
            resource_metadata_urls("https://a:8443/x/?t=1")[0],
            "https://a:8443/.well-known/oauth-protected-resource/x/?t=1"
        );
    }

    #[test]
    fn an_issuer_without_a_path_has_two_places() {
        let expected = [
            "https://a/.well-known/oauth-authorization-server",
            "https://a/.well-known/openid-configuration",
        ];
        assert_eq!(server_metadata_urls("https://a"), expected);
        assert_eq!(server_metadata_urls("https://a/"), expected);
    }

    #[test]
    fn what_is_no_issuer_has_none() {
        for bad in ["", "a", "ftp://a", "https://a?x", "https://u@a", "https://"] {
            assert_eq!(server_metadata_urls(bad), [""; 0], "{bad}");
        }
    }
}
