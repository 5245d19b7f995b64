//! However a stream arrives, the same frames come out of it, and no more of it
//! is held than the limit and one read.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none framer` from `crates/bowline-proto`.

#![no_main]

use bowline_proto::jsonrpc::{LineFramer, Oversize};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [limit, seed, stream @ ..] = input else {
        return;
    };
    let limit = usize::from(*limit);
    let (frames, outcome) = run(limit, *seed, stream);
    let (expected, refused) = reference(limit, stream);
    assert_eq!(frames, expected);
    match (outcome, refused) {
        (Ok(()), None) => {}
        (Err(error), Some(line)) => {
            assert_eq!(error.limit, limit);
            assert!(error.size_at_least > limit);
            assert!(line.starts_with(&error.prefix));
        }
        (outcome, refused) => panic!("{outcome:?} but {refused:?}"),
    }
});

fn run(limit: usize, seed: u8, stream: &[u8]) -> (Vec<Bytes>, Result<(), Oversize>) {
    let mut framer = LineFramer::new(limit);
    let mut frames = Vec::new();
    let mut rest = stream;
    let mut size = usize::from(seed);
    while !rest.is_empty() {
        size = (size * 7 + 3) % 61 + 1;
        let (chunk, tail) = rest.split_at(size.min(rest.len()));
        if size % 2 == 0 {
            framer.push(chunk);
        } else {
            framer.buffer().extend_from_slice(chunk);
        }
        rest = tail;
        loop {
            match framer.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(framer.next_frame(), Err(error.clone()), "it stays refused");
                    assert_eq!(framer.finish(), None);
                    return (frames, Err(error));
                }
            }
        }
        assert!(framer.buffer().len() <= limit + 1);
    }
    frames.extend(framer.finish());
    (frames, Ok(()))
}

/// The same in three lines, with the whole stream at hand.
fn reference(limit: usize, stream: &[u8]) -> (Vec<&[u8]>, Option<&[u8]>) {
    let mut frames = Vec::new();
    for line in stream.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            return (frames, Some(line));
        }
        if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            frames.push(line);
        }
    }
    (frames, None)
}
