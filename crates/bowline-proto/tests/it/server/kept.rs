//! What a connection keeps of what a client says.

use allocation_counter::measure;
use bowline_proto::{
    Instant,
    server::{Config, Connection, Input, Output},
};
use bytes::Bytes;

/// How many bytes an opening with so many members of this size leaves behind,
/// how many the machine says, and whether it opened a session.
fn open(members: usize, size: usize) -> (usize, usize, bool) {
    let value = "x".repeat(size);
    let members: Vec<_> = (0..members)
        .map(|it| format!("\"{it}\":\"{value}\""))
        .collect();
    let members = members.join(",");
    let params = format!(
        r#"{{"protocolVersion":"2025-11-25","clientInfo":{{"name":"a","version":"1"}},"capabilities":{{"experimental":{{{members}}}}}}}"#
    );
    let opening = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    assert!(opening.len() <= 64 * 1024, "{}", opening.len());
    let opening = Bytes::from(opening);
    let mut connection = Connection::new(Config::new("server", "1"));
    let measured = measure(|| {
        connection.handle(Instant::ORIGIN, Input::Frame(opening));
        while !matches!(connection.poll_output(), Output::Idle(_)) {}
    });
    let kept = usize::try_from(measured.bytes_current).unwrap_or_default();
    (
        kept,
        connection.session_bytes(),
        connection.session().is_some(),
    )
}

#[test]
fn an_opening_keeps_about_as_much_as_it_may() {
    for (members, size) in [(0, 0), (1, 60_000), (10, 5_000), (400, 10), (5_000, 0)] {
        let (kept, held, opened) = open(members, size);
        // What does not depend on the client is not counted.
        assert!(kept <= held + 2048, "{members} of {size}: {kept} > {held}");
        assert!(kept <= 68 * 1024, "{members} of {size}: {kept}");
        assert_eq!(opened, members < 5_000, "{members} of {size}");
    }
}
