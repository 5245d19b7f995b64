//! Any bytes, as what a connection brings: no panic, the same whatever pieces
//! it comes in, and no line that ends with a line feed alone.
#![no_main]

use bowline_proto::http::RequestFraming;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&size, data)) = data.split_first() else {
        return;
    };
    let mut whole = RequestFraming::default();
    let pushed = whole.push(data);
    let mut pieces = RequestFraming::default();
    let mut cut = data.chunks(usize::from(size).max(1));
    assert_eq!(cut.try_for_each(|piece| pieces.push(piece)), pushed);
    if pushed.is_err() {
        return;
    }
    assert_eq!(whole.is_between_requests(), pieces.is_between_requests());
    // Without a body, all of it is lines.
    let lower = data.to_ascii_lowercase();
    let has_body = [&b"content-length"[..], b"transfer-encoding"]
        .iter()
        .any(|name| lower.windows(name.len()).any(|it| it == *name));
    let bare = |at: usize| data[at] == b'\n' && (at == 0 || data[at - 1] != b'\r');
    assert!(has_body || !(0..data.len()).any(bare));
});
