//! Authorization, from the client's side. Rules only: no sockets, no clocks, no secrets of ours.
//!
//! Each piece answers one question; who asks them in which order, and does the
//! asking over the network, is the driver.
//!
//! | question | piece |
//! |---|---|
//! | What does the server want? | [`parse_challenges`], [`ChallengeSummary`] |
//! | Where is that written down? | [`places`] |
//! | Who guards the server? | [`ResourceMetadata`], [`fits()`] |
//! | How does one talk to the guard? | [`ServerMetadata`] |
//! | What do we ask for? | [`Scopes`] |
//! | Who are we to the guard? | [`ClientIdSource`], [`RegistrationRequest`], [`Registered`] |
//! | Where does the user go, and what comes back? | [`AuthorizationRequest`], [`Redirect`] |
//! | How does that become a token? | [`Grant`], [`ClientAuth`], [`TokenResponse`] |

mod authorization_request;
mod authorization_response;
mod challenge;
mod client_auth;
mod client_id;
mod form;
mod grant;
mod json_document;
mod registration;
mod resource_covers;
mod resource_metadata;
mod scope;
mod secret;
mod server_metadata;
mod token;
pub mod well_known;

pub use authorization_request::AuthorizationRequest;
pub use authorization_response::{AuthorizationResponse, AuthorizationResponseError};
pub use challenge::{Challenge, ChallengeSummary, parse_challenges};
pub use client_auth::{ClientAuth, ClientAuthMethod};
pub use client_id::{ClientIdSource, choose_client_id_source, is_client_metadata_url};
pub use form::{decode_form, encode_form};
pub use grant::Grant;
pub use json_document::{JsonDocument, JsonDocumentError};
pub use registration::{ApplicationType, RegisteredClient, RegistrationRequest};
pub use resource_covers::resource_covers;
pub use resource_metadata::ResourceMetadata;
pub use scope::{OFFLINE_ACCESS, Scopes};
pub use secret::{Secret, constant_time_eq};
pub use server_metadata::{EndpointBase, MetadataError, ServerMetadata};
pub use token::{OAuthError, TokenResponse, Tokens, parse_token_response};
