//! Tests of `bowline_proto::client`.

mod look;
mod opening;
mod opening_http;
mod rig;
mod rows_any;
mod rows_backoff;
mod rows_closing;
mod rows_opening;
mod rows_ready;
mod rows_starting;
mod scenarios;
