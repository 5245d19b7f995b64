//! A server that wants access tokens, and two clients: one has a token.
//!
//! Real servers use `JwtVerifier` with the address of their authorization
//! server. This one has a table of tokens, so that it runs without any.
//!
//! ```sh
//! cargo run -p bowline --example protected_server --features auth,http-client,http-server
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::time::Duration;

use bowline::{
    Client,
    server::{
        HandlerContext, Server, Tool,
        auth::{AccessToken, Protection, TokenClaims, TokenVerifier, VerifyError},
        http::HttpOptions,
    },
    transport::{BoxFuture, Http},
};
use serde_json::json;
use tokio::net::TcpListener;

/// Knows one token, of one user, for one server.
struct TokenTable {
    resource: String,
}

impl TokenVerifier for TokenTable {
    fn issuer(&self) -> &str {
        "https://login.example.com"
    }

    fn opaque_prefix(&self) -> Option<&str> {
        Some("demo-")
    }

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
        Box::pin(async move {
            match token.secret() {
                "demo-ada" => {
                    let claims = TokenClaims::new(self.issuer(), "ada");
                    Ok(claims.with_audience(&self.resource))
                }
                _ => Err(VerifyError::Invalid("unknown token")),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let whoami = Tool::new("whoami")
        .description("Names the caller")
        .no_input()
        .handler_with_context(async |_, cx: HandlerContext| {
            let name = cx.claims().and_then(|claims| claims.subject());
            Ok(format!("You are {}", name.unwrap_or("nobody")))
        });
    let service = Server::new("accounts", "1.0.0").tool(whoami).build()?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let tokens = TokenTable {
        resource: url.clone(),
    };
    let protection = Protection::builder(&url).verifier(tokens).build()?;
    let http = service.http(HttpOptions {
        protection: Some(protection),
        ..HttpOptions::default()
    });
    let serving = tokio::spawn({
        let http = http.clone();
        async move { http.serve(listener).await }
    });

    match Client::builder().connect(Http::new(&url)?).await {
        Ok(_) => println!("The server asked for no token"),
        Err(error) => println!("Without a token: {error:#}"),
    }
    let transport = Http::new(&url)?.bearer("demo-ada")?;
    let client = Client::builder().connect(transport).await?;
    let result = client.tools().call("whoami", json!({})).await?;
    println!("With a token: {}", result.all_text());

    client.stop_and_wait(Duration::from_secs(5)).await;
    http.stop(Duration::from_secs(5));
    serving.await??;
    Ok(())
}
