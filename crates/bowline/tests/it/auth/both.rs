//! Our client and our server, with a guard between them.

use bowline::{
    Client,
    auth::OAuth,
    proto::revision::Revision,
    server::{Conversation, Server, Tool, auth::Protection, http::HttpOptions},
    transport::Http,
};
use serde_json::json;
use tokio::net::TcpListener;

use super::{
    asking::Asking,
    authority::{Authority, get},
    user::Browser,
};
use crate::http_client::rig::within;

async fn serve(guard: &Authority) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let resource = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let tokens = Asking {
        guard: guard.clone(),
        issuer: guard.issuer(),
        resource: resource.clone(),
    };
    let protection = Protection::builder(&resource)
        .verifier(tokens)
        .required_scopes(["read"])
        .build();
    let write = Tool::new("write")
        .description("Writes")
        .scope("write")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let grant = cx.claims().expect("a grant");
            Ok(grant.subject().unwrap_or_default().to_owned())
        });
    let service = Server::new("shop", "1")
        .tool(write)
        .build()
        .expect("a server");
    let http = service.http(HttpOptions {
        protection: Some(protection.expect("a protection")),
        ..HttpOptions::default()
    });
    tokio::spawn(async move { http.serve(listener).await });
    resource
}

#[tokio::test]
async fn a_client_finds_its_way_into_a_server_in_every_era() {
    for revision in [Revision::LATEST, Revision::LATEST_HANDSHAKE] {
        let guard = Authority::open().await;
        let url = serve(&guard).await;
        let user = Browser::default();
        let oauth = OAuth::new("Knots").user_agent(user.clone());
        within(oauth.sign_in(&url)).await.expect("signed in");
        let http = Http::new(&url).expect("a URL").authorizer(oauth);
        let client = Client::builder().revisions([revision]).connect(http);
        let client = within(client).await.expect("it connects");
        let call = client.tools().call("write", json!({})).into_future();
        let said = within(call).await.expect("it may write");
        assert!(serde_json::to_string(&said).expect("text").contains("ada"));
        guard.expire_all();
        let call = client.tools().call("write", json!({})).into_future();
        within(call).await.expect("renewed");
        let visits = guard.visits();
        let scopes: Vec<_> = visits.iter().map(|visit| get(visit, "scope")).collect();
        assert_eq!(scopes, [Some("read"), Some("read write")], "{revision:?}");
        within(client.stop()).await;
    }
}
