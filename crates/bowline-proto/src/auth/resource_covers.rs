//! Check that resource metadata covers the MCP server.

use crate::http::authority::WebOrigin;

/// Returns whether `resource`, as metadata names it, covers the MCP server at
/// `url`: the same origin, and the same path or one above it.
///
/// A token for another resource would be a token for someone else.
///
/// ```
/// use bowline_proto::auth::resource_covers;
///
/// assert!(resource_covers("https://a.example/mcp", "https://a.example/mcp"));
/// assert!(resource_covers("https://a.example", "https://a.example/mcp"));
/// assert!(!resource_covers("https://a.example/mc", "https://a.example/mcp"));
/// assert!(!resource_covers("https://b.example/mcp", "https://a.example/mcp"));
/// ```
#[must_use]
pub fn resource_covers(resource: &str, url: &str) -> bool {
    let (Some((url_origin, rest)), Some((resource_origin, resource_path))) =
        (WebOrigin::split(url), WebOrigin::split(resource))
    else {
        return false;
    };
    if !url_origin.is_same_origin(&resource_origin)
        || resource_path.contains('#')
        || !is_normalized(resource_path)
    {
        return false;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = split_query(rest);
    let (resource_path, resource_query) = split_query(resource_path);
    if resource_query.is_some() && resource_query != query {
        return false;
    }
    let (path, resource_path) = (
        path.trim_end_matches('/'),
        resource_path.trim_end_matches('/'),
    );
    let suffix = path.strip_prefix(resource_path);
    suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/'))
}

fn split_query(rest: &str) -> (&str, Option<&str>) {
    match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    }
}

/// Returns whether a path is unambiguous: no dot segments, and nothing that two
/// parsers may read differently.
fn is_normalized(path: &str) -> bool {
    let is_printable = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    path.bytes().all(is_printable)
        && path.split(['/', '?']).all(|segment| {
            let segment = segment.to_ascii_lowercase().replace("%2e", ".");
            segment != "." && segment != ".."
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_that_fit() {
        for (resource, url) in [
            ("https://a/mcp/", "https://a/mcp"),
            ("https://a/mcp", "https://a/mcp/"),
            ("https://A:443/mcp", "https://a/mcp"),
            ("https://a/", "https://a/x/y"),
            ("https://a/x", "https://a/x/y?key=1"),
            ("https://a/x?key=1", "https://a/x?key=1"),
        ] {
            assert!(resource_covers(resource, url), "{resource} for {url}");
        }
    }

    #[test]
    fn resources_that_do_not() {
        for (resource, url) in [
            ("http://a/mcp", "https://a/mcp"),
            ("https://a:8443/mcp", "https://a/mcp"),
            ("https://a/mcp/deeper", "https://a/mcp"),
            ("https://a/mcp#x", "https://a/mcp"),
            ("https://a/mcp?tenant=b", "https://a/mcp?tenant=a"),
            ("https://a/x/..", "https://a/x/../y"),
            ("https://a/%2E%2e", "https://a/%2E%2e/y"),
            ("https://a@b/mcp", "https://b/mcp"),
            ("https://a/m cp", "https://a/m cp"),
            ("", "https://a/mcp"),
            ("a", "a"),
        ] {
            assert!(!resource_covers(resource, url), "{resource} for {url}");
        }
    }
}
