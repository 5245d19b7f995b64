//! Generated documentation.

use bowline::lock::LockedServer;
use bowline_codegen::docs::generate;

use crate::{
    fixture::{lock, with_servers},
    golden::assert_golden,
};

#[test]
fn documentation_is_as_expected() {
    let files = generate(&lock()).expect("no name is taken twice");
    assert_golden("docs", &files);
    assert_eq!(generate(&lock()).expect("it worked before"), files);
}

#[test]
fn two_servers_with_the_same_page_are_refused() {
    let lock = with_servers([
        ("my server", LockedServer::default()),
        ("my-server", LockedServer::default()),
    ]);
    let error = generate(&lock).expect_err("the names are too similar");
    let message = error.to_string();
    assert!(
        message.contains("\"my server\" and \"my-server\""),
        "{message}"
    );
}
