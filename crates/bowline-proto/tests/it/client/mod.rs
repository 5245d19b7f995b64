//! Tests of `bowline_proto::client`.

mod calls;
mod calls_http;
mod cancelling;
mod listening;
mod look;
mod modes;
mod opening;
mod opening_http;
mod requests;
mod rig;
mod rounds;
mod rows_any;
mod rows_backoff;
mod rows_closing;
mod rows_opening;
mod rows_ready;
mod rows_starting;
mod scenarios;
mod serving;
mod subscriptions;
