//! What the suite says: which scenario, which server, which revision.

use std::env;

use bowline::{
    Client,
    client::ClientBuilder,
    proto::{model::Root, revision::Revision},
    transport::Http,
};
use serde_json::Value;

use crate::{Result, answers, sign_in};

/// What the suite says.
#[derive(Debug)]
pub struct Setting {
    pub scenario: String,
    /// What the scenario says beside that, as JSON.
    pub context: Value,
    url: String,
    revision: Revision,
}

impl Setting {
    pub fn read() -> Result<Self> {
        let variable = |name: &str| env::var(name).map_err(|_| format!("{name} is not set"));
        let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
        let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        Ok(Self {
            scenario: variable("MCP_CONFORMANCE_SCENARIO")?,
            context: match context.as_str() {
                "" => Value::Null,
                context => serde_json::from_str(context)?,
            },
            url: env::args().next_back().ok_or("there is no URL")?,
            revision: Revision::parse(&version).ok_or("there is no such revision")?,
        })
    }

    /// Connects to the mock server.
    pub async fn connect(&self) -> Result<Client> {
        let mut server = Http::new(&self.url)?;
        if self.scenario.starts_with("auth/") {
            let oauth = sign_in::authorizer(&self.scenario, &self.context)?;
            server = server.authorizer(oauth);
        }
        Ok(self.client().connect(server).await?)
    }

    /// A client that speaks the revision and answers all questions.
    fn client(&self) -> ClientBuilder {
        Client::builder()
            .client_info("bowline-conformance", env!("CARGO_PKG_VERSION"))
            .revisions([self.revision])
            .roots([Root::new("file:///conformance")])
            .on_elicit(async |question| answers::fill_in(&question))
            .on_sample(async |_| Ok(answers::model_says("Hello!")))
    }
}
