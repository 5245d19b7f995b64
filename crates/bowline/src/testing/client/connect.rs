//! Connecting a test client to its nodes.

use std::sync::Arc;

use super::{TestClient, TestError, output::Published, tap::Tapped};
use crate::{
    client::{Client, ClientBuilder},
    proto::model::LogLevel,
};

/// The connections: one to each node that is used.
pub(super) struct Connected {
    pub(super) clients: Vec<Client>,
    pub(super) published: Published,
}

impl TestClient {
    pub(super) async fn connected(&self) -> Result<&Connected, TestError> {
        let connect = async {
            let mut clients = Vec::new();
            for (node, inner) in self.nodes.dial().enumerate() {
                let record = Arc::clone(&self.record);
                let transport = Tapped {
                    inner,
                    record,
                    node,
                };
                clients.push(self.builder().connect(transport).await?);
            }
            let published = Published::default();
            Ok(Connected { clients, published })
        };
        self.connected.get_or_try_init(|| connect).await
    }

    fn builder(&self) -> ClientBuilder {
        let settings = &self.settings;
        let mut builder = Client::builder()
            .identity("bowline-test-client", env!("CARGO_PKG_VERSION"))
            .revisions([settings.revision])
            .log_level(LogLevel::Debug);
        if settings.elicitation {
            let script = Arc::clone(&self.script);
            builder = builder.on_elicit(move |question| {
                let script = Arc::clone(&script);
                async move {
                    match script.elicit(&question) {
                        Ok(answer) => answer,
                        Err(fault) => script.fail(fault).await,
                    }
                }
            });
            if settings.urls {
                builder = builder.elicit_urls();
            }
        }
        if settings.sampling {
            let script = Arc::clone(&self.script);
            builder = builder.on_sample(move |question| {
                let script = Arc::clone(&script);
                async move {
                    match script.sample(&question) {
                        Ok(answer) => answer,
                        Err(fault) => script.fail(fault).await,
                    }
                }
            });
            if settings.tools {
                builder = builder.sample_tools();
            }
        }
        match &settings.roots {
            Some(roots) => builder.roots(roots.iter().cloned()),
            None => builder,
        }
    }
}
