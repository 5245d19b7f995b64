//! Getting into servers that are protected by OAuth.
//!
//! [`OAuth`] does it all: it finds out who guards a server, signs in there, and
//! keeps the tokens good. Give it to the transport:
//!
//! ```no_run
//! use bowline::{Client, auth::{Loopback, OAuth}, transport::Http};
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let url = "https://mcp.example.com/mcp";
//! let oauth = OAuth::new("Knot Shop").user(Loopback::new());
//! oauth.sign_in(url).await?;
//! let client = Client::builder()
//!     .connect(Http::new(url)?.authorizer(oauth))
//!     .await?;
//! # drop(client);
//! # Ok(()) }
//! ```
//!
//! Hosts that have their own way to come by tokens implement
//! [`Authorizer`](crate::transport::Authorizer) instead.
//!
//! - `oauth` is the flow, one file for each phase; what is decided without a
//!   network is in [`proto::auth`](crate::proto::auth).
//! - `store` is where tokens stay, `user` how people get to the page where they
//!   sign in.
//! - `fetch` makes the requests, and `guard` says which it may make.

mod error;
mod fetch;
mod oauth;
mod random;
mod store;
mod url_policy;
mod user;

pub use crate::proto::auth::{ApplicationType, AuthorizationResponse, Scopes, Secret};
pub use error::{AuthError, AuthErrorKind};
pub use fetch::{AddressScope, Fetch, FetchError, FetchRequest, FetchResponse, Resolver};
#[cfg(all(unix, feature = "keyring"))]
pub use keyring_core;
pub use oauth::{IdentityProvider, OAuth, SignInStatus};
#[cfg(unix)]
pub use store::FileStore;
#[cfg(all(unix, feature = "keyring"))]
pub use store::KeyringStore;
pub use store::{MemoryStore, TokenStore, TokenStoreError, TokenStoreKey, TokenStoreLock};
pub use user::{AuthorizationSession, Loopback, Paste, UserAgent};
