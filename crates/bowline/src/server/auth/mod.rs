//! Authorization, the resource's side: who may use a server over HTTP.
//!
//! [`Grant`] is what a token says. With the feature `auth`, `Protection` asks
//! every request for a token and checks it; without it, a layer of one's own
//! may, and put a grant into the request's extensions.
//!
//! - `protection` is what is asked of those who come, `gate` where they are
//!   asked, `refused` what those are told who do not get in; `metadata` is
//!   published for them.
//! - `token` is what a request brings; `verifier` is who can tell whether it is
//!   good: `jwt` with the `keys` of the issuer, `introspection` by asking it.
//!   Both read `claims`; `throttle` sees to it that issuers are not asked too
//!   much. `dpop` checks proofs, where tokens are bound to keys, with `nonce`.
//! - `fetch` gets what others publish, and `web_fetch` does so over the web.

#[cfg(all(feature = "auth", feature = "http-server"))]
mod admission;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod claims;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod dpop;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod fetch;
pub(crate) mod grant;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod https_url;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod introspection;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod jwt;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod keys;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) mod lifetime;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod metadata;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod nonce;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod protection;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) mod rejection;
pub(crate) mod scope;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod throttle;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) mod token;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod verifier;
#[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
mod web_fetch;

pub use grant::Grant;
#[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
pub use web_fetch::WebFetch;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use {
    fetch::{Fetch, FetchError},
    introspection::IntrospectionVerifier,
    jwt::JwtVerifier,
    keys::KeySource,
    metadata::MetadataService,
    protection::{Protection, ProtectionBuilder, ProtectionError},
    token::AccessToken,
    verifier::{TokenVerifier, VerifyError},
};
