//! Tests of `bowline_proto::model`.

mod adapt;
mod content;
mod fixtures;
mod host_contract;
mod input;
mod lists;
mod meta;
mod round_trip;
