//! What those hear who listen to everything that is traced.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use super::{Setup, call};
use crate::{http_client::rig::within, sync::lock};

/// Writes everything down, of every level and from everybody.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<String>>);

struct Words<'a>(&'a mut String);

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").expect("it is text");
    }
}

impl Subscriber for Ear {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Words(&mut lock(&self.0)));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Words(&mut lock(&self.0)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words(&mut lock(&self.0)));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn nothing_that_is_secret_is_traced() {
    let ear = Ear::default();
    let _listening = tracing::subscriber::set_default(ear.clone());
    let setup = Setup::new().await;
    setup.shop.counter().enter = "read";
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in");
    let client = setup.connected().await;
    setup.shop.counter().buy = "buy read";
    call(&client).await.expect("they asked for more");
    setup.guard.expire_all();
    call(&client).await.expect("renewed");
    setup.guard.revoke_all();
    setup.guard.books().redirect = |back| {
        back.retain(|(name, _)| name != "code");
        back.push(("error".into(), "access_denied".into()));
    };
    call(&client).await.expect_err("they are out");
    client.stop().await;
    within(setup.oauth.sign_out(&setup.shop.url()))
        .await
        .expect("out");
    let heard = lock(&ear.0).clone();
    assert!(heard.contains("tools/call"), "something was traced");
    assert!(heard.contains("exception"), "the failure, too: {heard}");
    assert!(!heard.contains("hush"), "{heard}");
}
