//! Any bytes, read as an event stream: no panic, no growth beyond the limits,
//! and the same events however the bytes are cut.
#![no_main]

use std::time::Duration;

use bowline_proto::http::sse::{
    Decoder, Event, EventEncoder, SseError, SseLimits, resolve_endpoint,
};

const LIMITS: SseLimits = SseLimits {
    max_line: 64,
    max_event: 96,
    max_name: 16,
    max_retry: Duration::from_secs(60),
    max_overhead: Some(256),
};

fn decode<'s>(chunks: impl Iterator<Item = &'s [u8]>) -> (Vec<Event>, Result<(), SseError>) {
    let mut decoder = Decoder::new(LIMITS);
    let mut events = Vec::new();
    for mut chunk in chunks {
        loop {
            match decoder.push(&mut chunk) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(decoder.push(&mut &b"data: x\n\n"[..]), Err(error));
                    return (events, Err(error));
                }
            }
        }
    }
    (events, Ok(()))
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&size, stream)) = data.split_first() else {
        return;
    };
    let whole = decode(std::iter::once(stream));
    assert_eq!(decode(stream.chunks(usize::from(size).max(1))), whole);

    for event in &whole.0 {
        assert!(event.data.len() <= LIMITS.max_event);
        assert!(event.retry.is_none_or(|wait| wait <= LIMITS.max_retry));
        let mut again = Vec::new();
        let mut writer = EventEncoder::new();
        if let Some(id) = &event.id {
            writer = writer.id(id).expect("what was read has no line breaks");
        }
        writer.write(&event.data, &mut again);
        let read = Decoder::default()
            .push(&mut &again[..])
            .expect("within the limits");
        let read = read.expect("an event was written");
        assert_eq!((&read.id, &read.data), (&event.id, &event.data));
    }

    let text = String::from_utf8_lossy(stream);
    if let Ok(url) = resolve_endpoint("http://localhost:3000/mcp/sse", &text) {
        assert!(url.starts_with("http://localhost:3000/"));
    }
});
