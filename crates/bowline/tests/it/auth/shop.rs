//! A server of tools that wants to see tokens.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::authority::Authority;
use crate::{
    http_client::rig::{Hit, Reply, Rig, stateless_reply},
    sync::lock,
};

/// The server.
pub(crate) struct Shop {
    pub(crate) rig: Rig,
    counter: Arc<Mutex<Counter>>,
}

/// How it behaves.
pub(crate) struct Counter {
    /// Who guards it now.
    pub(crate) guard: Authority,
    /// Changes its metadata.
    pub(crate) metadata: fn(&mut Value),
    /// What is answered for its metadata instead.
    pub(crate) elsewhere: Option<String>,
    /// The scopes that entering takes.
    pub(crate) enter: &'static str,
    /// The scopes that calling a tool takes.
    pub(crate) buy: &'static str,
    /// Where calls are sent instead.
    pub(crate) moved: Option<String>,
}

impl Shop {
    pub(crate) async fn guarded_by(guard: &Authority) -> Self {
        let counter = Arc::new(Mutex::new(Counter {
            guard: guard.clone(),
            metadata: |_| {},
            elsewhere: None,
            enter: "",
            buy: "",
            moved: None,
        }));
        let at = Arc::clone(&counter);
        let rig = Rig::start(move |hit| lock(&at).answer(hit)).await;
        Self { rig, counter }
    }

    pub(crate) fn url(&self) -> String {
        self.rig.url()
    }

    pub(crate) fn counter(&self) -> MutexGuard<'_, Counter> {
        lock(&self.counter)
    }
}

impl Counter {
    fn answer(&mut self, hit: &Hit) -> Reply {
        let origin = format!("http://{}", hit.header("host").expect("a host"));
        match (&*hit.verb, &*hit.path) {
            ("GET", "/.well-known/oauth-protected-resource/mcp") => self.metadata(&origin),
            ("POST", "/mcp") => self.serve(hit, &origin),
            _ => Reply::status(404),
        }
    }

    fn metadata(&self, origin: &str) -> Reply {
        if let Some(elsewhere) = &self.elsewhere {
            return Reply::status(302).with("location", elsewhere);
        }
        let mut metadata = json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [self.guard.issuer()],
        });
        (self.metadata)(&mut metadata);
        Reply::json(metadata.to_string())
    }

    fn serve(&self, hit: &Hit, origin: &str) -> Reply {
        let shown = hit.header("authorization").unwrap_or_default();
        let token = shown.strip_prefix("Bearer ").unwrap_or_default();
        let resource = format!("{origin}/mcp");
        let place = format!("{origin}/.well-known/oauth-protected-resource/mcp");
        let Some(scope) = self.guard.scope_of(token, &resource) else {
            let scope = match self.enter {
                "" => String::new(),
                enter => format!(r#", scope="{enter}""#),
            };
            let challenge = format!(r#"Bearer resource_metadata="{place}"{scope}"#);
            return Reply::status(401).with("www-authenticate", &challenge);
        };
        let needed = match &*hit.rpc() {
            "tools/call" => self.buy,
            _ => self.enter,
        };
        let has = |needed: &str| scope.split(' ').any(|scope| scope == needed);
        if !needed.split(' ').filter(|scope| !scope.is_empty()).all(has) {
            let challenge = format!(r#"Bearer error="insufficient_scope", scope="{needed}""#);
            return Reply::status(403).with("www-authenticate", &challenge);
        }
        match &self.moved {
            Some(place) if hit.rpc() == "tools/call" => Reply::status(307).with("location", place),
            _ => stateless_reply(hit),
        }
    }
}
