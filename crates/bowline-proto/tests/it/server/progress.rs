//! Progress: only with a token, only upwards, only while it matters.

use serde_json::json;

use super::rig::Rig;

#[test]
fn progress_goes_out_under_the_token_of_the_request() {
    for token in [json!(7), json!("seven")] {
        let mut rig = Rig::session();
        let params = json!({"name": "x", "_meta": {"progressToken": token}});
        let request = rig.request(1, "tools/call", params);
        assert!(rig.act(|it, _| it.progress(request, 1, Some(2.into()), Some("half"))));
        let expected =
            json!({"progressToken": token, "progress": 1, "total": 2, "message": "half"});
        assert_eq!(rig.last()["params"], expected);
        assert_eq!(rig.about, [Some(request)]);
    }
}

#[test]
fn without_a_token_nothing_is_sent() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/call", json!({"name": "x"}));
    assert!(!rig.act(|it, _| it.progress(request, 1, None, None)));
    assert!(rig.sent.is_empty());
    assert_eq!(rig.observed("notification.dropped"), 1);
}

#[test]
fn progress_only_grows() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/call", json!({"_meta": {"progressToken": 1}}));
    let steps = [
        (0.5, true),
        (0.5, false),
        (0.25, false),
        (f64::NAN, false),
        (f64::INFINITY, false),
        (0.75, true),
    ];
    for (step, sent) in steps {
        assert_eq!(
            rig.act(|it, _| it.progress(request, step, None, None)),
            sent,
            "{step}"
        );
    }
    assert!(!rig.act(|it, _| it.progress(request, 1, Some(f64::NAN.into()), None)));
    assert_eq!(rig.sent.len(), 2);
}

#[test]
fn nothing_follows_the_answer() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/call", json!({"_meta": {"progressToken": 1}}));
    rig.respond(request, &json!({}));
    assert!(!rig.act(|it, _| it.progress(request, 1, None, None)));
    assert_eq!(rig.sent.len(), 1);
}

#[test]
fn the_first_revision_has_no_texts_beside_the_number() {
    let mut rig = Rig::session_in("2024-11-05");
    let request = rig.request(1, "tools/call", json!({"_meta": {"progressToken": 1}}));
    assert!(rig.act(|it, _| it.progress(request, 1, None, Some("half"))));
    assert_eq!(
        rig.last()["params"],
        json!({"progressToken": 1, "progress": 1})
    );
}
