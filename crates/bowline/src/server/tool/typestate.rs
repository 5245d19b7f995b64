//! Typestate of [`ToolBuilder`](super::ToolBuilder), and the compiler's
//! messages about it.
//!
//! The finishing methods exist on every builder and are bounded by these
//! traits, because an unmet bound can have a custom message and a missing
//! method cannot.

use std::{fmt, marker::PhantomData};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// Typestate of a builder without a description.
#[derive(Debug)]
pub enum MissingDescription {}

/// Typestate of a builder with a description.
#[derive(Debug)]
pub enum WithDescription {}

/// Typestate of a builder without an input type.
#[derive(Debug)]
pub enum MissingInput {}

/// Typestate of a builder whose tool takes an `I`.
pub struct WithInput<I>(PhantomData<fn(I)>);

/// A builder that has a description.
#[diagnostic::on_unimplemented(
    message = "this tool has no description",
    label = "call `.description(\"…\")` before this",
    note = "models choose tools by their descriptions"
)]
pub trait HasDescription: sealed::Sealed {}

/// A builder that has no description yet.
#[diagnostic::on_unimplemented(
    message = "this tool already has a description",
    label = "second description: remove one of them"
)]
pub trait LacksDescription: sealed::Sealed {}

/// A builder that has an input type.
#[diagnostic::on_unimplemented(
    message = "this tool has no input type",
    label = "call `.input::<T>()` before this, or `.no_input()`"
)]
pub trait HasInput: sealed::Sealed {
    /// The type of the tool's arguments.
    type Input: DeserializeOwned + Send + 'static;
}

/// A builder that has no input type yet.
#[diagnostic::on_unimplemented(
    message = "this tool already has an input type",
    label = "second input: a tool has one input, so put all arguments into one struct"
)]
pub trait LacksInput: sealed::Sealed {}

/// A type that a tool can take as input: a struct with named fields that has
/// `#[derive(Deserialize, JsonSchema)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a tool",
    label = "this needs `#[derive(Deserialize, JsonSchema)]` on a struct with named fields",
    note = "`serde::Deserialize` reads the arguments, `schemars::JsonSchema` tells clients what \
            they are",
    note = "the input must own its data: `String`, not `&str`"
)]
pub trait ToolInput: DeserializeOwned + JsonSchema + Send + 'static {}

/// A value that the first phase of a tool can hand to the others. It is kept as
/// JSON, since they may run on another node.
#[diagnostic::on_unimplemented(
    message = "`before` cannot return a `{Self}`",
    label = "what `before` returns needs `#[derive(Serialize, Deserialize)]`",
    note = "the value is passed as JSON to the other phases, which may run later and on another node"
)]
pub trait PhaseValue: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolInput for T {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> PhaseValue for T {}

impl HasDescription for WithDescription {}
impl LacksDescription for MissingDescription {}
impl LacksInput for MissingInput {}

impl<I: DeserializeOwned + Send + 'static> HasInput for WithInput<I> {
    type Input = I;
}

mod sealed {
    /// Keeps other crates from adding a typestate.
    pub trait Sealed {}

    impl Sealed for super::MissingDescription {}
    impl Sealed for super::WithDescription {}
    impl Sealed for super::MissingInput {}
    impl<I> Sealed for super::WithInput<I> {}
}

impl<I> fmt::Debug for WithInput<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithInput")
    }
}
