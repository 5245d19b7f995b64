//! What a server tells unasked, and what becomes of the connection: a line each.

use std::time::{Duration, Instant};

use bowline::{
    Client,
    client::{Health, Notification, Notifications},
    proto::{
        client::{Cause, StateName},
        model::{LogLevel, LoggingMessageParams},
    },
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::time::Moment;
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    output::{Paint, Style, clean},
};

/// When to stop following, and what to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Follow {
    /// After so many pieces of news.
    pub(crate) count: Option<u64>,
    /// After this long.
    pub(crate) time: Option<Duration>,
    /// Whether to read what was updated, and show that, too.
    pub(crate) read: bool,
    /// Whether only log messages count.
    pub(crate) only_logs: bool,
}

/// Prints news until there were enough of them, or the time is up. To be called
/// before what brings them: `notifications` holds what comes meanwhile.
pub(crate) async fn follow(
    cx: &Context,
    client: &Client,
    mut notifications: Notifications,
    wanted: &Follow,
) -> Result<(), Failure> {
    let mut health = client.watch_health();
    let mut connection = Connection::new(&health.borrow_and_update());
    let end = wanted.time.map(|time| tokio::time::Instant::now() + time);
    let mut left = wanted.count;
    while left != Some(0) {
        let up = async {
            match end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        let notification = tokio::select! {
            biased;
            () = up => return Ok(()),
            // What the server said before it fell is told before its fall.
            notification = notifications.next() => notification,
            Ok(()) = health.changed() => {
                let health = health.borrow_and_update().clone();
                for news in connection.changed(&health) {
                    print(cx, &news)?;
                }
                if health.ended {
                    return Err(over(health.last_fall.as_ref()));
                }
                continue;
            }
        };
        let Some(notification) = notification else {
            return Err(over(client.health().last_fall.as_ref()));
        };
        let is_log = matches!(notification, Notification::Log(_));
        if wanted.only_logs && !is_log {
            continue;
        }
        print(cx, &News::of(&notification))?;
        if let (true, Notification::ResourceUpdated(update)) = (wanted.read, &notification) {
            print(cx, &content(client, &update.uri).await)?;
        }
        left = left.map(|left| left - 1);
    }
    Ok(())
}

fn over(cause: Option<&Cause>) -> Failure {
    let why = cause.map_or_else(|| "it was stopped".to_owned(), ToString::to_string);
    Failure::new(
        FailureKind::Unreachable,
        format!("the connection is over: {why}"),
    )
}

fn print(cx: &Context, news: &News) -> Result<(), Failure> {
    let now = Moment::now();
    cx.output.line(match cx.json() {
        true => news.json(now),
        false => news.line(now, cx.output.paint()),
    })
}

/// Reads what was updated.
async fn content(client: &Client, uri: &str) -> News {
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
            News::new("content", Style::Value, texts.join("\n"))
                .with("uri", uri)
                .with("result", &read)
        }
        Err(error) => News::new("unread", Style::Bad, error.to_string())
            .with("uri", uri)
            .with("why", error.to_string()),
    }
}

/// A piece of news.
#[derive(Debug)]
struct News {
    /// What it is, in a word.
    event: &'static str,
    style: Style,
    /// For people; it may have several lines.
    text: String,
    /// For programs: keys, and values as JSON.
    fields: Vec<(&'static str, String)>,
}

impl News {
    fn new(event: &'static str, style: Style, text: impl Into<String>) -> Self {
        Self {
            event,
            style,
            text: text.into(),
            fields: Vec::new(),
        }
    }

    fn with(mut self, key: &'static str, value: impl Serialize) -> Self {
        // All that is told of can be written as JSON.
        let value = serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned());
        self.fields.push((key, value));
        self
    }

    fn of(notification: &Notification) -> Self {
        let news = match notification {
            Notification::ToolsChanged => Self::new("changed", Style::Type, "the list of tools"),
            Notification::PromptsChanged => {
                Self::new("changed", Style::Type, "the list of prompts")
            }
            Notification::ResourcesChanged => {
                Self::new("changed", Style::Type, "the list of resources")
            }
            Notification::ResourceUpdated(update) => {
                Self::new("updated", Style::Type, &*update.uri).with("params", update)
            }
            Notification::Log(log) => {
                Self::new("log", level_style(&log.level), log_text(log)).with("params", log)
            }
            Notification::Other { params, .. } => {
                let params = params.as_deref().unwrap_or(b"{}");
                let text = String::from_utf8_lossy(params);
                let text = format!("{} {text}", notification.method());
                let params: Option<&RawValue> = serde_json::from_slice(params).ok();
                Self::new("told", Style::Strong, text).with("params", params)
            }
            Notification::Resubscribed { uris } => {
                let uris: Vec<&str> = uris.iter().map(AsRef::as_ref).collect();
                let text = format!("{}: changes may have been missed", uris.join(", "));
                Self::new("resumed", Style::Warning, text).with("uris", uris)
            }
            Notification::SubscriptionLost { uri } => {
                let text = format!("{uri}: the server does not tell of changes any more");
                Self::new("lost", Style::Bad, text).with("uri", uri)
            }
            Notification::Lost(count) => {
                let text = format!("{count} notifications came too fast");
                Self::new("missed", Style::Warning, text).with("count", count)
            }
            // What a later version of the library tells.
            other => Self::new("told", Style::Strong, format!("{other:?}")),
        };
        match notification.method() {
            "" => news,
            method => {
                let mut news = news.with("method", method);
                news.fields.rotate_right(1);
                news
            }
        }
    }

    fn line(&self, now: Moment, paint: Paint) -> String {
        let time = paint.faint(now.clock());
        let event = paint.text(self.style, format!("{:<8}", self.event));
        let text = clean(self.text.trim_end());
        // What follows the first line stands below its beginning.
        let text = text.replace('\n', &format!("\n{:22}", ""));
        format!("{time} {event} {text}")
    }

    fn json(&self, now: Moment) -> String {
        let mut line = format!(
            r#"{{"time":"{}","event":"{}""#,
            now.date_and_time(),
            self.event,
        );
        for (key, value) in &self.fields {
            // A line is one document: line ends in valid JSON are blanks.
            let value = value.replace(['\n', '\r'], " ");
            line.push_str(&format!(r#","{key}":{value}"#));
        }
        line.push('}');
        line
    }
}

fn level_style(level: &LogLevel) -> Style {
    match level {
        level if *level >= LogLevel::Error => Style::Bad,
        LogLevel::Warning => Style::Warning,
        LogLevel::Debug => Style::Faint,
        _ => Style::Strong,
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

/// What was last known of the connection.
struct Connection {
    sessions: u64,
    failures: u32,
    down: Option<Instant>,
}

impl Connection {
    fn new(health: &Health) -> Self {
        Self {
            sessions: health.sessions,
            failures: health.failures,
            down: None,
        }
    }

    /// What there is to tell of a change.
    fn changed(&mut self, health: &Health) -> Vec<News> {
        let mut news = Vec::new();
        let ready = health.state == StateName::Ready;
        let why = || {
            let cause = health.last_fall.as_ref();
            cause.map_or_else(|| "the connection is down".to_owned(), ToString::to_string)
        };
        let anew = health.sessions > self.sessions;
        if self.down.is_none() && (!ready || anew) {
            self.down = Some(Instant::now());
            news.push(News::new("fell", Style::Bad, why()).with("why", why()));
        } else if health.failures > self.failures && !ready {
            news.push(News::new("down", Style::Bad, why()).with("why", why()));
        }
        if let (true, Some(since)) = (ready, self.down) {
            let after = since.elapsed();
            let ms = (after.as_secs_f64() * 1e4).round() / 10.0;
            let text = format!("after {:.1} s", after.as_secs_f64());
            news.push(News::new("back", Style::Good, text).with("after_ms", ms));
            self.down = None;
        }
        self.sessions = health.sessions;
        self.failures = health.failures;
        news
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(notification: &Notification, line: &str, json: &Value) {
        let news = News::of(notification);
        let now = Moment::now();
        let shown = news.line(now, Paint::new(false));
        assert_eq!(shown, format!("{} {line}", now.clock()));
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
            "missed   3 notifications came too fast",
            &json!({"event": "missed", "count": 3}),
        );
    }

    #[test]
    fn a_fall_is_told_once_and_so_is_the_return() {
        let mut health = Health::default();
        health.state = StateName::Ready;
        health.sessions = 1;
        let mut connection = Connection::new(&health);
        let mut check = |health: &Health, expected: &[&str]| {
            let news = connection.changed(health);
            let events: Vec<&str> = news.iter().map(|news| news.event).collect();
            assert_eq!(events, expected);
        };
        check(&health, &[]);
        health.state = StateName::Backoff;
        health.failures = 1;
        check(&health, &["fell"]);
        health.state = StateName::Opening;
        check(&health, &[]);
        health.state = StateName::Backoff;
        health.failures = 2;
        check(&health, &["down"]);
        health.state = StateName::Ready;
        health.sessions = 2;
        health.failures = 0;
        check(&health, &["back"]);
        // So quick that nobody saw it fall.
        health.sessions = 3;
        check(&health, &["fell", "back"]);
    }
}
