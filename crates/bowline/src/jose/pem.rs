//! Parsing of PEM key files.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use zeroize::Zeroizing;

use super::JoseError;

/// Maximum size: more than an RSA key of 8192 bits takes.
const MAX_PEM: usize = 32 * 1024;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// Returns the PKCS #8 key in a file. Anything before and after it is ignored.
pub(super) fn private_key(file: &str) -> Result<Zeroizing<Vec<u8>>, JoseError> {
    if file.len() > MAX_PEM {
        return Err(JoseError::TooLarge);
    }
    let base64_lines = file
        .split_once(BEGIN)
        .and_then(|(_, after)| after.split_once(END));
    let Some((base64_lines, _)) = base64_lines else {
        return Err(JoseError::Malformed(advice(file)));
    };
    // Allocate the full capacity, so no copy is left behind by reallocation.
    let mut base64 = Zeroizing::new(String::with_capacity(base64_lines.len()));
    base64.extend(base64_lines.split_ascii_whitespace());
    let decoded = STANDARD.decode(base64.as_bytes()).map(Zeroizing::new);
    decoded.map_err(|_| JoseError::Malformed("the PEM file is not valid base64"))
}

fn advice(file: &str) -> &'static str {
    if file.contains("BEGIN ENCRYPTED PRIVATE KEY") {
        "the key is encrypted; `openssl pkcs8 -topk8 -nocrypt` decrypts it"
    } else if file.contains("PRIVATE KEY-----") {
        "the key is not in PKCS #8; `openssl pkcs8 -topk8 -nocrypt` converts it"
    } else {
        "there is no private key in the PEM file"
    }
}
