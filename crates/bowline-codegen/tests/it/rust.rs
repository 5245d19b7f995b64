//! Generated Rust: what it looks like. The crate `codegen-tests` compiles it.

use bowline::lock::LockedServer;
use bowline_codegen::rust::{generate, generate_one};

use crate::{
    fixture::{lock, lock_with_tools, with_servers},
    golden::assert_golden,
};

#[test]
fn modules_are_as_expected() {
    let files = generate(&lock()).expect("no name is taken twice");
    assert_golden("rust", &files);
    assert_eq!(generate(&lock()).expect("it worked before"), files);
}

#[test]
fn one_file_has_the_same_modules() {
    let one = generate_one(&lock()).expect("no name is taken twice");
    let files = generate(&lock()).expect("no name is taken twice");
    let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
    let one = without_spaces(&one);
    for file in &files[1..] {
        let module = without_spaces(&file.contents);
        assert!(one.contains(&module), "{} is missing", file.path);
    }
}

#[test]
fn two_tools_with_the_same_function_are_refused() {
    for [one, other] in [
        ["get_it", "getIt"],
        ["Get", "get"],
        ["!", "?"],
        ["a.b", "a/b"],
    ] {
        let error = generate(&lock_with_tools(&[one, other])).expect_err("a collision");
        let message = error.to_string();
        assert!(message.contains(&format!("{one:?}")), "{message}");
        assert!(message.contains(&format!("{other:?}")), "{message}");
    }
}

#[test]
fn every_server_has_a_file_of_its_own() {
    for name in ["mod", "self", "super", "crate", "type", "2d", "!"] {
        let lock = with_servers([(name, LockedServer::default())]);
        let files = generate(&lock).expect("there is one server");
        let [list, server] = &files[..] else {
            panic!("{name}: a list and a server, not {files:?}");
        };
        assert_ne!(list.path, server.path, "{name}");
    }
}
