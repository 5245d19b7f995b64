//! A server that echoes every frame, for the tests: `stdio_echo <mode>
//! [runtime]`.
//!
//! The mode selects when it answers, and the runtime is `current` or `multi`.
//! Some frames have other effects than an echo; see [`answer`].

use std::{
    env,
    future::{pending, poll_fn},
    io::{self, Write as _},
    process::Command,
};

use bowline::transport::{
    ConnectionError, ConnectionErrorKind, Link, LinkEvent, OutgoingFrame, SendError, Stdio,
};
use bytes::Bytes;
use tokio::runtime::Builder;

const MAX_FRAME: usize = 4 * 1024 * 1024;

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let mut builder = match arguments.next().as_deref() {
        Some("multi") => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    if Stdio::take(MAX_FRAME).is_ok() {
        return Err(io::Error::other("Stdio::take succeeded without a runtime"));
    }
    let runtime = builder.enable_all().build()?;
    runtime.block_on(async {
        let link = Stdio::take(MAX_FRAME)?;
        match mode.as_str() {
            "echo" => echo(link).await,
            "late" => late(link).await,
            "close" => close(link).await,
            other => Err(io::Error::other(format!("unknown mode {other:?}"))),
        }
    })
}

/// Answers at once.
async fn echo(mut link: Stdio) -> io::Result<()> {
    while let Some(frame) = next(&mut link).await? {
        if let Err(cause) = send(&mut link, answer(frame)?).await {
            return gone(&cause);
        }
    }
    link.finish().await.or_else(|cause| gone(&cause))
}

/// Answers when the input has ended.
async fn late(mut link: Stdio) -> io::Result<()> {
    let mut frames = Vec::new();
    while let Some(frame) = next(&mut link).await? {
        frames.push(frame);
    }
    for frame in frames {
        send(&mut link, frame).await.map_err(io::Error::other)?;
    }
    link.finish().await.map_err(io::Error::other)
}

/// Queues the answer to the first frame, closes the link, and stays.
async fn close(mut link: Stdio) -> io::Result<()> {
    if let Some(frame) = next(&mut link).await? {
        let outgoing = OutgoingFrame { id: None, frame };
        link.send(outgoing)
            .map_err(|_| io::Error::other("the queue is empty"))?;
    }
    Link::close(Box::new(link));
    pending().await
}

/// Returns the next frame, or `None` at the end. Writes while it waits.
async fn next(link: &mut Stdio) -> io::Result<Option<Bytes>> {
    let event = poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        link.poll_event(cx)
    });
    match event.await {
        LinkEvent::Frame(frame) => Ok(Some(frame)),
        LinkEvent::Down(cause) => gone(&cause).map(|()| None),
        LinkEvent::OversizedFrame { .. } => Err(io::Error::other("too large a frame")),
        other => Err(io::Error::other(format!("{other:?}"))),
    }
}

/// Queues a frame, once there is room.
async fn send(link: &mut Stdio, mut frame: Bytes) -> Result<(), ConnectionError> {
    loop {
        match link.send(OutgoingFrame { id: None, frame }) {
            Ok(()) => return Ok(()),
            Err(SendError::Busy(back)) => frame = back,
            Err(SendError::Failed(cause)) => return Err(cause),
            Err(other) => return Err(ConnectionErrorKind::Io(format!("{other:?}")).into()),
        }
        poll_fn(|cx| link.poll_flush(cx)).await;
    }
}

/// Ignores a closed link.
fn gone(cause: &ConnectionError) -> io::Result<()> {
    match cause.kind() {
        ConnectionErrorKind::Eof => Ok(()),
        _ => Err(io::Error::other(cause.clone())),
    }
}

/// Returns the answer to a frame. Some frames have effects first.
fn answer(frame: Bytes) -> io::Result<Bytes> {
    match &*frame {
        b"print" => writeln!(io::stdout(), "printed")?,
        // Reads as much as it can, so it ends only when there is nothing left.
        b"start" => drop(
            Command::new("sh")
                .args(["-c", "cat; echo started"])
                .status()?,
        ),
        b"take" => {
            let again = Stdio::take(MAX_FRAME).err();
            return Ok(format!("{:?}", again.map(|error| error.kind())).into());
        }
        _ => {}
    }
    Ok(frame)
}
