//! Resolution of the URIs in `$id` and `$ref`, as in RFC 3986, section 5.
//!
//! Only identity matters here: nothing is ever fetched.

/// Splits a URI into what is before the fragment, and the fragment.
pub(super) fn split_fragment(uri: &str) -> (&str, &str) {
    uri.split_once('#').unwrap_or((uri, ""))
}

/// Resolves a reference without a fragment against a base.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if scheme_length(reference) > 0 {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_at(scheme_length(base));
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let authority_length = match rest.strip_prefix("//") {
        Some(after) => 2 + after.find(['/', '?']).unwrap_or(after.len()),
        None => 0,
    };
    let (authority, path) = rest.split_at(authority_length);
    let path = path.split('?').next().unwrap_or_default();
    let path = if reference.starts_with('/') {
        without_dots(reference)
    } else if reference.starts_with('?') {
        format!("{path}{reference}")
    } else {
        let folder = path.rfind('/').map_or(0, |at| at + 1);
        let slash = match authority.is_empty() || folder > 0 {
            true => "",
            false => "/",
        };
        without_dots(&format!("{slash}{}{reference}", &path[..folder]))
    };
    format!("{scheme}{authority}{path}")
}

/// Returns the length of the scheme and its colon.
fn scheme_length(uri: &str) -> usize {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    match uri.split_once(':') {
        Some((scheme, _)) if is_scheme(scheme) => scheme.len() + 1,
        _ => 0,
    }
}

/// Removes `.` and `..` from a path.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                // The first segment of an absolute path is empty.
                if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_the_standard_has_it() {
        for (base, reference, expected) in [
            ("http://a/b/c/d;p?q", "g", "http://a/b/c/g"),
            ("http://a/b/c/d;p?q", "./g", "http://a/b/c/g"),
            ("http://a/b/c/d;p?q", "g/", "http://a/b/c/g/"),
            ("http://a/b/c/d;p?q", "/g", "http://a/g"),
            ("http://a/b/c/d;p?q", "//g", "http://g"),
            ("http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"),
            ("http://a/b/c/d;p?q", "g:h", "g:h"),
            ("http://a/b/c/d;p?q", "..", "http://a/b/"),
            ("http://a/b/c/d;p?q", "../g", "http://a/b/g"),
            ("http://a/b/c/d;p?q", "../../../g", "http://a/g"),
            ("http://a/b/c/d;p?q", ".", "http://a/b/c/"),
            ("http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q"),
            ("http://a", "g", "http://a/g"),
            ("", "g", "g"),
            ("folder/one", "two", "folder/two"),
            ("urn:uuid:1", "", "urn:uuid:1"),
        ] {
            assert_eq!(resolve(base, reference), expected, "{base} and {reference}");
        }
    }
}
