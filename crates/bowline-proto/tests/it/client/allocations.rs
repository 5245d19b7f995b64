//! What a call costs the machine in memory.

use allocation_counter::measure;
use bowline_proto::{
    client::{CallOptions, Input, Output, Request},
    model::CallToolParams,
};
use bytes::Bytes;

use super::rig::Rig;

/// Allocations of one call and its answer, from parameters to outcome, the
/// frame's own buffer included.
#[track_caller]
fn check(mut rig: Rig, answer: &str, most: u64) {
    let cycle = |rig: &mut Rig| {
        let request = Request::new(CallToolParams::new("echo")).expect("an object");
        let now = rig.now;
        rig.connection.call(now, request, CallOptions::default());
        let mut id = 0;
        while let output @ (Output::Send { .. } | Output::Telemetry(_)) =
            rig.connection.poll_output()
        {
            if let Output::Send { id: Some(sent), .. } = output {
                id = sent;
            }
        }
        id
    };
    // The tables grow once; what follows is what every call costs.
    let mut cost = 0;
    for _ in 0..100 {
        let mut id = 0;
        let asking = measure(|| id = cycle(&mut rig)).count_total;
        let frame = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
        let (link, now) = (rig.current(), rig.now);
        let answering = measure(|| {
            rig.connection.handle(now, Input::Frame { link, frame });
            while !matches!(rig.connection.poll_output(), Output::Idle(_)) {}
        });
        cost = asking + answering.count_total;
    }
    assert!(cost <= most, "{cost} allocations");
}

#[test]
fn a_call_of_the_handshake_era() {
    let rig = Rig::ready_with(|config| config.telemetry = false);
    check(rig, r#""result":{"content":[]}"#, 4);
}

#[test]
fn a_call_of_the_stateless_era() {
    let rig = Rig::stateless_with(|config| config.telemetry = false);
    check(rig, r#""result":{"resultType":"complete","content":[]}"#, 4);
}
