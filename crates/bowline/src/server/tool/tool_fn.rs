//! The functions that a tool is made of, and what the compiler says of others.
//!
//! Each trait is `Fn` under a name of its own: of an async closure that
//! captured something, the compiler would only say that it is no `Fn`.

use std::future::Future;

/// `Fn(A) -> W`: a function of one value whose future borrows nothing of it.
#[diagnostic::on_unimplemented(
    message = "the future of a tool must not borrow what its function captured",
    label = "its future would borrow from it",
    note = "an async closure lends what it captured to its future; instead write \
            `move |input| {{ let it = it.clone(); async move {{ … }} }}`"
)]
pub trait ToolFn1<A, W: Future>: Fn(A) -> W {}

/// `Fn(A, B) -> W`: a function of two values whose future borrows nothing of
/// it.
#[diagnostic::on_unimplemented(
    message = "the future of a tool must not borrow what its function captured",
    label = "its future would borrow from it",
    note = "an async closure lends what it captured to its future; instead write \
            `move |input, cx| {{ let it = it.clone(); async move {{ … }} }}`"
)]
pub trait ToolFn2<A, B, W: Future>: Fn(A, B) -> W {}

/// `Fn(A, B, C) -> W`: a function of three values whose future borrows nothing
/// of it.
#[diagnostic::on_unimplemented(
    message = "the future of a tool must not borrow what its function captured",
    label = "its future would borrow from it",
    note = "an async closure lends what it captured to its future; instead write \
            `move |before, result, cx| {{ let it = it.clone(); async move {{ … }} }}`"
)]
pub trait ToolFn3<A, B, C, W: Future>: Fn(A, B, C) -> W {}

#[diagnostic::do_not_recommend]
impl<F: Fn(A) -> W, A, W: Future> ToolFn1<A, W> for F {}

#[diagnostic::do_not_recommend]
impl<F: Fn(A, B) -> W, A, B, W: Future> ToolFn2<A, B, W> for F {}

#[diagnostic::do_not_recommend]
impl<F: Fn(A, B, C) -> W, A, B, C, W: Future> ToolFn3<A, B, C, W> for F {}
