//! Playing a recording to the program that started this one.

use std::future::poll_fn;

use bowline::transport::{Link as _, LinkEvent, Outgoing, Refusal, Stdio};
use bytes::Bytes;

use super::{message::Message, player::Player};
use crate::{context::Context, failure::Failure, signals};

/// The largest message that is taken.
const MAX_FRAME: usize = 64 * 1024 * 1024;

/// Answers on the standard streams, until whoever asks has no more to say.
pub(super) async fn serve(cx: &Context, mut player: Player) -> Result<(), Failure> {
    let mut link = Stdio::take(MAX_FRAME)?;
    loop {
        let event = tokio::select! {
            event = poll_fn(|cx| link.poll_event(cx)) => event,
            _ = signals::received() => break,
        };
        let frame = match event {
            LinkEvent::Frame(frame) => frame,
            LinkEvent::Oversize { size, .. } => {
                let most = MAX_FRAME / 1024 / 1024;
                let why = format!("a message of {size} bytes is over the {most} MiB taken here");
                return Err(Failure::failed(why));
            }
            LinkEvent::Refused { .. } => continue,
            LinkEvent::Down(_) => break,
        };
        for message in Message::all(&String::from_utf8_lossy(&frame)) {
            for said in player.receive(0, message) {
                send(&mut link, said.frame.into()).await?;
            }
        }
        for remark in player.remarks() {
            cx.output.remark(format!("replay: {remark}"));
        }
    }
    // Who has stopped reading does not want the rest.
    let _ = link.finish().await;
    Ok(())
}

/// Sends a frame, and waits for room if there is none.
async fn send(link: &mut Stdio, mut frame: Bytes) -> Result<(), Failure> {
    loop {
        match link.send(Outgoing { id: None, frame }) {
            Ok(()) => break,
            Err(Refusal::Busy(back)) => frame = back,
            // Whoever asked has stopped reading.
            Err(_) => break,
        }
        poll_fn(|cx| link.poll_flush(cx)).await;
    }
    poll_fn(|cx| link.poll_flush(cx)).await;
    Ok(())
}
