//! The example runs, and shows what its chapters announce.

use std::process::Command;

#[test]
fn the_tour_ends_with_nothing_held() {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.parent().and_then(|deps| deps.parent());
    let folder = folder.expect("tests are two folders deep");
    // `cargo test` builds examples beside the tests.
    let output = Command::new(folder.join("examples").join("tour"))
        .output()
        .expect("`cargo test -p bowline-proto` builds it");
    assert!(output.status.success(), "{}", output.status);
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    assert_eq!(printed.matches("\n== ").count(), 6, "{printed}");
    for part in [
        "client Ready { session: 1 }",
        "\"text\":\"two sheep\"",
        "call ended: the connection was lost",
        "client Ready { session: 2 }",
        "client Resubscribed",
        "client Ended",
    ] {
        assert!(printed.contains(part), "{part} is missing: {printed}");
    }
    let held = printed.lines().filter(|line| line.contains(" holds: "));
    let held: Vec<&str> = held.collect();
    assert_eq!(held.len(), 2, "{printed}");
    for line in held {
        let mut counts = line.split(": ").skip(2);
        assert!(counts.all(|count| count.starts_with('0')), "{line}");
    }
}
