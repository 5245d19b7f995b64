//! The HTTP+SSE transport of the first revision: a stream that names the POST
//! endpoint.

use reqwest::Url;

use super::{
    context::HttpContext,
    event_channel::EventSender,
    events::{EventStream, StreamError},
    exchange::is_stream,
};
use crate::{
    proto::http::sse::{Event, resolve_endpoint},
    transport::{ConnectionError, ConnectionErrorKind, LinkEvent, SendError},
};

/// Opens the stream and waits for the endpoint that messages are posted to.
pub(super) async fn open(context: &HttpContext) -> Result<EventStream, ConnectionError> {
    let mut response = context.get_stream(None).await.map_err(connection_error)?;
    if !response.status().is_success() {
        let error = context.read_status_error(&mut response).await;
        return Err(connection_error(SendError::Status(error)));
    }
    if !is_stream(&response) {
        return Err(violation("its URL does not serve an event stream"));
    }
    let stream_url = response.url().clone();
    let mut events = EventStream::new(
        response,
        context.max_frame_size,
        context.limits.max_comment_bytes,
    );
    loop {
        let event = events.next().await.map_err(stream_end_error)?;
        if event.name.as_deref() == Some("endpoint") {
            context.set_endpoint(parse_endpoint(&stream_url, &event)?);
            return Ok(events);
        }
    }
}

/// Reads the stream to its end, which also ends the link.
pub(super) async fn read(mut events: EventStream, event_sender: EventSender) {
    let cause = loop {
        match events.next().await {
            Ok(event) => {
                if let Some(message) = event.message() {
                    event_sender.send(LinkEvent::Frame(message.clone())).await;
                }
            }
            Err(StreamError::TooLarge) => {
                let limit = events.limit();
                let size = limit.saturating_add(1);
                break ConnectionErrorKind::OversizedFrame { size, limit }.into();
            }
            Err(end) => break stream_end_error(end),
        }
    };
    event_sender.send(LinkEvent::Down(cause)).await;
}

/// Parses the endpoint. Requests to it carry our credentials, so it must be on
/// the same origin.
fn parse_endpoint(stream_url: &Url, event: &Event) -> Result<Url, ConnectionError> {
    let reference = str::from_utf8(&event.data).unwrap_or_default();
    let resolved = resolve_endpoint(stream_url.as_str(), reference);
    let resolved = resolved.map_err(|error| violation(&error.to_string()))?;
    Url::parse(&resolved).map_err(|_| violation("it sent an invalid endpoint URL"))
}

fn connection_error(error: SendError) -> ConnectionError {
    match error {
        SendError::Failed(cause) | SendError::NoResponse(cause) => cause,
        SendError::Status(error) => error.to_connection_error(),
        SendError::Busy(_) => ConnectionErrorKind::Io("the transport is busy".to_owned()).into(),
    }
}

fn stream_end_error(end: StreamError) -> ConnectionError {
    match end {
        StreamError::Broken(cause) => cause,
        StreamError::TooLarge => violation("an event of its stream exceeds the maximum frame size"),
        StreamError::Invalid(error) => violation(&error.to_string()),
    }
}

fn violation(reason: &str) -> ConnectionError {
    ConnectionErrorKind::ProtocolViolation(reason.to_owned()).into()
}
