//! Traits for the functions of a tool, with helpful compiler messages.
//!
//! Each trait is `Fn` under another name: of an async closure that captures
//! something, the compiler would only say that it does not implement `Fn`.

use std::future::Future;

/// `Fn(A) -> W`: a function of one argument whose future does not borrow from
/// it.
#[diagnostic::on_unimplemented(
    message = "the future of a tool must not borrow from its closure",
    label = "the future borrows what this closure captures",
    note = "the future of an async closure borrows what the closure captures; instead write \
            `move |input| {{ let it = it.clone(); async move {{ … }} }}`"
)]
pub trait ToolFn1<A, W: Future>: Fn(A) -> W {}

/// `Fn(A, B) -> W`: a function of two arguments whose future does not borrow
/// from it.
#[diagnostic::on_unimplemented(
    message = "the future of a tool must not borrow from its closure",
    label = "the future borrows what this closure captures",
    note = "the future of an async closure borrows what the closure captures; instead write \
            `move |input, cx| {{ let it = it.clone(); async move {{ … }} }}`"
)]
pub trait ToolFn2<A, B, W: Future>: Fn(A, B) -> W {}

/// `Fn(A, B, C) -> W`: a function of three arguments whose future does not
/// borrow from it.
#[diagnostic::on_unimplemented(
    message = "the future of a tool must not borrow from its closure",
    label = "the future borrows what this closure captures",
    note = "the future of an async closure borrows what the closure captures; instead write \
            `move |before, result, cx| {{ let it = it.clone(); async move {{ … }} }}`"
)]
pub trait ToolFn3<A, B, C, W: Future>: Fn(A, B, C) -> W {}

#[diagnostic::do_not_recommend]
impl<F: Fn(A) -> W, A, W: Future> ToolFn1<A, W> for F {}

#[diagnostic::do_not_recommend]
impl<F: Fn(A, B) -> W, A, B, W: Future> ToolFn2<A, B, W> for F {}

#[diagnostic::do_not_recommend]
impl<F: Fn(A, B, C) -> W, A, B, C, W: Future> ToolFn3<A, B, C, W> for F {}
