//! Authorization for servers that are protected by OAuth.
//!
//! [`OAuth`] implements the whole flow: it discovers a server's authorization
//! server, signs in there, and keeps the tokens fresh. Pass it to the
//! transport:
//!
//! ```no_run
//! use bowline::{Client, auth::{Loopback, OAuth}, transport::Http};
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let url = "https://mcp.example.com/mcp";
//! let oauth = OAuth::new("Knot Shop").user_agent(Loopback::new());
//! oauth.sign_in(url).await?;
//! let client = Client::builder()
//!     .connect(Http::new(url)?.authorizer(oauth))
//!     .await?;
//! # drop(client);
//! # Ok(()) }
//! ```
//!
//! Hosts that obtain tokens in their own way implement
//! [`Authorizer`](crate::transport::Authorizer) instead.
//!
//! - `oauth` is the flow, one file per phase; decisions that need no network
//!   are in [`proto::auth`](crate::proto::auth).
//! - `store` persists tokens; `user` sends people to the page where they sign
//!   in.
//! - `policy_fetcher` makes the requests that `url_policy` allows, with any
//!   [`Fetch`].

mod error;
mod oauth;
mod policy_fetcher;
mod random;
mod store;
mod url_policy;
mod user;

pub use crate::fetch::{
    AddressScope, Fetch, FetchError, FetchPolicy, FetchRequest, Resolver, WebFetch,
};
pub use crate::proto::auth::{ApplicationType, AuthorizationResponse, Scopes, Secret};
pub use error::{AuthError, AuthErrorKind};
#[cfg(all(unix, feature = "keyring"))]
pub use keyring_core;
pub use oauth::{IdentityProvider, OAuth, SignInStatus};
#[cfg(unix)]
pub use store::FileStore;
#[cfg(all(unix, feature = "keyring"))]
pub use store::KeyringStore;
pub use store::{MemoryStore, TokenStore, TokenStoreError, TokenStoreKey, TokenStoreLock};
pub use user::{AuthorizationSession, Loopback, Paste, UserAgent, open_browser};
