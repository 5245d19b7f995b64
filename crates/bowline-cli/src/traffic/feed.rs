//! Printing notifications and connection changes, one line each.

use std::time::{Duration, Instant};

use bowline::{
    Client,
    client::{ConnectionError, ConnectionState, Health, Notification, Notifications},
    model::{LogLevel, LoggingMessageParams},
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::utc_time::UtcTime;
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    output::{Paint, Style, escape_control},
};

/// When to stop, and what to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct FollowOptions {
    /// Maximum number of events.
    pub(crate) count: Option<u64>,
    /// Maximum time.
    pub(crate) duration: Option<Duration>,
    /// Whether to read updated resources and print them.
    pub(crate) read: bool,
    /// Whether only log messages count.
    pub(crate) only_logs: bool,
}

/// Prints events until the count or the time is reached. `notifications` must
/// be created before subscribing: it buffers what arrives in the meantime.
pub(crate) async fn follow(
    cx: &Context,
    client: &Client,
    mut notifications: Notifications,
    options: &FollowOptions,
) -> Result<(), Failure> {
    let mut health = client.watch_health();
    let mut connection = ConnectionFeed::new(&health.borrow_and_update());
    let deadline = options
        .duration
        .map(|time| tokio::time::Instant::now() + time);
    let mut remaining = options.count;
    while remaining != Some(0) {
        let timed_out = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let notification = tokio::select! {
            biased;
            () = timed_out => return Ok(()),
            // Notifications sent before the connection was lost come first.
            notification = notifications.next() => notification,
            Ok(()) = health.changed() => {
                let health = health.borrow_and_update().clone();
                for item in connection.health_changed(&health) {
                    print(cx, &item)?;
                }
                if health.ended {
                    return Err(connection_lost(health.last_disconnect.as_ref()));
                }
                continue;
            }
        };
        let Some(notification) = notification else {
            return Err(connection_lost(client.health().last_disconnect.as_ref()));
        };
        let is_log = matches!(notification, Notification::Log(_));
        if options.only_logs && !is_log {
            continue;
        }
        print(cx, &FeedItem::from_notification(&notification))?;
        if let (true, Notification::ResourceUpdated(update)) = (options.read, &notification) {
            print(cx, &read_content(client, &update.uri).await)?;
        }
        remaining = remaining.map(|remaining| remaining - 1);
    }
    Ok(())
}

fn connection_lost(cause: Option<&ConnectionError>) -> Failure {
    let why = cause.map_or_else(|| "the client was stopped".to_owned(), ToString::to_string);
    Failure::new(
        FailureKind::Unreachable,
        format!("the connection was closed: {why}"),
    )
}

fn print(cx: &Context, item: &FeedItem) -> Result<(), Failure> {
    let now = UtcTime::now();
    cx.output.line(match cx.json() {
        true => item.json(now),
        false => item.line(now, cx.output.paint()),
    })
}

/// Reads an updated resource.
async fn read_content(client: &Client, uri: &str) -> FeedItem {
    match client.resources().read(uri).await {
        Ok(read) => {
            let result = serde_json::to_value(&read).unwrap_or_default();
            let text = |content: &Value| match content["text"].as_str() {
                Some(text) => text.to_owned(),
                None => {
                    let size = content["blob"].as_str().unwrap_or_default().len() / 4 * 3;
                    format!("({size} bytes)")
                }
            };
            let contents = result["contents"].as_array();
            let texts: Vec<String> = contents.into_iter().flatten().map(text).collect();
            FeedItem::new("content", Style::Value, texts.join("\n"))
                .with_field("uri", uri)
                .with_field("result", &read)
        }
        Err(error) => FeedItem::new("unread", Style::Error, format!("{error:#}"))
            .with_field("uri", uri)
            .with_field("why", format!("{error:#}")),
    }
}

/// An event.
#[derive(Debug)]
struct FeedItem {
    /// Its name.
    event: &'static str,
    style: Style,
    /// As text; may have several lines.
    text: String,
    /// As JSON: keys and encoded values.
    fields: Vec<(&'static str, String)>,
}

impl FeedItem {
    fn new(event: &'static str, style: Style, text: impl Into<String>) -> Self {
        Self {
            event,
            style,
            text: text.into(),
            fields: Vec::new(),
        }
    }

    fn with_field(mut self, key: &'static str, value: impl Serialize) -> Self {
        // All of these values can be encoded.
        let value = serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned());
        self.fields.push((key, value));
        self
    }

    fn from_notification(notification: &Notification) -> Self {
        let item = match notification {
            Notification::ToolsChanged => Self::new("changed", Style::Type, "the list of tools"),
            Notification::PromptsChanged => {
                Self::new("changed", Style::Type, "the list of prompts")
            }
            Notification::ResourcesChanged => {
                Self::new("changed", Style::Type, "the list of resources")
            }
            Notification::ResourceUpdated(update) => {
                Self::new("updated", Style::Type, &*update.uri).with_field("params", update)
            }
            Notification::Log(log) => {
                Self::new("log", level_style(&log.level), log_text(log)).with_field("params", log)
            }
            Notification::Other { params, .. } => {
                let params = params.as_deref().unwrap_or(b"{}");
                let text = String::from_utf8_lossy(params);
                let text = format!("{} {text}", notification.method());
                let params: Option<&RawValue> = serde_json::from_slice(params).ok();
                Self::new("told", Style::Bold, text).with_field("params", params)
            }
            Notification::Resubscribed { uris } => {
                let uris: Vec<&str> = uris.iter().map(AsRef::as_ref).collect();
                let text = format!("{}: updates may have been missed", uris.join(", "));
                Self::new("resumed", Style::Warning, text).with_field("uris", uris)
            }
            Notification::SubscriptionLost { uri } => {
                let text = format!("{uri}: the subscription was lost");
                Self::new("lost", Style::Error, text).with_field("uri", uri)
            }
            Notification::Lost(count) => {
                let text = format!("{count} notifications were dropped: they arrived too fast");
                Self::new("missed", Style::Warning, text).with_field("count", count)
            }
            // Added in a later version of the library.
            other => Self::new("told", Style::Bold, format!("{other:?}")),
        };
        match notification.method() {
            "" => item,
            method => {
                let mut item = item.with_field("method", method);
                item.fields.rotate_right(1);
                item
            }
        }
    }

    fn line(&self, now: UtcTime, paint: Paint) -> String {
        let time = paint.dim(now.time_of_day());
        let event = paint.text(self.style, format!("{:<8}", self.event));
        let text = escape_control(self.text.trim_end());
        // Further lines are indented below the first.
        let text = text.replace('\n', &format!("\n{:22}", ""));
        format!("{time} {event} {text}")
    }

    fn json(&self, now: UtcTime) -> String {
        let mut line = format!(r#"{{"time":"{}","event":"{}""#, now.rfc3339(), self.event,);
        for (key, value) in &self.fields {
            // One document per line: newlines in valid JSON are whitespace.
            let value = value.replace(['\n', '\r'], " ");
            line.push_str(&format!(r#","{key}":{value}"#));
        }
        line.push('}');
        line
    }
}

fn level_style(level: &LogLevel) -> Style {
    match level {
        level if *level >= LogLevel::Error => Style::Error,
        LogLevel::Warning => Style::Warning,
        LogLevel::Debug => Style::Dim,
        _ => Style::Bold,
    }
}

fn log_text(log: &LoggingMessageParams) -> String {
    let data: Value = serde_json::from_str(log.data.get()).unwrap_or_default();
    let data = match data {
        Value::String(text) => text,
        _ => log.data.get().to_owned(),
    };
    match &log.logger {
        Some(logger) => format!("{} {logger}: {data}", log.level.as_str()),
        None => format!("{} {data}", log.level.as_str()),
    }
}

/// The last known state of the connection.
struct ConnectionFeed {
    sessions: u64,
    failures: u32,
    down_since: Option<Instant>,
}

impl ConnectionFeed {
    fn new(health: &Health) -> Self {
        Self {
            sessions: health.sessions,
            failures: health.consecutive_failures,
            down_since: None,
        }
    }

    /// Returns the events for a change of health.
    fn health_changed(&mut self, health: &Health) -> Vec<FeedItem> {
        let mut items = Vec::new();
        let ready = health.state == ConnectionState::Ready;
        let why = || {
            let cause = health.last_disconnect.as_ref();
            cause.map_or_else(
                || "the connection was lost".to_owned(),
                |cause| format!("{cause:#}"),
            )
        };
        let reconnected = health.sessions > self.sessions;
        if self.down_since.is_none() && (!ready || reconnected) {
            self.down_since = Some(Instant::now());
            items.push(FeedItem::new("fell", Style::Error, why()).with_field("why", why()));
        } else if health.consecutive_failures > self.failures && !ready {
            items.push(FeedItem::new("down", Style::Error, why()).with_field("why", why()));
        }
        if let (true, Some(disconnected_at)) = (ready, self.down_since) {
            let downtime = disconnected_at.elapsed();
            let ms = (downtime.as_secs_f64() * 1e4).round() / 10.0;
            let text = format!("after {:.1} s", downtime.as_secs_f64());
            items.push(FeedItem::new("back", Style::Success, text).with_field("after_ms", ms));
            self.down_since = None;
        }
        self.sessions = health.sessions;
        self.failures = health.consecutive_failures;
        items
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(notification: &Notification, line: &str, json: &Value) {
        let news = FeedItem::from_notification(notification);
        let now = UtcTime::now();
        let shown = news.line(now, Paint::new(false));
        assert_eq!(shown, format!("{} {line}", now.time_of_day()));
        let mut value: Value = serde_json::from_str(&news.json(now)).expect("it is JSON");
        value
            .as_object_mut()
            .expect("it is an object")
            .remove("time");
        assert_eq!(value, *json);
    }

    #[test]
    fn news_are_told_in_a_line() {
        check(
            &Notification::ToolsChanged,
            "changed  the list of tools",
            &json!({"event": "changed", "method": "notifications/tools/list_changed"}),
        );
        check(
            &Notification::Other {
                method: "x/y".into(),
                params: Some(bytes::Bytes::from_static(b"{\"b\":1,\"a\":\"\x1b\"}")),
            },
            "told     x/y {\"b\":1,\"a\":\"\\u{1b}\"}",
            &json!({"event": "told", "method": "x/y", "params": null}),
        );
        check(
            &Notification::Lost(3),
            "missed   3 notifications were dropped: they arrived too fast",
            &json!({"event": "missed", "count": 3}),
        );
    }

    #[test]
    fn a_fall_is_told_once_and_so_is_the_return() {
        let mut health = Health::default();
        health.state = ConnectionState::Ready;
        health.sessions = 1;
        let mut connection = ConnectionFeed::new(&health);
        let mut check = |health: &Health, expected: &[&str]| {
            let news = connection.health_changed(health);
            let events: Vec<&str> = news.iter().map(|news| news.event).collect();
            assert_eq!(events, expected);
        };
        check(&health, &[]);
        health.state = ConnectionState::Backoff;
        health.consecutive_failures = 1;
        check(&health, &["fell"]);
        health.state = ConnectionState::Opening;
        check(&health, &[]);
        health.state = ConnectionState::Backoff;
        health.consecutive_failures = 2;
        check(&health, &["down"]);
        health.state = ConnectionState::Ready;
        health.sessions = 2;
        health.consecutive_failures = 0;
        check(&health, &["back"]);
        // So fast that the loss was not seen.
        health.sessions = 3;
        check(&health, &["fell", "back"]);
    }
}
