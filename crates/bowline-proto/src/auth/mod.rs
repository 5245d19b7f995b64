//! Authorization, from the client's side. Rules only: no sockets, no clocks, no secrets of ours.
//!
//! Each piece answers one question; who asks them in which order, and does the
//! asking over the network, is the driver.
//!
//! | question | piece |
//! |---|---|
//! | What does the server want? | [`read_challenges`], [`Demand`] |
//! | Where is that written down? | [`places`] |
//! | Who guards the server? | [`ResourceMetadata`], [`fits()`] |
//! | How does one talk to the guard? | [`ServerMetadata`] |
//! | What do we ask for? | [`Scopes`] |
//! | Who are we to the guard? | [`Identification`], [`Registration`], [`Registered`] |
//! | Where does the user go, and what comes back? | [`AuthorizationRequest`], [`Redirect`] |
//! | How does that become a token? | [`Grant`], [`ClientAuth`], [`TokenAnswer`] |

mod challenge;
mod client_auth;
mod client_id;
mod document;
mod fits;
mod form;
mod grant;
pub mod places;
mod redirect;
mod registration;
mod request;
mod resource_metadata;
mod scope;
mod secret;
mod server_metadata;
mod token;

pub use challenge::{Challenge, Demand, read_challenges};
pub use client_auth::{AuthMethod, ClientAuth};
pub use client_id::{Identification, identify, is_client_metadata_url};
pub use document::{Document, DocumentError};
pub use fits::fits;
pub use form::{decode_form, encode_form};
pub use grant::Grant;
pub use redirect::{Redirect, RedirectError};
pub use registration::{ApplicationType, Registered, Registration};
pub use request::AuthorizationRequest;
pub use resource_metadata::ResourceMetadata;
pub use scope::{OFFLINE_ACCESS, Scopes};
pub use secret::{Secret, constant_time_eq};
pub use server_metadata::{EndpointsAt, MetadataError, ServerMetadata};
pub use token::{OAuthError, TokenAnswer, Tokens, read_token_answer};
