//! What servers write to standard error, as events of `tracing`.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};

use bowline::{Client, transport::StderrPolicy};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use super::{faulty, within};
use crate::sync::lock;

/// Keeps the lines of servers.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Line>>>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    server: String,
    line: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "server" => value.clone_into(&mut self.server),
            "line" => value.clone_into(&mut self.line),
            other => panic!("there is no field {other}"),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        panic!("{field} is {value:?}, and no text");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "bowline::stderr" && *metadata.level() == Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let mut lines = lock(&self.0);
        lines.push(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn each_line_is_logged_with_the_name_of_the_server() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let server = faulty("exit").arg("3").stderr(StderrPolicy::Log);
    let error = within("connecting", Client::builder().connect(server)).await;
    let error = error.expect_err("it exits");
    let tail = error.connection_error().and_then(|cause| cause.detail());
    assert_eq!(tail, Some("starting\nDATABASE_URL is not set"), "kept, too");
    let lines = lock(&log.0);
    let server = super::faulty_path().display().to_string();
    let line = |line: &str| Line {
        server: server.clone(),
        line: line.to_owned(),
    };
    // It is started once more, without the question that it may have died of.
    assert_eq!(
        lines[..2],
        [line("starting"), line("DATABASE_URL is not set")]
    );
}

/// Panics at every line.
struct Panics;

impl Subscriber for Panics {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "bowline::stderr"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        panic!("the log is full");
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_subscriber_that_panics_does_not_close_the_standard_error_of_a_server() {
    let _logging = tracing::subscriber::set_default(Panics);
    let server = faulty("exit").arg("3").stderr(StderrPolicy::Log);
    let error = within("connecting", Client::builder().connect(server)).await;
    let error = error.expect_err("it exits");
    let tail = error.connection_error().and_then(|cause| cause.detail());
    assert_eq!(tail, Some("starting\nDATABASE_URL is not set"), "all of it");
}
