//! Form encoding, as used in URLs and token requests.

use std::fmt::Write as _;

/// Encodes pairs as `application/x-www-form-urlencoded`.
///
/// ```
/// use bowline_proto::auth::encode_form;
///
/// assert_eq!(encode_form([("scope", "a b"), ("x", "ä&=")]), "scope=a+b&x=%C3%A4%26%3D");
/// ```
pub fn encode_form<K: AsRef<str>, V: AsRef<str>>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> String {
    let mut form = String::new();
    for (name, value) in pairs {
        if !form.is_empty() {
            form.push('&');
        }
        encode(name.as_ref(), &mut form);
        form.push('=');
        encode(value.as_ref(), &mut form);
    }
    form
}

/// Decodes such pairs. An invalid escape is kept verbatim; bytes that are not
/// UTF-8 become the replacement character.
#[must_use]
pub fn decode_form(form: &str) -> Vec<(String, String)> {
    let pairs = form.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

fn encode(input: &str, out: &mut String) {
    for byte in input.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
}

fn decode(input: &str) -> String {
    let bytes = input.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'+' => out.push(b' '),
            b'%' => match (digit(bytes, at + 1), digit(bytes, at + 2)) {
                (Some(high), Some(low)) => {
                    out.push(high * 16 + low);
                    at += 2;
                }
                _ => out.push(b'%'),
            },
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn digit(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = char::from(*bytes.get(at)?).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let pairs = [("a b", "c+d"), ("ü%", "\n\0"), ("", ""), ("x", "=&?#/")];
        let read = decode_form(&encode_form(pairs));
        let read: Vec<_> = read.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(read, pairs);
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        let read = decode_form("a=%&b=%4&c=%zz&d&&=e&f=%ff");
        let values: Vec<_> = read.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["%", "%4", "%zz", "", "e", "\u{fffd}"]);
    }
}
