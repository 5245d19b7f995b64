//! The source of a client's id at an authorization server.

use super::ServerMetadata;
use crate::http::authority::WebOrigin;

/// How the client obtains its id, in order of preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientIdSource {
    /// It already has one at this server: agreed on beforehand, or registered
    /// earlier.
    Known,
    /// The URL of its metadata document, which is valid at every server that
    /// supports these.
    MetadataDocument(String),
    /// It registers at this endpoint.
    Register(String),
    /// Someone has to register it by hand.
    Manual,
}

/// Chooses how to obtain a client id.
///
/// `known` is whether there is one *for this issuer*. An id for another issuer
/// is never used: it would tell one server about the other.
#[must_use]
pub fn choose_client_id_source(
    known: bool,
    metadata_url: Option<&str>,
    server: &ServerMetadata,
) -> ClientIdSource {
    if known {
        return ClientIdSource::Known;
    }
    if server.client_id_metadata_document_supported
        && let Some(url) = metadata_url.filter(|url| is_client_metadata_url(url))
    {
        return ClientIdSource::MetadataDocument(url.to_owned());
    }
    match &server.registration_endpoint {
        Some(endpoint) => ClientIdSource::Register(endpoint.clone()),
        None => ClientIdSource::Manual,
    }
}

/// Returns whether a URL is valid for a client metadata document: `https`, with
/// a path, without a fragment or dot segments.
#[must_use]
pub fn is_client_metadata_url(url: &str) -> bool {
    let Some((origin, path)) = WebOrigin::split(url) else {
        return false;
    };
    let is_dot_segment = |segment: &str| segment == "." || segment == "..";
    origin.is_https
        && path.starts_with('/')
        && path.len() > 1
        && !path.contains('#')
        && !path.split(['/', '?']).any(is_dot_segment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::JsonDocument;

    const DOCUMENT: &str = "https://app.example/client.json";

    fn server(rest: &str) -> ServerMetadata {
        let text = format!(r#"{{"issuer": "i"{rest}}}"#);
        ServerMetadata::from_document(JsonDocument::parse(text.as_bytes()).unwrap(), "i").unwrap()
    }

    #[test]
    fn the_order_of_preference() {
        let all = server(
            r#", "client_id_metadata_document_supported": true, "registration_endpoint": "r""#,
        );
        let registers = server(r#", "registration_endpoint": "r""#);
        let neither = server("");
        let by_document = ClientIdSource::MetadataDocument(DOCUMENT.to_owned());
        let by_itself = ClientIdSource::Register("r".to_owned());
        assert_eq!(
            choose_client_id_source(true, Some(DOCUMENT), &all),
            ClientIdSource::Known
        );
        assert_eq!(
            choose_client_id_source(false, Some(DOCUMENT), &all),
            by_document
        );
        assert_eq!(choose_client_id_source(false, None, &all), by_itself);
        assert_eq!(
            choose_client_id_source(false, Some(DOCUMENT), &registers),
            by_itself
        );
        assert_eq!(
            choose_client_id_source(false, Some(DOCUMENT), &neither),
            ClientIdSource::Manual
        );
    }

    #[test]
    fn not_every_url_is_a_name() {
        assert!(is_client_metadata_url(DOCUMENT));
        for bad in [
            "http://app.example/client.json",
            "https://app.example",
            "https://app.example/",
            "https://app.example/a#b",
            "https://app.example/a/../b",
            "https://user@app.example/a",
            "client.json",
        ] {
            assert!(!is_client_metadata_url(bad), "{bad}");
        }
    }
}
