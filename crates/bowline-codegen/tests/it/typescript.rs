//! Generated TypeScript: what it looks like.

use bowline_codegen::typescript::generate;

use crate::{
    fixture::{lock, lock_with_tools},
    golden::assert_golden,
};

#[test]
fn modules_are_as_expected() {
    let files = generate(&lock()).expect("no name is taken twice");
    let (runtime, modules) = files.split_first().expect("the runtime is the first");
    assert_golden("typescript", modules);
    // It is written by hand, so its source is what is expected.
    assert_eq!(runtime.path, "bowline-runtime.ts");
    let source = include_str!("../../src/typescript/bowline-runtime.ts");
    assert!(runtime.contents == source, "the runtime is not its source");
    assert_eq!(generate(&lock()).expect("it worked before"), files);
}

#[test]
fn two_tools_with_the_same_method_are_refused() {
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
