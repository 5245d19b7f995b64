//! What tokens are for: every request's scopes, and those of a tool.

use std::sync::atomic::Ordering;

use bowline::{
    Client,
    server::{
        Conversation, Prompt, Resource, ResourceTemplate, Server, Tool,
        auth::{Protection, TokenClaims},
        http::HttpOptions,
    },
};
use http::Method;
use serde_json::{Value, json};

use super::rig::{
    ISSUER, Issuer, METADATA, Node, RESOURCE, Ran, Session, protected, service, stateless,
};

fn with_scopes(issuer: &Issuer, scopes: &str) -> Node {
    let token = issuer.token_with(|claims| claims["scope"] = scopes.into());
    issuer.node().bearing(&token)
}

fn challenge(scopes: &str) -> String {
    let error =
        "error=\"insufficient_scope\", error_description=\"the token lacks a required scope\"";
    format!("Bearer resource_metadata=\"{METADATA}\", {error}, scope=\"{scopes}\"")
}

#[tokio::test]
async fn every_request_takes_the_servers_scopes() {
    let issuer = Issuer::new("k");
    for scopes in ["", "mcp", "mcp:use2", "files:write"] {
        let answer = with_scopes(&issuer, scopes)
            .ask("tools/list", json!({}))
            .await;
        assert_eq!(answer.status(), 403);
        assert_eq!(answer.headers("www-authenticate"), [challenge("mcp:use")]);
    }
    let answer = with_scopes(&issuer, "a mcp:use b")
        .ask("tools/list", json!({}))
        .await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn issuers_write_scopes_in_several_ways() {
    let issuer = Issuer::new("k");
    for (name, scopes) in [
        ("scp", json!("x mcp:use")),
        ("scp", json!(["x", "mcp:use"])),
        ("scope", json!(["mcp:use"])),
    ] {
        let token = issuer.token_with(|claims| {
            claims.as_object_mut().unwrap().remove("scope");
            claims[name] = scopes;
        });
        issuer.node().bearing(&token).whoami().await;
    }
}

#[tokio::test]
async fn a_tools_scopes_are_checked_before_it_runs() {
    let issuer = Issuer::new("k");
    for lacking in ["mcp:use", "mcp:use files:read", "mcp:use files:write"] {
        let node = with_scopes(&issuer, lacking);
        let answer = node.call("write").await;
        assert_eq!(answer.status(), 403);
        // All that the call takes, and not only what is missing.
        let all = challenge("mcp:use files:read files:write");
        assert_eq!(answer.headers("www-authenticate"), [all]);
        let body = answer.json().await;
        assert_eq!(body["id"], 1);
        assert_eq!(body["error"]["data"]["error"], "insufficient_scope");
        assert_eq!(node.ran.load(Ordering::SeqCst), 0);
        // Others go on, and it is listed all the same.
        node.whoami().await;
        let listed = node.ask("tools/list", json!({})).await.json().await;
        assert!(listed.to_string().contains("\"write\""));
    }
    let node = with_scopes(&issuer, "files:write mcp:use files:read");
    assert_eq!(node.call("write").await.status(), 200);
    assert_eq!(node.ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn resources_and_prompts_have_scopes_like_tools() {
    let issuer = Issuer::new("k");
    let (poor, rich) = (
        with_scopes(&issuer, "mcp:use"),
        with_scopes(&issuer, "mcp:use files:read"),
    );
    let prompt = json!({"type": "ref/prompt", "name": "sum"});
    let template = json!({"type": "ref/resource", "uri": "vault:///pages/{page}"});
    let argument = json!({"name": "page", "value": ""});
    for (method, params) in [
        ("resources/read", json!({"uri": "vault:///plan"})),
        ("resources/read", json!({"uri": "vault:///pages/1"})),
        ("prompts/get", json!({"name": "sum"})),
    ] {
        let answer = poor.ask(method, params.clone()).await;
        assert_eq!(answer.status(), 403, "{method} {params}");
        let all = challenge("mcp:use files:read");
        assert_eq!(answer.headers("www-authenticate"), [all]);
        let body = answer.json().await;
        assert_eq!(body["error"]["data"]["error"], "insufficient_scope");
        let answer = rich.ask(method, params.clone()).await;
        assert_eq!(answer.status(), 200, "{method} {params}");
    }
    for reference in [prompt, template] {
        let params = json!({"ref": reference, "argument": argument});
        let asked = ("completion/complete", params);
        let refused = poor.ask(asked.0, asked.1.clone()).await.json().await;
        assert_eq!(refused["error"]["data"]["error"], "insufficient_scope");
        let answer = rich.ask(asked.0, asked.1).await.json().await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["one"]));
    }
    // Others go on, and all are listed to everybody.
    let open = json!({"uri": "vault:///open"});
    assert_eq!(poor.ask("resources/read", open).await.status(), 200);
    for (method, name) in [
        ("resources/list", "vault:///plan"),
        ("resources/templates/list", "vault:///pages"),
        ("prompts/list", "sum"),
    ] {
        let listed = poor.ask(method, json!({})).await.text().await;
        assert!(listed.contains(name), "{listed}");
    }
}

#[tokio::test]
async fn watching_a_resource_takes_its_scopes() {
    let issuer = Issuer::new("k");
    let rich = issuer.token_with(|it| it["scope"] = "mcp:use files:read".into());
    let (poor, rich) = (issuer.token("ada"), rich);
    let node = issuer.node();
    let session = Session::open(&node.bearing(&poor), "2025-11-25").await;
    let watch = |id: u32, uri: &str| {
        let params = json!({"uri": uri});
        json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params})
    };
    let uri = "vault:///plan";
    assert_eq!(session.post(&watch(1, uri)).await.status(), 403);
    let session = session.at(&node.bearing(&rich));
    let answer = session.post(&watch(2, uri)).await.json().await;
    assert_eq!(answer["result"], json!({}), "{answer}");
}

#[tokio::test]
async fn a_stream_of_changes_takes_the_scopes_of_all_that_it_tells_of() {
    let issuer = Issuer::new("k");
    let rich = issuer.token_with(|it| it["scope"] = "mcp:use files:read".into());
    let node = issuer.node();
    let watch = |uris: &[&str]| json!({"notifications": {"resourceSubscriptions": uris}});
    for (token, uris, status) in [
        (
            issuer.token("ada"),
            &["open:///news", "vault:///plan"][..],
            403,
        ),
        (issuer.token("ada"), &["open:///news"][..], 200),
        (rich, &["vault:///plan"][..], 200),
    ] {
        let node = node.bearing(&token);
        let answer = node.ask("subscriptions/listen", watch(uris)).await;
        assert_eq!(answer.status(), status, "{uris:?}");
    }
}

#[test]
fn the_scopes_of_resources_and_prompts_must_be_ones() {
    let named = "a b";
    let plan = Resource::new("vault:///plan", "plan").scope(named).text("");
    let page = ResourceTemplate::new("vault:///{page}", "page").scope(named);
    let page = page.read(async |_, _: Conversation| Ok(""));
    let sum = Prompt::new("sum").scope(named);
    let sum = sum.get(async |_, _: Conversation| Ok(""));
    assert_eq!(sum.scopes().collect::<Vec<_>>(), [named]);
    for server in [
        Server::new("x", "1").resource(plan).build(),
        Server::new("x", "1").template(page).build(),
        Server::new("x", "1").prompt(sum).build(),
    ] {
        let error = server.expect_err("that is no scope").to_string();
        assert!(error.contains("scope"), "{error}");
    }
}

#[tokio::test]
async fn sessions_check_the_token_of_each_request() {
    let issuer = Issuer::new("k");
    let node = issuer.node();
    let poor = issuer.token("ada");
    let rich = issuer.token_with(|it| it["scope"] = "mcp:use files:read files:write".into());
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = Session::open(&node.bearing(&poor), version).await;
        let answer = session.call(1, "write").await;
        assert_eq!(answer.status(), 403, "{version}");
        let all = challenge("mcp:use files:read files:write");
        assert_eq!(answer.headers("www-authenticate"), [all]);
        // The same user comes back with more.
        let before = node.ran.load(Ordering::SeqCst);
        let session = session.at(&node.bearing(&rich));
        assert_eq!(session.call(2, "write").await.status(), 200);
        let said = session.call(3, "whoami").await.text().await;
        assert!(said.contains("files:write"), "{said}");
        // And with less again.
        let session = session.at(&node.bearing(&poor));
        assert_eq!(session.call(4, "write").await.status(), 403);
        let said = session.call(5, "whoami").await.text().await;
        assert!(!said.contains("files:write"), "{said}");
        assert_eq!(node.ran.load(Ordering::SeqCst), before + 1);
    }
}

#[tokio::test]
async fn in_a_batch_each_call_is_answered_by_itself() {
    let issuer = Issuer::new("k");
    let node = issuer.node().bearing(&issuer.token("ada"));
    let session = Session::open(&node, "2025-03-26").await;
    let call = |id: u32, tool: &str| {
        let params = json!({"name": tool, "arguments": {}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch = json!([call(1, "write"), call(2, "whoami")]);
    let answer = session.post(&batch).await;
    assert_eq!(answer.status(), 200);
    let said = answer.text().await;
    assert!(
        said.contains("insufficient_scope") && said.contains("sub ada"),
        "{said}"
    );
    assert_eq!(node.ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn names_that_are_mirrored_wrongly_do_not_help() {
    let issuer = Issuer::new("k");
    let node = issuer.node().bearing(&issuer.token("ada"));
    let (_, body) = stateless("tools/call", json!({"name": "write", "arguments": {}}));
    let (other, _) = stateless("tools/call", json!({"name": "whoami", "arguments": {}}));
    assert_eq!(node.send(other, &body).await.status(), 403);
    assert_eq!(node.ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn one_scope_may_be_good_for_others() {
    let issuer = Issuer::new("k");
    let node = Node::new(
        protected()
            .verifier(issuer.verifier())
            .scope_implies(|held, needed| {
                let all = held.strip_suffix('*');
                all.is_some_and(|all| needed.starts_with(all))
            }),
    );
    let bearing = |scopes: &str| node.bearing(&issuer.token_with(|it| it["scope"] = scopes.into()));
    assert_eq!(bearing("mcp:* files:*").call("write").await.status(), 200);
    assert_eq!(
        bearing("mcp:use files:r*").call("write").await.status(),
        403
    );
    assert_eq!(bearing("files:*").call("whoami").await.status(), 403);
}

#[tokio::test]
async fn without_protection_nobody_over_http_has_scopes() {
    let node = Node::with(HttpOptions::default());
    let answer = node.call("write").await.json().await;
    assert_eq!(answer["error"]["data"]["error"], "insufficient_scope");
    assert_eq!(node.whoami().await["subject"], Value::Null);
    let session = Session::open(&node, "2025-11-25").await;
    let answer = session.call(1, "write").await.text().await;
    assert!(answer.contains("insufficient_scope"), "{answer}");
    assert_eq!(node.ran.load(Ordering::SeqCst), 0);
    // A layer of one's own may say what a caller may do.
    let (request, body) = stateless("tools/call", json!({"name": "write", "arguments": {}}));
    let claims = TokenClaims::new(ISSUER, "ada").with_scopes(["files:read", "files:write"]);
    let answer = node.send(request.extension(claims.clone()), &body).await;
    assert_eq!(answer.status(), 200);
    let request = session.request(Method::POST).extension(claims);
    let params = json!({"name": "write", "arguments": {}});
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let body = body.to_string();
    assert!(
        node.send(request, &body)
            .await
            .text()
            .await
            .contains("written")
    );
}

#[tokio::test]
async fn where_there_are_no_tokens_scopes_mean_nothing() {
    let ran = Ran::default();
    let transport = service(&ran).in_memory();
    let client = Client::builder().connect(transport).await.unwrap();
    let said = client.tools().call("write", json!({})).await;
    assert!(said.is_ok(), "{said:?}");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let said = client.tools().call("whoami", json!({})).await.unwrap();
    let said = serde_json::to_string(&said).unwrap();
    assert!(said.contains("\\\"subject\\\":null"), "{said}");
}

#[tokio::test]
async fn with_protection_only_the_token_says_what_a_caller_may_do() {
    let issuer = Issuer::new("k");
    let node = issuer.node().bearing(&issuer.token("ada"));
    let (request, body) = stateless("tools/call", json!({"name": "write", "arguments": {}}));
    let claims = TokenClaims::new(ISSUER, "root").with_scopes(["files:read", "files:write"]);
    let answer = node.send(request.extension(claims), &body).await;
    assert_eq!(answer.status(), 403);
}

#[test]
fn what_is_no_scope_is_found_when_the_server_is_built() {
    for scope in ["", "two words", "quo\"te", "offline_access"] {
        let tool = Tool::new("t").description("d").scope(scope).no_input();
        let tool = tool.handler(async |_| Ok("x"));
        let built = Server::new("s", "1").tool(tool).build();
        assert!(built.unwrap_err().to_string().contains("scope") || scope == "offline_access");
        let issuer = Issuer::new("k");
        let protection = Protection::builder(RESOURCE)
            .verifier(issuer.verifier())
            .required_scopes([scope]);
        assert!(protection.build().is_err(), "{scope}");
        let protection = Protection::builder(RESOURCE)
            .verifier(issuer.verifier())
            .additional_scopes([scope]);
        assert!(protection.build().is_err(), "{scope}");
    }
}
