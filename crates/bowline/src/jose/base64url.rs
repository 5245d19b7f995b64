//! Strict base64url without padding: encoding and decoding are one-to-one.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::JoseError;

pub(super) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a string; rejects padding, white space, other alphabets, and
/// leftover bits.
pub(super) fn decode(input: &str) -> Result<Vec<u8>, JoseError> {
    let decoded = URL_SAFE_NO_PAD.decode(input);
    decoded.map_err(|_| JoseError::Malformed("invalid base64url"))
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn there_is_one_way_to_write_it() {
        assert_eq!(decode(&encode(b"\xfb\xff")), Ok(b"\xfb\xff".to_vec()));
        for input in ["-_9=", "-_8=", "+/8", "-_9", "-_8 ", "-", "-_8\n"] {
            assert!(decode(input).is_err(), "{input:?}");
        }
    }
}
