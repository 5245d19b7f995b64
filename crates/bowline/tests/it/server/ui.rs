//! What the compiler says to those who get it wrong. People read these, so they
//! are looked at like any other text: `tests/ui/*.stderr`.
//!
//! To write them anew after a change, set `TRYBUILD=overwrite`. They are of the
//! newest stable compiler.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
