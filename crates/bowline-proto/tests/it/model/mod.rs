//! Tests of `bowline_proto::model`.

mod adapt;
mod content;
mod fixtures;
mod host_contract;
mod input;
mod lists;
mod members;
mod meta;
mod methods;
mod object;
mod round_trip;
