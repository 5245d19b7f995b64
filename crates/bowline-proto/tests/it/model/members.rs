//! Ordered maps.

use bowline_proto::model::{Members, decode};

#[test]
fn members_keep_their_order_and_place() {
    let mut members: Members<u64> = decode(br#"{"b":1,"a":2}"#).unwrap();
    assert_eq!(members.insert("b", 3), Some(1));
    assert_eq!(members.insert("c", 4), None);
    assert_eq!(
        serde_json::to_string(&members).unwrap(),
        r#"{"b":3,"a":2,"c":4}"#
    );
    assert_eq!(members.len(), 3);
}

#[test]
fn a_repeated_member_is_one_to_its_reader() {
    let mut members: Members<u64> = decode(br#"{"a":1,"b":2,"a":3}"#).unwrap();
    assert_eq!(members.get("a"), Some(&3));
    assert_eq!(members.remove("a"), Some(3));
    assert_eq!(members.get("a"), None);
    assert_eq!(members.remove("a"), None);
    assert_eq!(members.iter().collect::<Vec<_>>(), [("b", &2)]);
}
