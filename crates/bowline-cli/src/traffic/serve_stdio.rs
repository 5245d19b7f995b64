//! Serving a recording over standard input and output.

use std::future::poll_fn;

use bowline::transport::{Link as _, LinkEvent, OutgoingFrame, SendError, Stdio};
use bytes::Bytes;

use super::{message::Message, recorded_server::RecordedServer};
use crate::{context::Context, failure::Failure, signals};

/// Maximum size of a message.
const MAX_FRAME: usize = 64 * 1024 * 1024;

/// Responds on the standard streams until the client closes its side.
pub(super) async fn serve(cx: &Context, mut player: RecordedServer) -> Result<(), Failure> {
    let mut link = Stdio::take(MAX_FRAME)?;
    loop {
        let event = tokio::select! {
            event = poll_fn(|cx| link.poll_event(cx)) => event,
            _ = signals::received() => break,
        };
        let frame = match event {
            LinkEvent::Frame(frame) => frame,
            LinkEvent::OversizedFrame { size, .. } => {
                let max_mib = MAX_FRAME / 1024 / 1024;
                let why = format!("a message of {size} bytes exceeds the limit of {max_mib} MiB");
                return Err(Failure::failed(why));
            }
            LinkEvent::SendFailed { .. } => continue,
            LinkEvent::Down(_) => break,
        };
        for message in Message::parse_all(&String::from_utf8_lossy(&frame)) {
            for reply in player.receive(0, message) {
                send(&mut link, reply.frame.into()).await?;
            }
        }
        for note in player.take_notes() {
            cx.output.note(format!("replay: {note}"));
        }
    }
    // The client may have stopped reading.
    let _ = link.finish().await;
    Ok(())
}

/// Sends a frame, waiting while the link is busy.
async fn send(link: &mut Stdio, mut frame: Bytes) -> Result<(), Failure> {
    loop {
        match link.send(OutgoingFrame { id: None, frame }) {
            Ok(()) => break,
            Err(SendError::Busy(returned)) => frame = returned,
            // The client has stopped reading.
            Err(_) => break,
        }
        poll_fn(|cx| link.poll_flush(cx)).await;
    }
    poll_fn(|cx| link.poll_flush(cx)).await;
    Ok(())
}
