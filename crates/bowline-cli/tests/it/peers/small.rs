//! Two small servers: `time` and `fetch`.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    thread,
};

use super::{python, run, told, value};
use crate::rig::Rig;

#[test]
fn times_are_converted_and_zones_are_known() {
    let (rig, server) = (Rig::empty(), [python("mcp-server-time")]);
    let call =
        "convert_time(source_timezone: Asia/Tokyo, time: \"18:30\", target_timezone: Asia/Kolkata)";
    let converted = value(&rig, &["call", call], &server);
    assert_eq!(converted["structuredContent"]["time_difference"], "-3.5h");
    let nowhere = ["call", "get_current_time", "timezone=Mars/Olympus"];
    let ran = run(&rig, &nowhere, &server);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("Mars/Olympus"), "{ran:?}");
}

#[test]
fn a_page_is_fetched() {
    let rig = Rig::empty();
    // The page is on this machine, which the server refuses by itself.
    let server = [python("mcp-server-fetch"), "--allow-private-ips".to_owned()];
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let page = format!(
        "url=http://{}/page",
        listener.local_addr().expect("it is bound")
    );
    thread::spawn(move || answer(&listener));
    let fetched = told(&rig, &["call", "fetch", &page], &server);
    assert!(
        fetched.contains("The rabbit comes out of the hole"),
        "{fetched}"
    );
}

/// Has one page, and nothing else, such as rules for robots.
fn answer(listener: &TcpListener) {
    for mut stream in listener.incoming().map_while(Result::ok) {
        let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        // The request ends with an empty line.
        let _ = lines.find(String::is_empty);
        let (status, body) = match first.contains(" /page ") {
            true => ("200 OK", PAGE),
            false => ("404 Not Found", ""),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len(),
        );
        // Whoever went away does not want it.
        let _ = stream.write_all(answer.as_bytes());
    }
}

const PAGE: &str = "<html><body><article><h1>How to tie it</h1>\
    <p>The rabbit comes out of the hole, around the tree, and back into the hole.</p>\
    </article></body></html>";
