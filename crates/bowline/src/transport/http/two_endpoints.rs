//! The transport of the first revision: a stream that names where to post.

use reqwest::Url;

use super::{
    events::{End, Events},
    exchange::is_stream,
    outbox::Outbox,
    talk::Talk,
};
use crate::{
    proto::http::sse::{Event, resolve_endpoint},
    transport::{Cause, CauseKind, LinkEvent, Refusal},
};

/// Opens the stream, and waits for it to say where messages are posted to.
pub(super) async fn open(talk: &Talk) -> Result<Events, Cause> {
    let mut response = talk.get_stream(None).await.map_err(cause_of)?;
    if !response.status().is_success() {
        let refusal = talk.refusal(&mut response).await;
        return Err(cause_of(Refusal::Status(refusal)));
    }
    if !is_stream(&response) {
        return Err(violation("it has no event stream there"));
    }
    let stream_url = response.url().clone();
    let mut events = Events::new(response, talk.max_frame, talk.limits.comments);
    loop {
        let event = events.next().await.map_err(cause_of_end)?;
        if event.name.as_deref() == Some("endpoint") {
            talk.set_endpoint(endpoint(&stream_url, &event)?);
            return Ok(events);
        }
    }
}

/// Reads the stream to its end, with which the link ends, too.
pub(super) async fn read(mut events: Events, outbox: Outbox) {
    let cause = loop {
        match events.next().await {
            Ok(event) => {
                if let Some(message) = event.message() {
                    outbox.put(LinkEvent::Frame(message.clone())).await;
                }
            }
            Err(End::TooLarge) => {
                let limit = events.limit();
                let size = limit.saturating_add(1);
                break CauseKind::Oversize { size, limit }.into();
            }
            Err(end) => break cause_of_end(end),
        }
    };
    outbox.put(LinkEvent::Down(cause)).await;
}

/// What is posted there has our credentials with it, so that it must be on the
/// same origin.
fn endpoint(stream_url: &Url, event: &Event) -> Result<Url, Cause> {
    let reference = str::from_utf8(&event.data).unwrap_or_default();
    let resolved = resolve_endpoint(stream_url.as_str(), reference);
    let resolved = resolved.map_err(|error| violation(&error.to_string()))?;
    Url::parse(&resolved).map_err(|_| violation("it names no usable endpoint"))
}

fn cause_of(refusal: Refusal) -> Cause {
    match refusal {
        Refusal::Failed(cause) | Refusal::Unanswered(cause) => cause,
        Refusal::Status(refusal) => refusal.cause(),
        Refusal::Busy(_) => CauseKind::Io("the transport is busy".to_owned()).into(),
    }
}

fn cause_of_end(end: End) -> Cause {
    match end {
        End::Broken(cause) => cause,
        End::TooLarge => violation("an event of the stream exceeds the limit"),
        End::Unruly(error) => violation(&error.to_string()),
    }
}

fn violation(why: &str) -> Cause {
    CauseKind::Violation(why.to_owned()).into()
}
