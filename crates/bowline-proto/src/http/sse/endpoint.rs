//! The `endpoint` event of the oldest HTTP transport, which names the URL to
//! POST to.

use std::{borrow::Cow, fmt};

use crate::http::authority::WebOrigin;

/// The maximum length of a URL.
const MAX_URL_LEN: usize = 8 << 10;

/// Resolves the data of an `endpoint` event against the URL of the stream.
///
/// The server may send a path, a relative path, a query or a whole URL. The
/// result must have the stream's own origin: otherwise any server could make
/// the client POST its messages, including credentials, to any other server.
/// Characters that URL parsers are known to disagree about are refused.
///
/// ```
/// use bowline_proto::http::sse::resolve_endpoint;
///
/// let stream = "https://example.com/mcp/sse?key=1";
/// let resolve = |reference| resolve_endpoint(stream, reference);
/// assert_eq!(resolve("/messages?s=7").unwrap(), "https://example.com/messages?s=7");
/// assert_eq!(resolve("messages").unwrap(), "https://example.com/mcp/messages");
/// assert!(resolve("https://evil.example/messages").is_err());
/// ```
///
/// # Errors
///
/// Returns an error if either string is not such a URL, or the origins differ.
pub fn resolve_endpoint(stream_url: &str, reference: &str) -> Result<String, EndpointError> {
    let base = WebOrigin::split(stream_url).filter(|_| has_only_url_bytes(stream_url));
    let (origin, base) = base.ok_or(EndpointError::BadStreamUrl)?;
    let prefix = &stream_url[..stream_url.len() - base.len()];
    let reference = without_fragment(reference);
    if reference.is_empty() || !has_only_url_bytes(reference) {
        return Err(EndpointError::BadReference);
    }
    let target = resolve_reference(origin, without_fragment(base), reference)?;
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let url = format!("{prefix}{}{query}", remove_dot_segments(path));
    (url.len() <= MAX_URL_LEN)
        .then_some(url)
        .ok_or(EndpointError::BadReference)
}

/// Why an `endpoint` event cannot be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointError {
    /// The stream's own URL is not `http` or `https`, contains a user name, or
    /// has unusual characters.
    BadStreamUrl,
    /// The event does not contain a URL reference that we accept.
    BadReference,
    /// The event points to another scheme, host or port.
    OtherOrigin,
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadStreamUrl => "the URL of the event stream is not a plain http or https URL",
            Self::BadReference => "the endpoint event does not contain a valid URL",
            Self::OtherOrigin => "the endpoint event points to another origin",
        })
    }
}

impl std::error::Error for EndpointError {}

/// Returns the path and query that a reference names, including dot segments.
fn resolve_reference<'a>(
    origin: WebOrigin<'_>,
    base: &str,
    reference: &'a str,
) -> Result<Cow<'a, str>, EndpointError> {
    if reference.starts_with("//") {
        let scheme = if origin.is_https { "https:" } else { "http:" };
        let url = format!("{scheme}{reference}");
        return same_origin_rest(origin, &url).map(|rest| Cow::Owned(rest.to_owned()));
    }
    if has_scheme(reference) {
        return same_origin_rest(origin, reference).map(Cow::Borrowed);
    }
    let base_path = &base[..base.find('?').unwrap_or(base.len())];
    Ok(match reference.as_bytes()[0] {
        b'/' => Cow::Borrowed(reference),
        b'?' => Cow::Owned(format!("{base_path}{reference}")),
        _ => {
            let directory = &base_path[..base_path.rfind('/').map_or(0, |slash| slash + 1)];
            Cow::Owned(format!("{directory}{reference}"))
        }
    })
}

/// Returns the part after the origin of a URL that must have our own origin.
fn same_origin_rest<'a>(origin: WebOrigin<'_>, url: &'a str) -> Result<&'a str, EndpointError> {
    match WebOrigin::split(url) {
        Some((other, rest)) if other.is_same_origin(&origin) => Ok(rest),
        Some(_) => Err(EndpointError::OtherOrigin),
        None => Err(EndpointError::BadReference),
    }
}

/// Returns whether a colon comes before anything that ends a scheme. A relative
/// path with a colon in its first segment is ambiguous, so it counts as a
/// scheme.
fn has_scheme(reference: &str) -> bool {
    reference
        .find([':', '/', '?'])
        .is_some_and(|end| reference[end..].starts_with(':'))
}

fn without_fragment(input: &str) -> &str {
    input.split_once('#').map_or(input, |(before, _)| before)
}

/// Implements RFC 3986, section 5.2.4, for a path that follows an authority.
fn remove_dot_segments(path: &str) -> String {
    let mut output: Vec<&str> = Vec::new();
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    output.pop();
                }
                if last {
                    output.push("");
                }
            }
            segment => output.push(segment),
        }
    }
    format!("/{}", output.join("/"))
}

/// Returns whether all bytes are printable ASCII that is valid in a URL. Above
/// all, backslashes are refused: some parsers treat them as slashes.
fn has_only_url_bytes(input: &str) -> bool {
    let is_url_byte = |byte: u8| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte);
    input.len() <= MAX_URL_LEN && input.bytes().all(is_url_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "http://localhost:3000/a/b/sse?key=1#top";

    #[track_caller]
    fn check(reference: &str, expected: &str) {
        let expected = Ok(format!("http://localhost:3000{expected}"));
        assert_eq!(resolve_endpoint(STREAM, reference), expected, "{reference}");
    }

    #[test]
    fn all_forms_of_reference_are_resolved() {
        check("/messages", "/messages");
        check("/messages/?session_id=0a1b", "/messages/?session_id=0a1b");
        check("messages", "/a/b/messages");
        check("./messages", "/a/b/messages");
        check("../messages?x=/../y", "/a/messages?x=/../y");
        check("../../../../messages", "/messages");
        check("?s=2", "/a/b/sse?s=2");
        check("/x/./y/../z/", "/x/z/");
        check("/x/..", "/");
        check("..", "/a/");
        check("http://localhost:3000/m?s#f", "/m?s");
        check("HTTP://LocalHost:3000", "/");
        check("http://localhost:3000?s=1", "/?s=1");
        check("//localhost:3000/m", "/m");
        check("/m#fragment", "/m");
        check("/a:b", "/a:b");
        check("/m?u=http://evil.example/", "/m?u=http://evil.example/");
        check("/.//evil.example/m", "//evil.example/m");
    }

    #[test]
    fn default_ports_are_the_same_origin() {
        let resolve = |base, reference| resolve_endpoint(base, reference).unwrap();
        assert_eq!(resolve("https://h/sse", "https://h:443/m"), "https://h/m");
        assert_eq!(resolve("http://h:80", "http://h/m"), "http://h:80/m");
        assert_eq!(resolve("http://h", "m"), "http://h/m");
        assert_eq!(
            resolve("http://[::1]:1/sse", "http://[::1]:1/m"),
            "http://[::1]:1/m"
        );
    }

    #[test]
    fn other_origins_are_refused() {
        for bad in [
            "http://evil.example/m",
            "https://localhost:3000/m",
            "http://localhost/m",
            "http://localhost:3001/m",
            "http://localhost.evil.example:3000/m",
            "//evil.example/m",
            "http://localhost:3000.evil.example/m",
        ] {
            let refused = resolve_endpoint(STREAM, bad).unwrap_err();
            assert_ne!(refused, EndpointError::BadStreamUrl, "{bad}");
        }
        let other = resolve_endpoint(STREAM, "//evil.example/m");
        assert_eq!(other, Err(EndpointError::OtherOrigin));
    }

    #[test]
    fn what_parsers_disagree_about_is_refused() {
        for bad in [
            "",
            "#x",
            r"/\evil.example/m",
            r"\\evil.example",
            r"http:\\evil.example",
            "/a b",
            " /m",
            "/m\n",
            "/m\t",
            "/é",
            "http://localhost:3000@evil.example/m",
            "http://user@localhost:3000/m",
            "http:/m",
            "http:m",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "a:b",
            "http://",
            r"http://localhost:3000\@evil.example/",
            &"x".repeat(MAX_URL_LEN + 1),
        ] {
            let outcome = resolve_endpoint(STREAM, bad);
            assert_eq!(outcome, Err(EndpointError::BadReference), "{bad:?}");
        }
        for bad in [
            "",
            "/sse",
            "ftp://h/sse",
            "http://u:p@h/sse",
            "http:///sse",
            "http://h/a b",
        ] {
            let outcome = resolve_endpoint(bad, "/m");
            assert_eq!(outcome, Err(EndpointError::BadStreamUrl), "{bad:?}");
        }
    }
}
