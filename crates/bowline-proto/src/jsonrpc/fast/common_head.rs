//! The start of a message as nearly all peers write it.

/// The version and an id, as the first members of a message.
const HEAD: &[u8] = br#""jsonrpc":"2.0","id":"#;

/// The most digits that certainly fit into the id.
const MAX_DIGITS: usize = 18;

/// Reads the version and an id that is a positive number from the start of a
/// message's members. Returns the id and the length of both; a comma follows.
/// Comparing them takes a fraction of the work of scanning them.
pub(in crate::jsonrpc) fn read(members: &[u8]) -> Option<(u64, usize)> {
    let rest = members.strip_prefix(HEAD)?;
    let mut id = 0;
    let mut length = 0;
    for digit in rest.iter().take_while(|byte| byte.is_ascii_digit()) {
        id = id * 10 + u64::from(digit - b'0');
        length += 1;
        if length > MAX_DIGITS {
            return None;
        }
    }
    let (digits, rest) = rest.split_at(length);
    if digits.is_empty() || digits[0] == b'0' || rest.first() != Some(&b',') {
        return None;
    }
    Some((id, members.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::jsonrpc::{Envelope, RequestId, scan};

    #[test]
    fn only_the_usual_head_is_one() {
        let with = |id: &str| format!(r#""jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        for id in [1, 42, 999_999_999_999_999_999] {
            let members = with(&id.to_string());
            let rest = members.find(r#","method"#).expect("it has a method");
            assert_eq!(read(members.as_bytes()), Some((id, rest)));
        }
        for id in [
            "0", "007", "-1", "1.5", "1 ", " 1", "\"1\"", "null", "1e3", "",
        ] {
            assert_eq!(read(with(id).as_bytes()), None, "{id}");
        }
        let long = "1".repeat(19);
        assert_eq!(read(with(&long).as_bytes()), None, "may overflow");
        for other in [
            r#""jsonrpc":"2.0","id":1}"#,
            r#""jsonrpc":"2.0","id":1"#,
            r#""jsonrpc":"2.0","method":"m"}"#,
            r#""jsonrpc":"1.0","id":1,"method":"m"}"#,
        ] {
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_scan_finds_the_same_id(id in "[0-9]{1,20}|-?[0-9]{1,3}(\\.[0-9])?", gap in " ?") {
            // The space makes the second frame take the other path.
            let frame = |gap: &str| format!(r#"{{{gap}"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let found = |frame: &str| match scan(frame.as_bytes()) {
                Ok(Envelope::Request { id, .. }) => Some(id),
                _ => None,
            };
            let plain = found(&frame(" "));
            prop_assert_eq!(found(&frame(&gap)), plain.clone());
            if let Some((id, _)) = read(&frame("").as_bytes()[1..]) {
                prop_assert_eq!(plain, Some(RequestId::from(id)));
            }
        }
    }
}
