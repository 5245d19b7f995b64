//! Lines out of a byte stream, however it is cut.

use bowline_proto::jsonrpc::{LineFramer, OversizedFrame, PartialEnvelope, scan_partial};
use bytes::Bytes;
use proptest::prelude::*;

fn drain(framer: &mut LineFramer) -> Result<Vec<Bytes>, OversizedFrame> {
    let mut frames = Vec::new();
    while let Some(frame) = framer.next_frame()? {
        frames.push(frame);
    }
    Ok(frames)
}

#[test]
fn lines_become_frames() {
    let mut framer = LineFramer::new(100);
    framer.push(b"{}\n{\"a\":1}\r\n\n \t \n\r\n[1]\r\r\n{\"half");
    assert_eq!(drain(&mut framer).unwrap(), ["{}", "{\"a\":1}", "[1]\r"]);
    framer.push(b"\":2}\n");
    assert_eq!(drain(&mut framer).unwrap(), ["{\"half\":2}"]);
    assert_eq!(framer.finish(), None);
}

#[test]
fn the_rest_at_the_end_of_the_stream() {
    let rest = |bytes: &[u8]| {
        let mut framer = LineFramer::new(100);
        framer.push(bytes);
        while framer.next_frame().unwrap().is_some() {}
        framer.finish()
    };
    assert_eq!(rest(b"{}\n[]").unwrap(), "[]");
    assert_eq!(rest(b"{}\n[]\r").unwrap(), "[]");
    assert_eq!(rest(b"{}\n"), None);
    assert_eq!(rest(b"{}\n \r"), None);
    assert_eq!(rest(b""), None);
}

#[test]
fn the_limit_is_exact() {
    for end in ["\n", "\r\n"] {
        let mut framer = LineFramer::new(10);
        framer.push(b"1234567890");
        assert_eq!(framer.next_frame(), Ok(None));
        framer.push(end.as_bytes());
        assert_eq!(framer.next_frame().unwrap().unwrap(), "1234567890");
        framer.push(b"12345678901");
        framer.push(end.as_bytes());
        let error = framer.next_frame().unwrap_err();
        assert_eq!((error.size_at_least, error.limit), (11, 10));
    }
}

#[test]
fn a_carriage_return_may_be_half_of_the_line_end() {
    let mut framer = LineFramer::new(3);
    framer.push(b"abc\r");
    assert_eq!(framer.next_frame(), Ok(None), "the newline may follow");
    framer.push(b"\n");
    assert_eq!(framer.next_frame().unwrap().unwrap(), "abc");
    framer.push(b"abc\r");
    assert_eq!(framer.next_frame(), Ok(None));
    framer.push(b"d\n");
    assert_eq!(framer.next_frame().unwrap_err().size_at_least, 5);
}

#[test]
fn a_line_over_the_limit_is_reported_once_and_the_next_one_is_a_frame() {
    let mut framer = LineFramer::new(5000);
    framer.push(&[b'x'; 5001]);
    assert_eq!(
        framer.next_frame(),
        Ok(None),
        "it may say at its end whose it is"
    );
    framer.push(&[b'y'; 3000]);
    assert_eq!(framer.next_frame(), Ok(None));
    framer.push(b"\r\n{}\n");
    let error = framer.next_frame().unwrap_err();
    assert_eq!(error.size_at_least, 8001);
    assert_eq!(error.prefix, vec![b'x'; 4096]);
    assert!(!error.is_unrecoverable);
    assert_eq!(
        error.to_string(),
        "a frame of at least 8001 bytes exceeds the limit of 5000 bytes"
    );
    assert_eq!(drain(&mut framer).unwrap(), ["{}"]);
}

#[test]
fn one_that_says_whose_it_is_is_reported_at_once() {
    let mut framer = LineFramer::new(30);
    let begin = br#"{"jsonrpc":"2.0","id":7,"result":{"text":""#;
    framer.push(begin);
    let error = framer.next_frame().unwrap_err();
    assert_eq!(error.prefix, begin.as_slice());
    framer.push(&[b'x'; 1000]);
    assert_eq!(framer.next_frame(), Ok(None));
    framer.push(b"\"}}\n{}\n");
    assert_eq!(drain(&mut framer).unwrap(), ["{}"], "and not again");
}

/// Whose a long line is, as far as its beginning and end tell.
fn told_by(line: &str) -> PartialEnvelope {
    let mut framer = LineFramer::new(30);
    for chunk in line.as_bytes().chunks(7) {
        framer.push(chunk);
        assert_eq!(framer.next_frame(), Ok(None), "{line}");
    }
    framer.push(b"\n");
    scan_partial(&framer.next_frame().expect_err("it is too long").prefix)
}

#[test]
fn one_that_says_so_at_its_end_is_recognised() {
    let (text, told) = ("x".repeat(6000), |id, is_response| PartialEnvelope {
        id,
        is_response,
        has_result_or_error: is_response,
    });
    let cases = [
        (
            format!(r#"{{"result":{{"t":"{text}"}},"jsonrpc":"2.0","id":7}}"#),
            Some(7_u64.into()),
            true,
        ),
        (
            format!(r#"{{"result":{{"t":"{text}"}}, "id" : 7 }} "#),
            Some(7_u64.into()),
            true,
        ),
        (
            format!(r#"{{"method":"m","params":{{"t":"{text}"}},"id":"a"}}"#),
            Some("a".into()),
            false,
        ),
        // That of something inside, and what only looks like one.
        (
            format!(r#"{{"result":{{"t":"{text}","id":7}}}}"#),
            None,
            true,
        ),
        (
            format!(r#"{{"result":{{"t":"{text}"}},"x\\"id":7}}"#),
            None,
            true,
        ),
        (
            format!(r#"{{"result":{{"t":"{text},\"id\":7}}"#),
            None,
            true,
        ),
        (format!(r#"{{"result":"{text}:}}"#), None, true),
    ];
    for (line, id, is_response) in cases {
        assert_eq!(
            told_by(&line),
            told(id, is_response),
            "{}",
            &line[line.len() - 40..]
        );
    }
}

#[test]
fn a_line_without_an_end_is_given_up_for_good() {
    let mut framer = LineFramer::new(100_000);
    let mut read = 0;
    let lost = loop {
        framer.push(&[b'x'; 10_000]);
        read += 10_000;
        match framer.next_frame() {
            Ok(frame) => assert_eq!(frame, None),
            Err(error) => break error,
        }
        assert!(framer.buffer().len() <= 100_000, "it is not kept");
        assert!(read <= 1_600_000, "sixteen times the limit is enough");
    };
    assert!(lost.is_unrecoverable);
    assert_eq!(lost.size_at_least, read);
    framer.push(b"\n{}\n");
    assert_eq!(framer.next_frame().unwrap_err(), lost);
    assert_eq!(framer.finish(), None);
}

#[test]
fn frames_before_and_after_the_long_one_still_come() {
    let mut framer = LineFramer::new(4);
    framer.push(b"{}\n12345\n[]\n123456\r\n{}\n");
    assert_eq!(framer.next_frame().unwrap().unwrap(), "{}");
    assert_eq!(framer.next_frame().unwrap_err().prefix, "12345");
    assert_eq!(framer.next_frame().unwrap().unwrap(), "[]");
    let second = framer.next_frame().unwrap_err();
    assert_eq!((second.size_at_least, &*second.prefix), (6, &b"123456"[..]));
    assert_eq!(drain(&mut framer).unwrap(), ["{}"]);
}

#[test]
fn a_frame_is_the_bytes_that_were_read() {
    let mut framer = LineFramer::new(1 << 20);
    framer.buffer().extend_from_slice(b"{\"a\":1}\n{\"b\":2}\n");
    let at = framer.buffer().as_ptr();
    let (first, second) = (
        framer.next_frame().unwrap().unwrap(),
        framer.next_frame().unwrap().unwrap(),
    );
    assert_eq!(first.as_ptr(), at, "not copied");
    assert_eq!(second.as_ptr(), at.wrapping_add(8), "not copied");
}

#[test]
fn there_is_room_to_read_into() {
    let mut framer = LineFramer::new(1 << 20);
    let mut held = Vec::new();
    for _ in 0..100 {
        let buffer = framer.buffer();
        assert!(buffer.capacity() - buffer.len() >= LineFramer::READ_SIZE / 4);
        buffer.extend_from_slice(&[b'x'; 9000]);
        buffer.extend_from_slice(b"\n");
        held.push(framer.next_frame().unwrap().unwrap());
    }
    assert!(held.iter().all(|frame| frame == &vec![b'x'; 9000]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn chunks_make_no_difference(
        lines in prop::collection::vec("[a-z {}\r]{0,30}", 0..12),
        cuts in prop::collection::vec(1_usize..20, 1..20),
    ) {
        let stream = lines.join("\n");
        let mut framer = LineFramer::new(1000);
        let mut frames = Vec::new();
        let mut rest = stream.as_bytes();
        for &cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, tail) = rest.split_at(cut.min(rest.len()));
            framer.push(chunk);
            frames.extend(drain(&mut framer).unwrap());
            rest = tail;
        }
        frames.extend(framer.finish());
        let expected: Vec<&str> = stream
            .split('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .filter(|line| !line.trim_ascii().is_empty())
            .collect();
        prop_assert_eq!(frames, expected);
    }

    #[test]
    fn no_more_is_held_than_the_limit_and_a_read(
        limit in 0_usize..200, chunk in 1_usize..50, line in 0_usize..400,
    ) {
        let mut framer = LineFramer::new(limit);
        let stream = [vec![b'x'; line], b"\n".to_vec()].concat();
        let mut outcome = Ok(None);
        for chunk in stream.chunks(chunk) {
            framer.push(chunk);
            prop_assert!(framer.buffer().len() <= limit + 1 + chunk.len());
            outcome = framer.next_frame();
            if outcome != Ok(None) {
                break;
            }
        }
        match outcome {
            Ok(frame) => {
                prop_assert!(line <= limit);
                prop_assert_eq!(frame.map_or(0, |frame| frame.len()), line);
            }
            Err(error) => {
                prop_assert!(line > limit);
                prop_assert_eq!(error.size_at_least, line);
            }
        }
    }
}

/// Where a line has no end, what came last is not its end: an id in there may
/// be anybody's.
#[test]
fn a_lost_line_is_nobodys_unless_its_beginning_says_so() {
    let item = r#"{"name":"x","id":5}"#;
    let items = vec![item; 70_000].join(",");
    let mut framer = LineFramer::new(10);
    framer.push(format!(r#"{{"result":[{items}"#).as_bytes());
    let lost = drain(&mut framer).expect_err("it has no end");
    assert!(lost.is_unrecoverable);
    assert_eq!(scan_partial(&lost.prefix).id, None);
}
