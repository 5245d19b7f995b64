//! Event streams: the standard's fine print, limits, and any split into chunks.

use std::time::Duration;

use bowline_proto::http::sse::{Decoder, Event, EventEncoder, KEEP_ALIVE, SseError, SseLimits};
use bytes::Bytes;
use proptest::prelude::*;

fn decode(decoder: &mut Decoder, chunks: &[&[u8]]) -> (Vec<Event>, Result<(), SseError>) {
    let mut events = Vec::new();
    for mut chunk in chunks.iter().copied() {
        loop {
            match decoder.push(&mut chunk) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Err(error)),
            }
        }
        assert!(
            chunk.is_empty(),
            "a decoder that asks for more has read all"
        );
    }
    (events, Ok(()))
}

/// The events of a stream; the same whole and byte by byte.
#[track_caller]
fn events(stream: &[u8]) -> Vec<Event> {
    let (whole, outcome) = decode(&mut Decoder::default(), &[stream]);
    assert_eq!(outcome, Ok(()));
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(
        decode(&mut Decoder::default(), &bytes),
        (whole.clone(), Ok(()))
    );
    whole
}

fn data(text: &str) -> Event {
    Event {
        data: Bytes::copy_from_slice(text.as_bytes()),
        ..Event::default()
    }
}

#[test]
fn all_line_endings_and_their_mixtures() {
    for stream in [
        "data: a\n\n",
        "data: a\r\r",
        "data: a\r\n\r\n",
        "data: a\r\n\n",
        "data: a\n\r",
    ] {
        assert_eq!(events(stream.as_bytes()), [data("a")], "{stream:?}");
    }
    assert_eq!(
        events(b"data: a\r\rdata: b\r\n\r\n"),
        [data("a"), data("b")]
    );
}

#[test]
fn an_event_ends_with_the_carriage_return() {
    let (found, _) = decode(&mut Decoder::default(), &[b"data: a\r\n\r"]);
    assert_eq!(found, [data("a")], "no need to wait for the line feed");
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(events(b"\xef\xbb\xbfdata: a\n\n"), [data("a")]);
    assert_eq!(events(b"\xef\xbb\xbf\ndata: a\n\n"), [data("a")]);
    assert_eq!(events(b"\xef\xbbdata: a\ndata: b\n\n"), [data("b")]);
    assert_eq!(events(b"\n\xef\xbb\xbfdata: a\ndata: b\n\n"), [data("b")]);
    assert_eq!(events(b"\xef\ndata: b\n\n"), [data("b")]);
}

#[test]
fn lines_of_data_are_joined_and_one_space_is_dropped() {
    assert_eq!(
        events(b"data:a\ndata: b\ndata:  c\ndata\ndata:\n\n"),
        [data("a\nb\n c\n\n")]
    );
    assert_eq!(events(b"data: x: y\n\n"), [data("x: y")]);
}

#[test]
fn comments_and_unknown_fields_are_skipped() {
    assert!(
        events(b": ping\n\n:\n\nfoo: bar\n\nDATA: a\n\n data: a\n\ndatax: a\n\nnonsense\n\n")
            .is_empty()
    );
    assert!(events(&KEEP_ALIVE.repeat(3)).is_empty());
    assert_eq!(
        events(b"data: a\n: in between\ndata: b\n\n"),
        [data("a\nb")]
    );
}

#[test]
fn names_are_read_and_reset() {
    let found = events(b"event: endpoint\ndata: /m\n\ndata: x\n\nevent: message\ndata: y\n\n");
    let names: Vec<_> = found.iter().map(|event| event.name.as_deref()).collect();
    assert_eq!(names, [Some("endpoint"), None, Some("message")]);
    let messages: Vec<_> = found
        .iter()
        .map(|event| event.message().is_some())
        .collect();
    assert_eq!(messages, [false, true, true], "only messages are JSON-RPC");
    assert!(events(b"event: alone\n\n").is_empty());
    assert_eq!(
        events(b"event: a\nevent: b\ndata: x\n\n")[0]
            .name
            .as_deref(),
        Some("b")
    );
    assert_eq!(events(b"event: a\nevent:\ndata: x\n\n")[0].name, None);
}

#[test]
fn ids_persist_until_they_are_replaced_or_taken_back() {
    let mut decoder = Decoder::default();
    let mut after = |stream: &[u8]| {
        let (found, outcome) = decode(&mut decoder, &[stream]);
        assert_eq!(outcome, Ok(()));
        let id = found
            .last()
            .and_then(|event| event.id.as_deref().map(str::to_owned));
        (id, decoder.last_event_id().map(str::to_owned))
    };
    let some = |id: &str| Some(id.to_owned());
    assert_eq!(after(b"data: a\n\n"), (None, None));
    assert_eq!(after(b"id: 1\ndata: a\n\n"), (some("1"), some("1")));
    assert_eq!(after(b"data: b\n\n"), (None, some("1")));
    assert_eq!(
        after(b"id: 2\n"),
        (None, some("1")),
        "not before the event is complete"
    );
    assert_eq!(after(b"\n"), (some("2"), some("2")), "even without data");
    assert_eq!(
        after(b"id: a\0b\ndata: c\n\n"),
        (None, some("2")),
        "an id with NUL is ignored"
    );
    assert_eq!(after(b"id: 3\nid: \0\ndata: c\n\n"), (some("3"), some("3")));
    assert_eq!(after(b"id\ndata: d\n\n"), (some(""), None), "taken back");
}

#[test]
fn retry_is_digits_only_and_cut_to_a_limit() {
    let retry = |text: &str| {
        let stream = format!("retry:{text}\ndata: x\n\n");
        events(stream.as_bytes())[0]
            .retry
            .map(|wait| wait.as_millis())
    };
    assert_eq!(retry(" 500"), Some(500));
    assert_eq!(retry("0"), Some(0));
    assert_eq!(retry("007"), Some(7));
    assert_eq!(retry("99999999999999999999999999"), Some(3_600_000));
    for bad in [
        "", " ", "1.5", "-1", "+1", "1 ", "  1", "1e3", "0x1", "ten", "1\0",
    ] {
        assert_eq!(retry(bad), None, "{bad:?}");
    }
    assert_eq!(
        events(b"retry: 10\n\n")[0].retry,
        Some(Duration::from_millis(10))
    );
    assert_eq!(
        events(b"retry: 1\nretry: x\n\n")[0].retry,
        Some(Duration::from_millis(1))
    );
}

#[test]
fn an_unfinished_event_is_never_delivered() {
    for unfinished in [&b"data: a"[..], b"data: a\n", b"id: 1\n", b"dat", b"data"] {
        let mut decoder = Decoder::default();
        assert_eq!(decode(&mut decoder, &[unfinished]), (vec![], Ok(())));
        assert!(decoder.is_mid_event(), "{unfinished:?}");
        assert_eq!(decoder.last_event_id(), None);
    }
    let mut decoder = Decoder::default();
    assert!(!decoder.is_mid_event());
    assert_eq!(decode(&mut decoder, &[b"data: a\n\n: ping\n"]).1, Ok(()));
    assert!(!decoder.is_mid_event());
}

const SMALL: SseLimits = SseLimits {
    max_line: 12,
    max_event: 10,
    max_name: 4,
    max_retry: Duration::from_secs(1),
    max_overhead: Some(20),
};

#[test]
fn each_limit_is_met_exactly() {
    let outcome = |stream: &str| decode(&mut Decoder::new(SMALL), &[stream.as_bytes()]).1;
    assert_eq!(outcome("data: 0123456789\n\n"), Ok(()));
    assert_eq!(outcome("data: 0123456789a"), Err(SseError::EventTooLarge));
    assert_eq!(
        outcome("data: 01234\ndata: 6789\n\n"),
        Ok(()),
        "the line feed counts"
    );
    assert_eq!(
        outcome("data: 01234\ndata: 6789a"),
        Err(SseError::EventTooLarge)
    );
    assert_eq!(outcome("id: 0123\nevent: 0123\n\n"), Ok(()));
    assert_eq!(outcome("id: 01234"), Err(SseError::NameTooLong));
    assert_eq!(outcome("event: 01234"), Err(SseError::NameTooLong));
    assert_eq!(outcome(":0123456789ab\n"), Ok(()));
    assert_eq!(outcome(":0123456789abc"), Err(SseError::LineTooLong));
    assert_eq!(outcome("retry: 0000000000001"), Err(SseError::LineTooLong));
    assert_eq!(outcome(":012345678\n:012345678\n"), Ok(()));
    assert_eq!(
        outcome(":012345678\n:012345678\n\n"),
        Err(SseError::TooMuchOverhead)
    );
    assert_eq!(outcome(":012345678\n:0123456789"), Ok(()));
    assert_eq!(
        outcome(":012345678\n:0123456789a"),
        Err(SseError::TooMuchOverhead)
    );
    assert_eq!(outcome(&"\n".repeat(20)), Ok(()));
    assert_eq!(outcome(&"\n".repeat(21)), Err(SseError::TooMuchOverhead));
}

#[test]
fn empty_lines_of_data_are_bounded_too() {
    let outcome = |lines| {
        decode(
            &mut Decoder::new(SMALL),
            &["data\n".repeat(lines).as_bytes()],
        )
        .1
    };
    assert_eq!(outcome(11), Ok(()), "ten line feeds between them");
    assert_eq!(outcome(12), Err(SseError::EventTooLarge));
}

#[test]
fn an_event_resets_what_was_counted() {
    let stream = ":012345678\ndata: x\n\n".repeat(50);
    let (found, outcome) = decode(&mut Decoder::new(SMALL), &[stream.as_bytes()]);
    assert_eq!((found.len(), outcome), (50, Ok(())));
}

#[test]
fn a_failed_decoder_stays_failed() {
    let mut decoder = Decoder::new(SMALL);
    let (found, outcome) = decode(&mut decoder, &[b"data: a\n\nid: 01234\n\n"]);
    assert_eq!(
        (found, outcome),
        (vec![data("a")], Err(SseError::NameTooLong))
    );
    assert_eq!(
        decode(&mut decoder, &[b"data: b\n\n"]).1,
        Err(SseError::NameTooLong)
    );
    assert_eq!(decode(&mut decoder, &[b""]).1, Err(SseError::NameTooLong));
}

#[test]
fn a_message_of_exactly_the_default_limit_passes() {
    let mut stream = b"data: ".to_vec();
    stream.resize(stream.len() + (16 << 20), b'x');
    let mut decoder = Decoder::default();
    let chunks: Vec<&[u8]> = stream.chunks(64 << 10).chain([&b"\n\n"[..]]).collect();
    let (found, outcome) = decode(&mut decoder, &chunks);
    assert_eq!((found[0].data.len(), outcome), (16 << 20, Ok(())));
    stream.push(b'x');
    assert!(decode(&mut Decoder::default(), &[&stream]).1.is_err());
}

/// Bytes that make streams worth reading.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let tokens: Vec<&[u8]> = vec![
        b"data",
        b"id",
        b"event",
        b"retry",
        b"message",
        b":",
        b": ",
        b" ",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b"1",
        b"250",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xff",
        b"x",
        b"{}",
        b"data: {}\n\n",
        b"id: 7\ndata:\n\n",
        ": ü\n".as_bytes(),
    ];
    prop::collection::vec(prop::sample::select(tokens), 0..40).prop_map(|parts| parts.concat())
}

/// A reader of whole streams, written from the standard and for nothing but clarity.
fn oracle(stream: &[u8]) -> Vec<Event> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut bytes = stream.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' | b'\n' => {
                if byte == b'\r' {
                    bytes.next_if_eq(&b'\n');
                }
                lines.push(std::mem::take(&mut line));
            }
            byte => line.push(byte),
        }
    }
    let mut events = Vec::new();
    let (mut event, mut any, mut data) = (Event::default(), false, None::<Vec<u8>>);
    for line in lines {
        if line.is_empty() {
            event.data = data.take().unwrap_or_default().into();
            let done = std::mem::take(&mut event);
            if std::mem::take(&mut any) {
                events.push(done);
            }
            continue;
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = String::from_utf8_lossy(value).into_owned();
        match &line[..colon] {
            b"data" => {
                any = true;
                data = Some(match data {
                    Some(before) => [&before, &b"\n"[..], value].concat(),
                    None => value.to_vec(),
                });
            }
            b"id" if !value.contains(&0) => {
                any = true;
                event.id = Some(text.into());
            }
            b"event" => event.name = (!text.is_empty()).then(|| text.into()),
            b"retry" if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                any = true;
                let wait = Duration::from_millis(text.parse().unwrap_or(u64::MAX));
                event.retry = Some(wait.min(Duration::from_secs(3600)));
            }
            _ => {}
        }
    }
    events
}

fn cut<'s>(stream: &'s [u8], cuts: &[prop::sample::Index]) -> Vec<&'s [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| &stream[pair[0]..pair[1]])
        .collect()
}

fn one_line() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.replace(['\r', '\n', '\0'], "."))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn chunks_do_not_matter(stream in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let whole = decode(&mut Decoder::default(), &[&stream]);
        prop_assert_eq!(&whole.0, &oracle(&stream));
        prop_assert_eq!(decode(&mut Decoder::default(), &cut(&stream, &cuts)), whole);
    }

    #[test]
    fn chunks_do_not_matter_to_limits(stream in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let whole = decode(&mut Decoder::new(SMALL), &[&stream]);
        prop_assert_eq!(decode(&mut Decoder::new(SMALL), &cut(&stream, &cuts)), whole.clone());
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(decode(&mut Decoder::new(SMALL), &bytes), whole);
    }

    #[test]
    fn what_is_written_is_read(
        id in prop::option::of(one_line()),
        name in prop::option::of(one_line()),
        retry in prop::option::of(0u64..3_600_000),
        text in "(\\PC|\r|\n|:| |data){0,20}",
    ) {
        let mut writer = EventEncoder::new();
        if let Some(id) = &id {
            writer = writer.id(id).unwrap();
        }
        if let Some(name) = &name {
            writer = writer.name(name).unwrap();
        }
        if let Some(retry) = retry {
            writer = writer.retry(Duration::from_millis(retry));
        }
        let mut stream = KEEP_ALIVE.to_vec();
        writer.write(text.as_bytes(), &mut stream);
        let limits = SseLimits { max_name: 1 << 20, ..SseLimits::default() };
        let (found, outcome) = decode(&mut Decoder::new(limits), &[&stream]);
        prop_assert_eq!(outcome, Ok(()));
        let expected = Event {
            id: id.map(Into::into),
            name: name.filter(|name| !name.is_empty()).map(Into::into),
            data: text.replace("\r\n", "\n").replace('\r', "\n").into(),
            retry: retry.map(Duration::from_millis),
        };
        prop_assert_eq!(found, [expected]);
    }
}
