//! What a protected server publishes about itself.

use bowline::server::auth::Protection;
use http::Request;
use serde_json::json;

use super::rig::{ISSUER, Issuer, METADATA, Node, RESOURCE, protected};

#[tokio::test]
async fn the_document_is_there_without_a_token() {
    let issuer = Issuer::new("k");
    let protection = protected()
        .verifier(issuer.verifier())
        .additional_scopes(["files:read", "mcp:use"])
        .name("The vault")
        .documentation_url("https://docs.example.com/vault");
    let node = Node::new(protection);
    let path = METADATA.strip_prefix("https://mcp.example.com").unwrap();
    let at = |method: &str, path: &str| {
        let request = Request::builder().method(method).uri(path);
        request.header("host", "localhost")
    };
    let answer = node.send(at("GET", path), "").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    let expected = json!({
        "resource": RESOURCE,
        "authorization_servers": [ISSUER],
        "scopes_supported": ["mcp:use", "files:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "The vault",
        "resource_documentation": "https://docs.example.com/vault",
    });
    assert_eq!(answer.json().await, expected);
    let head = node.send(at("HEAD", path), "").await;
    assert_eq!((head.status(), head.text().await), (200, String::new()));
    assert_eq!(node.send(at("OPTIONS", path), "").await.status(), 204);
    // It is no way in.
    assert_eq!(node.send(at("POST", path), "{}").await.status(), 405);
    for other in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/x",
        "/mcp",
    ] {
        assert_eq!(
            node.send(at("GET", other), "").await.status(),
            401,
            "{other}"
        );
    }
}

#[test]
fn what_cannot_be_protected_is_not() {
    let build = |resource: &str| {
        let protection = Protection::builder(resource).verifier(Issuer::new("k").verifier());
        protection.build().map_err(|error| error.to_string())
    };
    let good = build("http://127.0.0.1:3000").unwrap();
    let url = "http://127.0.0.1:3000/.well-known/oauth-protected-resource";
    assert_eq!(good.metadata_url(), url);
    for bad in [
        "http://mcp.example.com/",
        "/mcp",
        "https://x.example/?a",
        "https://x.example/#a",
    ] {
        assert!(build(bad).unwrap_err().contains("resource"), "{bad}");
    }
    let nobody = Protection::builder(RESOURCE).build().unwrap_err();
    assert!(nobody.to_string().contains("verifier"), "{nobody}");
}
