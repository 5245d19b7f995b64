//! A protected server for the tests of the command, with the authorization
//! server that guards it, and a browser that goes where it is sent.
//!
//! ```sh
//! cargo run -p bowline-cli --example guarded
//! BROWSER='target/debug/examples/guarded visit' bowline auth login URL
//! ```
//!
//! It prints its URL, and lives until its standard input ends. `refuse` as its
//! argument makes every user say no; `hasty` makes tokens that must be renewed
//! before every use.

#![expect(clippy::print_stdout, reason = "it says where it is")]

#[path = "../../../bowline/tests/it/auth/asking.rs"]
mod asking;
#[path = "../../../bowline/tests/it/auth/authority.rs"]
#[expect(dead_code, reason = "it was made for more")]
mod authority;
#[path = "../../../bowline/tests/it/http_client/rig.rs"]
#[expect(dead_code, reason = "it was made for more")]
mod rig;
#[path = "../../../bowline/tests/it/sync.rs"]
mod sync;
mod http_client {
    //! Where the authorization server looks for what it is built on.

    pub(crate) use crate::rig;
}

use std::{error::Error, io::Read as _};

use bowline::{
    server::{
        Conversation, Server, Tool,
        auth::{Protection, TokenClaims},
        http::HttpOptions,
    },
    transport::{
        Http,
        reqwest::{Client, header::LOCATION},
    },
};
use tokio::net::TcpListener;

use self::{asking::Asking, authority::Authority};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["visit", url] => visit(url).await,
        ["ends", url] => {
            let (_, location) = follow(&browser()?, url).await?;
            println!("{}", location.unwrap_or_default());
            Ok(())
        }
        ref how => serve(how.contains(&"refuse"), how.contains(&"hasty")).await,
    }
}

/// A browser: it goes where it is sent, to the end.
async fn visit(url: &str) -> Result<(), Box<dyn Error>> {
    let client = browser()?;
    let mut next = Some(url.to_owned());
    while let Some(url) = next {
        let (status, location) = follow(&client, &url).await?;
        if !(200..400).contains(&status) {
            return Err(format!("HTTP {status}").into());
        }
        next = location;
    }
    Ok(())
}

fn browser() -> Result<Client, Box<dyn Error>> {
    Ok(Http::client_builder()?.no_proxy().build()?)
}

/// The status of a page, and where it sends its visitors.
async fn follow(client: &Client, url: &str) -> Result<(u16, Option<String>), Box<dyn Error>> {
    let answer = client.get(url).send().await?;
    let location = answer.headers().get(LOCATION);
    let location = location.map(|to| to.to_str().map(str::to_owned));
    Ok((answer.status().as_u16(), location.transpose()?))
}

async fn serve(refuse: bool, hasty: bool) -> Result<(), Box<dyn Error>> {
    let guard = Authority::open().await;
    if refuse {
        guard.books().redirect = |back| {
            back.retain(|(name, _)| name != "code");
            back.push(("error".to_owned(), "access_denied".to_owned()));
        };
    }
    if hasty {
        guard.books().expires_in = 0;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let resource = format!("http://{}/mcp", listener.local_addr()?);
    let tokens = Asking {
        issuer: guard.issuer(),
        resource: resource.clone(),
        guard,
    };
    let protection = Protection::builder(&resource)
        .verifier(tokens)
        .required_scopes(["read"]);
    let http = Server::new("vault", "1.0.0")
        .tools([tool("look", None), tool("put", Some("write"))])
        .build()?
        .http(HttpOptions {
            protection: Some(protection.build()?),
            ..HttpOptions::default()
        });
    println!("{resource}");
    // Whoever started this may die without a word.
    let parent = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    tokio::select! {
        served = http.serve(listener) => Ok(served?),
        _ = parent => Ok(()),
    }
}

/// A tool that says who calls it.
fn tool(name: &str, scope: Option<&str>) -> Tool {
    let mut tool = Tool::new(name).description("Says who calls it");
    if let Some(scope) = scope {
        tool = tool.scope(scope);
    }
    tool.no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let who = cx.claims().and_then(TokenClaims::subject);
            Ok(format!("{} may", who.unwrap_or("nobody")))
        })
}
