//! Authorization as a resource server: access control for servers over HTTP.
//!
//! A [`TokenClaims`] holds the contents of a token. With the feature `auth`,
//! `Protection` requires and checks a token for every request. Without it, your
//! own layer can do so and put its claims into the request's extensions.
//!
//! - `protection` is the configuration, `authenticate` checks requests,
//!   `rejection` builds the error responses and `metadata` is published for
//!   clients.
//! - `token` extracts the token of a request and `verifier` verifies it: `jwt`
//!   with the issuer's `keys`, `introspection` by asking the issuer. Both read
//!   `claims`; `issuer_throttle` limits the calls to issuers. `dpop` checks proofs for
//!   tokens bound to keys, with `nonce`, and `used_proofs` remembers them;
//!   `revocation_list` is the copy of `revoked_tokens`. `lifetime` ends streams with
//!   their token.
//! - `issuer_fetch` makes requests to issuers.

#[cfg(all(feature = "auth", feature = "http-server"))]
mod authenticate;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod claims;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod dpop;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod https_url;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod introspection;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod issuer_fetch;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod issuer_throttle;
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
pub(crate) mod permissions;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod protection;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) mod rejection;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod revocation_list;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod revoked_tokens;
pub(crate) mod scope;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) mod token;
mod token_claims;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod used_proofs;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod verifier;

#[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
pub use crate::fetch::WebFetch;
pub use token_claims::TokenClaims;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use {
    crate::fetch::{AddressScope, Fetch, FetchError, FetchPolicy, FetchRequest},
    introspection::IntrospectionVerifier,
    jwt::JwtVerifier,
    keys::KeySource,
    metadata::MetadataService,
    protection::{Protection, ProtectionBuilder, ProtectionError},
    revoked_tokens::{MemoryRevokedTokenStore, RevokedTokenStore, RevokedTokens},
    token::AccessToken,
    used_proofs::{MemoryUsedProofStore, ProofOutcome, UsedProof, UsedProofStore},
    verifier::{TokenVerifier, VerifyError},
};
