//! No frame makes the scan panic, and where a full decode takes the frame, the
//! scan says the same of it.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none envelope` from `crates/bowline-proto`.

#![no_main]

use bowline_proto::jsonrpc::{
    Envelope, ErrorObject, Messages, PartialEnvelope, RequestId, decode, response_raw, scan,
    scan_partial, split_batch,
};
use libfuzzer_sys::fuzz_target;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

fuzz_target!(|frame: &[u8]| {
    if let Ok(Messages::Batch(messages)) = split_batch(frame) {
        for message in messages {
            let _ = scan(message);
        }
    }
    let scanned = scan(frame);
    let saved = scan_partial(frame);
    match &scanned {
        Ok(envelope) => {
            assert_eq!(saved, whole(envelope));
            cut(frame, &saved);
            reuse(envelope);
        }
        Err(error) => {
            assert!(error.offset <= frame.len());
            assert_eq!(
                (&error.id, error.is_response),
                (&saved.id, saved.is_response)
            );
        }
    }
    if let Ok(Members(members)) = serde_json::from_slice(frame) {
        agree(&members, scanned.ok().as_ref());
    }
});

/// What scan_partial must say of a message that is not broken.
fn whole(envelope: &Envelope<'_>) -> PartialEnvelope {
    let (id, is_response) = match envelope.clone() {
        Envelope::Request { id, .. } => (Some(id), false),
        Envelope::Notification { .. } => (None, false),
        Envelope::Response { id, .. } => (Some(id), true),
        Envelope::Error { id, .. } => (id, true),
    };
    PartialEnvelope {
        id,
        is_response,
        has_result_or_error: is_response,
    }
}

/// A part of a message is no message, and never has another id.
fn cut(frame: &[u8], whole: &PartialEnvelope) {
    let complete = frame.trim_ascii_end().len();
    for end in [complete / 3, complete / 2, complete - 1] {
        scan(&frame[..end]).expect_err("it is cut");
        let id = scan_partial(&frame[..end]).id;
        assert!(id.is_none() || id == whole.id);
    }
}

/// Parts are fit to be decoded and sent on.
fn reuse(envelope: &Envelope<'_>) {
    match envelope {
        Envelope::Response { id, result, .. } => {
            let again = response_raw(id, result);
            assert!(!again.contains(&b'\n'));
            assert_eq!(whole(&scan(&again).expect("a response")), whole(envelope));
        }
        Envelope::Error { error, .. } => {
            let _ = decode::<ErrorObject>(error);
        }
        Envelope::Request {
            params: Some(params),
            ..
        }
        | Envelope::Notification {
            params: Some(params),
            ..
        } => {
            let _ = decode::<Value>(params);
        }
        Envelope::Request { .. } | Envelope::Notification { .. } => {}
    }
}

fn agree(members: &[(String, Value)], scanned: Option<&Envelope<'_>>) {
    let get = |key: &str| {
        members
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    };
    let expected = expected(members);
    assert_eq!(expected.is_some(), scanned.is_some(), "{members:?}");
    let (Some(expected), Some(envelope)) = (expected, scanned) else {
        return;
    };
    assert_eq!(whole(envelope), expected);
    let value = |slice: &[u8]| serde_json::from_slice::<Value>(slice).expect("one value");
    match envelope {
        Envelope::Request { method, params, .. } | Envelope::Notification { method, params } => {
            assert_eq!(get("method").and_then(Value::as_str), Some(method.as_ref()));
            let given = get("params").filter(|params| !params.is_null());
            assert_eq!(given, params.map(value).as_ref());
        }
        Envelope::Response {
            result,
            result_type,
            ..
        } => {
            assert_eq!(get("result"), Some(&value(result)));
            assert_eq!(value(result)["resultType"].as_str(), result_type.as_deref());
        }
        Envelope::Error { error, .. } => assert_eq!(get("error"), Some(&value(error))),
    }
}

/// What a full decode says of the message; none where it is not one.
fn expected(members: &[(String, Value)]) -> Option<PartialEnvelope> {
    let once = |key: &str| {
        let mut found = members
            .iter()
            .filter(|(name, _)| name == key)
            .map(|(_, value)| value);
        let first = found.next();
        found.next().is_none().then_some(first)
    };
    let (version, id, params) = (once("jsonrpc")?, once("id")?, once("params")?);
    let (method, result, error) = (once("method")?, once("result")?, once("error")?);
    if version?.as_str() != Some("2.0")
        || params.is_some_and(|it| !it.is_object() && !it.is_array() && !it.is_null())
    {
        return None;
    }
    let read = match id {
        None | Some(Value::Null) => None,
        Some(id) => Some(RequestId::deserialize(id).ok()?),
    };
    match (method, result, error) {
        (Some(Value::String(_)), None, None) if id.is_some() != read.is_some() => None,
        (Some(Value::String(_)), None, None) => Some(PartialEnvelope {
            id: read,
            is_response: false,
            has_result_or_error: false,
        }),
        (None, Some(_), None) => Some(PartialEnvelope {
            id: Some(read?),
            is_response: true,
            has_result_or_error: true,
        }),
        (None, None, Some(Value::Object(_))) => Some(PartialEnvelope {
            id: read,
            is_response: true,
            has_result_or_error: true,
        }),
        _ => None,
    }
}

/// The members of an object in order, those that stand twice included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
