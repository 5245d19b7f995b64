//! Authorization rules against input that nobody would write.

use bowline_proto::auth::{
    AuthorizationResponse, ChallengeSummary, JsonDocument, Scopes, ServerMetadata, decode_form,
    encode_form, parse_challenges, parse_token_response, resource_covers, well_known,
};
use proptest::prelude::*;

/// Texts that look a little like challenges.
fn almost_challenges() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("Bearer ".to_owned()),
        Just("DPoP".to_owned()),
        Just("resource_metadata=".to_owned()),
        Just("scope".to_owned()),
        "[\"\\\\,= \t]{1,4}",
        "[a-zA-Z0-9/=+.-]{0,6}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn hostile_headers_are_read_to_their_end(header in almost_challenges()) {
        let challenges = parse_challenges([header.as_bytes()]);
        prop_assert!(challenges.len() <= 16);
        for challenge in &challenges {
            prop_assert!(!challenge.scheme.is_empty());
        }
        let _ = ChallengeSummary::from_headers([header.as_bytes(), header.as_bytes()]);
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_challenges([&bytes[..]]);
        let _ = parse_token_response(200, &bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = AuthorizationResponse::parse(&text);
        let _ = well_known::resource_metadata_urls(&text);
        let _ = well_known::server_metadata_urls(&text);
        let _ = resource_covers(&text, "https://a.example/mcp");
        let _ = Scopes::parse(&text);
    }

    #[test]
    fn forms_survive(pairs in proptest::collection::vec((".*", ".*"), 0..8)) {
        let pairs: Vec<(String, String)> = pairs;
        let read = decode_form(&encode_form(pairs.iter().map(|(k, v)| (k, v))));
        prop_assert_eq!(read, pairs);
    }

    #[test]
    fn quoted_values_survive(value in "[ -~]{0,40}") {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        let header = format!("Bearer x=y, scope=\"{escaped}\", error=z");
        let challenges = parse_challenges([header.as_bytes()]);
        prop_assert_eq!(challenges.len(), 1);
        prop_assert_eq!(challenges[0].param("scope"), Some(value.as_str()));
        prop_assert_eq!(challenges[0].param("error"), Some("z"));
    }
}

#[test]
fn what_metadata_says_beside_what_we_know_is_kept() {
    let text = br#"{"issuer": "https://as", "jwks_uri": "https://as/keys", "new": {"a": [1]}}"#;
    let metadata =
        ServerMetadata::from_document(JsonDocument::parse(text).unwrap(), "https://as").unwrap();
    assert_eq!(
        metadata.document.string("jwks_uri"),
        Some("https://as/keys")
    );
    assert_eq!(metadata.document.get("new").unwrap()["a"][0], 1);
}
