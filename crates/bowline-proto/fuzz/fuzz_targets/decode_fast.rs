//! What is read straight from a text is what `serde_json` reads, and nothing is
//! read that it would refuse.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none decode_fast` from `crates/bowline-proto`.

#![no_main]

use std::collections::BTreeMap;

use bowline_proto::{
    jsonrpc::{RawJson, decode_fast},
    model::CallToolResult,
};
use libfuzzer_sys::fuzz_target;
use serde::de::DeserializeOwned;
use serde_json::Value;

fuzz_target!(|json: &str| {
    agree::<Value>(json);
    agree::<String>(json);
    agree::<RawJson>(json);
    agree::<Vec<f64>>(json);
    agree::<BTreeMap<String, Option<i64>>>(json);
    agree::<CallToolResult>(json);
});

fn agree<T: DeserializeOwned + PartialEq + std::fmt::Debug>(json: &str) {
    if let Some(ours) = decode_fast::<T>(json) {
        let theirs: T = serde_json::from_str(json).expect("it was read");
        assert_eq!(ours, theirs);
    }
}
