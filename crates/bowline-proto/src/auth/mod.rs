//! The client side of authorization. Rules only: no sockets, no clocks, no
//! secrets.
//!
//! Each part answers one question; the driver decides on their order and does
//! the network requests.
//!
//! | question | part |
//! |---|---|
//! | What does the server require? | [`parse_challenges`], [`ChallengeSummary`] |
//! | Where is its metadata? | [`well_known`] |
//! | Which authorization servers protect it? | [`ResourceMetadata`], [`resource_covers()`] |
//! | What does the authorization server support? | [`ServerMetadata`] |
//! | Which scopes do we request? | [`Scopes`] |
//! | What is our client id? | [`ClientIdSource`], [`RegistrationRequest`], [`RegisteredClient`] |
//! | Where does the user go, and what comes back? | [`AuthorizationRequest`], [`AuthorizationResponse`] |
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
