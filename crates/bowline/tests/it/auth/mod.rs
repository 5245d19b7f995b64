//! Authorization against a server that gives tokens and one that wants them.

#[cfg(feature = "http-server")]
mod asking;
mod authority;
#[cfg(feature = "http-server")]
mod both;
mod discovery;
mod flow;
mod forgotten;
mod hook;
#[cfg(all(unix, feature = "keyring"))]
mod keyring;
mod machine;
mod more;
mod places;
mod plain;
mod proof;
mod remote;
#[cfg(feature = "tracing")]
mod secrecy;
mod shop;
mod signing_out;
#[cfg(all(unix, feature = "testing"))]
mod store;
mod trust;
mod user;

use bowline::{Client, auth::OAuth, client::Error, transport::Http};
use serde_json::json;

use self::{authority::Authority, shop::Shop, user::Browser};
use crate::http_client::rig::{builder, within};

/// A shop, its guard, a user, and what signs them in.
struct Setup {
    guard: Authority,
    shop: Shop,
    user: Browser,
    oauth: OAuth,
}

impl Setup {
    async fn new() -> Self {
        let guard = Authority::open().await;
        let shop = Shop::guarded_by(&guard).await;
        let user = Browser::default();
        let oauth = OAuth::new("Knots").user_agent(user.clone());
        Self {
            guard,
            shop,
            user,
            oauth,
        }
    }

    async fn connect(&self) -> Result<Client, Error> {
        let http = Http::new(&self.shop.url()).expect("a good URL");
        within(builder().connect(http.authorizer(self.oauth.clone()))).await
    }

    async fn connected(&self) -> Client {
        self.connect().await.expect("it connects")
    }
}

/// Calls a tool that says nothing.
async fn call(client: &Client) -> Result<(), Error> {
    within(client.tools().call("knot", json!({})).into_future())
        .await
        .map(drop)
}
