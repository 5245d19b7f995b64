//! What a tool in the making has and lacks, and what the compiler says of it.
//!
//! The finishing methods exist on every draft, and these traits bound them: a
//! bound that is not met has words of its own, a method that is missing has
//! not.

use std::{fmt, marker::PhantomData};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// A draft without a description.
#[derive(Debug)]
pub enum MissingDescription {}

/// A draft with a description.
#[derive(Debug)]
pub enum WithDescription {}

/// A draft that does not say yet what the tool is given.
#[derive(Debug)]
pub enum MissingInput {}

/// A draft of a tool that is given an `I`.
pub struct WithInput<I>(PhantomData<fn(I)>);

/// A draft that has its description.
#[diagnostic::on_unimplemented(
    message = "this tool has no description",
    label = "call `.description(\"…\")` before this",
    note = "models choose tools by what their descriptions say"
)]
pub trait HasDescription: sealed::Sealed {}

/// A draft that has no description yet.
#[diagnostic::on_unimplemented(
    message = "this tool has a description already",
    label = "the second one: remove one of them"
)]
pub trait LacksDescription: sealed::Sealed {}

/// A draft that says what the tool is given.
#[diagnostic::on_unimplemented(
    message = "it is not said what this tool is given",
    label = "call `.input::<T>()` before this, or `.no_input()`"
)]
pub trait HasInput: sealed::Sealed {
    /// What the tool is given.
    type Input: DeserializeOwned + Send + 'static;
}

/// A draft that does not say yet what the tool is given.
#[diagnostic::on_unimplemented(
    message = "it is said already what this tool is given",
    label = "the second time: a tool has one input, so put all arguments into one struct"
)]
pub trait LacksInput: sealed::Sealed {}

/// What tools may be given: structs with named fields that have
/// `#[derive(Deserialize, JsonSchema)]`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot be given a `{Self}`",
    label = "this needs `#[derive(Deserialize, JsonSchema)]` on a struct with named fields",
    note = "`serde::Deserialize` reads the arguments, `schemars::JsonSchema` tells clients what \
            they are",
    note = "what is read must own its parts: `String`, not `&str`"
)]
pub trait ToolInput: DeserializeOwned + JsonSchema + Send + 'static {}

/// What the first phase of a tool may hand to the others: what can be kept as
/// JSON, since they may run on another node.
#[diagnostic::on_unimplemented(
    message = "`before` cannot return a `{Self}`",
    label = "what `before` returns needs `#[derive(Serialize, Deserialize)]`",
    note = "it travels to the other phases as JSON, which may run later, and on another node"
)]
pub trait HandoffValue: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolInput for T {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> HandoffValue for T {}

impl HasDescription for WithDescription {}
impl LacksDescription for MissingDescription {}
impl LacksInput for MissingInput {}

impl<I: DeserializeOwned + Send + 'static> HasInput for WithInput<I> {
    type Input = I;
}

mod sealed {
    /// Nobody else adds a stage.
    pub trait Sealed {}

    impl Sealed for super::MissingDescription {}
    impl Sealed for super::WithDescription {}
    impl Sealed for super::MissingInput {}
    impl<I> Sealed for super::WithInput<I> {}
}

impl<I> fmt::Debug for WithInput<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Given")
    }
}
