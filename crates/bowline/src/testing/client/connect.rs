//! Connecting a test client to its nodes.

use std::sync::Arc;

use super::{TestClient, TestError, published_tools::PublishedTools, recorded_transport::recorded};
use crate::{
    client::{Client, ClientBuilder},
    proto::model::LogLevel,
};

/// The connections, one to each node that is used.
pub(super) struct Connected {
    pub(super) clients: Vec<Client>,
    pub(super) published: PublishedTools,
}

impl TestClient {
    pub(super) async fn connected(&self) -> Result<&Connected, TestError> {
        let connect = async {
            let mut clients = Vec::new();
            for (node, inner) in self.nodes.dial().enumerate() {
                let recorder = Arc::clone(&self.recorder);
                let transport = recorded(inner, recorder, node);
                clients.push(self.builder().connect(transport).await?);
            }
            let published = PublishedTools::default();
            Ok(Connected { clients, published })
        };
        self.connected.get_or_try_init(|| connect).await
    }

    fn builder(&self) -> ClientBuilder {
        let settings = &self.settings;
        let mut builder = Client::builder()
            .client_info("bowline-test-client", env!("CARGO_PKG_VERSION"))
            .revisions([settings.revision])
            .log_level(LogLevel::Debug);
        if settings.elicitation {
            let answers = Arc::clone(&self.answers);
            builder = builder.on_elicit(move |question| {
                let answers = Arc::clone(&answers);
                async move {
                    match answers.elicit(&question) {
                        Ok(answer) => answer,
                        Err(error) => answers.fail(error).await,
                    }
                }
            });
            if settings.url_elicitation {
                builder = builder.allow_url_elicitation();
            }
        }
        if settings.sampling {
            let answers = Arc::clone(&self.answers);
            builder = builder.on_sample(move |question| {
                let answers = Arc::clone(&answers);
                async move {
                    match answers.sample(&question) {
                        Ok(answer) => answer,
                        Err(error) => answers.fail(error).await,
                    }
                }
            });
            if settings.sampling_tools {
                builder = builder.allow_sampling_tools();
            }
        }
        match &settings.roots {
            Some(roots) => builder.roots(roots.iter().cloned()),
            None => builder,
        }
    }
}
