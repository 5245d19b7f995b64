//! Our client, as the guide shows it.

use std::{sync::Arc, time::Duration};

use bowline::{Client, proto::revision::Revision, transport::ChildProcess};
use serde_json::json;

use super::super::{arguments::Era, start::Start, tasks::Caller};
use crate::Failure;

/// Connects to the server that it starts.
pub(super) async fn connect(start: &Start, era: Era) -> Result<Client, Failure> {
    let mut server = ChildProcess::new(&start.program).args(&start.arguments);
    let mut builder = Client::builder()
        .client_info("bench", "1.0.0")
        .revisions(Revision::parse(era.revision()));
    if start.watched {
        let long = Duration::from_secs(60);
        server = server.shutdown_timeout(long);
        builder = builder.connect_timeout(long);
    }
    builder
        .connect(server)
        .await
        .map_err(|error| error.to_string())
}

impl Caller for Client {
    async fn echo(&self, text: &Arc<str>) -> Result<Option<usize>, Failure> {
        let result = self.tools().call("echo", json!({"text": **text})).await;
        let result = result.map_err(|error| error.to_string())?;
        let first = result.content.first();
        Ok(first.and_then(|block| block.as_text()).map(str::len))
    }

    async fn stop(self) {
        Client::stop(&self).await;
    }
}
