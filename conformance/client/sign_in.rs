//! How the client signs in, in which scenario.

use bowline::{
    auth::{IdentityProvider, OAuth, Secret},
    jose::SigningKey,
};
use serde_json::Value;

use crate::{Result, user::Willing};

/// The document about the client, for servers that read such.
const ABOUT: &str = "https://conformance-test.local/client-metadata.json";

/// What gets the client into the server of a scenario.
pub fn authorizer(scenario: &str, context: &Value) -> Result<OAuth> {
    let word = |name: &str| {
        let word = context[name].as_str().map(str::to_owned);
        word.ok_or_else(|| format!("the context has no {name}"))
    };
    let oauth = OAuth::new("Bowline, being examined");
    Ok(match scenario {
        "auth/pre-registration" => oauth
            .client_id(&word("client_id")?)
            .client_secret(word("client_secret")?)
            .issuer(&word("issuer")?)
            .user_agent(Willing),
        "auth/client-credentials-basic" => oauth
            .client_id(&word("client_id")?)
            .client_secret(word("client_secret")?)
            .client_credentials(),
        "auth/client-credentials-jwt" => oauth
            .client_id(&word("client_id")?)
            .client_key(SigningKey::from_pem(&word("private_key_pem")?)?)
            .client_credentials(),
        "auth/enterprise-managed-authorization" => {
            let id_token = Secret::new(word("idp_id_token")?);
            let (endpoint, client) = (word("idp_token_endpoint")?, word("idp_client_id")?);
            let provider = IdentityProvider::new(&endpoint, &client, move || {
                let id_token = id_token.clone();
                async { Ok(id_token) }
            });
            oauth
                .client_id(&word("client_id")?)
                .client_secret(word("client_secret")?)
                .identity_provider(provider)
        }
        "auth/wif-jwt-bearer" => {
            let statement = Secret::new(word("valid_jwt")?);
            oauth
                .client_id(&word("client_id")?)
                .workload_identity(move || {
                    let statement = statement.clone();
                    async { Ok(statement) }
                })
        }
        _ => oauth.client_metadata_url(ABOUT).user_agent(Willing),
    })
}
