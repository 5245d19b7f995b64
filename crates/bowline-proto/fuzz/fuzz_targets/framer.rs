//! However a stream arrives, the same frames come out of it, and no more of it
//! is held than the limit and one read.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none framer` from `crates/bowline-proto`.

#![no_main]

use bowline_proto::jsonrpc::LineFramer;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [limit, seed, stream @ ..] = input else {
        return;
    };
    let limit = usize::from(*limit);
    let (frames, refused) = run(limit, *seed, stream);
    let (expected, too_long) = reference(limit, stream);
    assert_eq!(frames, expected);
    assert!(refused == too_long || refused == too_long + 1);
});

/// The frames, and how many lines were reported as too long.
fn run(limit: usize, seed: u8, stream: &[u8]) -> (Vec<Bytes>, usize) {
    let mut framer = LineFramer::new(limit);
    let mut frames = Vec::new();
    let mut refused = 0;
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
                // Inputs are far too short for a framer to be lost.
                Err(error) => {
                    assert!(!error.is_unrecoverable && error.size_at_least > limit);
                    assert_eq!(error.limit, limit);
                    refused += 1;
                }
            }
        }
        assert!(framer.buffer().len() <= limit + 1);
    }
    frames.extend(framer.finish());
    (frames, refused)
}

/// The same in a few lines, with the whole stream at hand. The last line, which
/// has no end, is reported only if its beginning tells whose it is.
fn reference(limit: usize, stream: &[u8]) -> (Vec<&[u8]>, usize) {
    let (mut frames, mut refused) = (Vec::new(), 0);
    let mut lines = stream.split(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let is_ended = lines.peek().is_some();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            refused += usize::from(is_ended);
        } else if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            frames.push(line);
        }
    }
    (frames, refused)
}
