//! Keys for tests.
//!
//! Keys on curves are made when they are first wanted. `ring` makes no RSA keys:
//! those are numbers below, of which only the public exponent is left out.

use std::{collections::BTreeMap, sync::OnceLock};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    rand::{SecureRandom as _, SystemRandom},
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm,
    },
};

/// Key files of several kinds.
pub(crate) struct Keys(BTreeMap<&'static str, String>);

impl Keys {
    /// The file of this kind: `rsa`, `rsa-weak`, `p256`, `p256-sec1`, `p384` or
    /// `ed25519`.
    pub(crate) fn pem(&self, kind: &str) -> &str {
        self.0.get(kind).expect("there is such a key")
    }
}

/// The keys of this run.
pub(crate) fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let p256 = curve_key(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let sec1 = &p256[P256_PKCS8_HEADER..];
        let pkcs8 = |der: &[u8]| pem_file("PRIVATE KEY", der);
        Keys(BTreeMap::from([
            ("rsa", pkcs8(&RSA.pkcs8())),
            ("rsa-weak", pkcs8(&RSA_WEAK.pkcs8())),
            ("p256", pkcs8(&p256)),
            ("p256-sec1", pem_file("EC PRIVATE KEY", sec1)),
            ("p384", pkcs8(&curve_key(&ECDSA_P384_SHA384_FIXED_SIGNING))),
            ("ed25519", pkcs8(&ed25519_key())),
        ]))
    })
}

fn pem_file(label: &str, der: &[u8]) -> String {
    let base64 = STANDARD.encode(der);
    let lines: Vec<&str> = (0..base64.len())
        .step_by(64)
        .map(|start| &base64[start..base64.len().min(start + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

/// How many bytes a key on P-256 in PKCS #8 has before its SEC 1 form.
const P256_PKCS8_HEADER: usize = 29;

fn curve_key(curve: &'static EcdsaSigningAlgorithm) -> Vec<u8> {
    let key = EcdsaKeyPair::generate_pkcs8(curve, &SystemRandom::new());
    key.expect("the system has random numbers")
        .as_ref()
        .to_vec()
}

/// A key as OpenSSL and Node.js write it: without its public half, which `ring`
/// would add.
fn ed25519_key() -> Vec<u8> {
    let mut seed = [0; 32];
    let filled = SystemRandom::new().fill(&mut seed);
    filled.expect("the system has random numbers");
    let algorithm = der(SEQUENCE, &der(OBJECT_ID, &[0x2b, 0x65, 0x70]));
    let key = der(OCTETS, &der(OCTETS, &seed));
    der(SEQUENCE, &[der(INTEGER, &[0]), algorithm, key].concat())
}

/// The numbers of an RSA key, in base64 as in a JWK. `e` is always 65537.
struct RsaNumbers {
    n: &'static str,
    d: &'static str,
    p: &'static str,
    q: &'static str,
    dp: &'static str,
    dq: &'static str,
    qi: &'static str,
}

impl RsaNumbers {
    fn pkcs8(&self) -> Vec<u8> {
        let zero = || der(INTEGER, &[0]);
        let number = |base64: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(base64).expect("it is base64");
            // A number that starts with a set bit would be negative.
            let sign = if bytes[0] >= 0x80 { &[0][..] } else { &[] };
            der(INTEGER, &[sign, &bytes].concat())
        };
        let numbers = [
            zero(),
            number(self.n),
            number("AQAB"),
            number(self.d),
            number(self.p),
            number(self.q),
            number(self.dp),
            number(self.dq),
            number(self.qi),
        ];
        let rsa_encryption = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
        let algorithm = [der(OBJECT_ID, &rsa_encryption), der(NULL, &[])].concat();
        let key = der(OCTETS, &der(SEQUENCE, &numbers.concat()));
        der(SEQUENCE, &[zero(), der(SEQUENCE, &algorithm), key].concat())
    }
}

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const NULL: u8 = 0x05;
const OBJECT_ID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;

/// A value in DER: its type, its length and its contents.
fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
    let [.., high, low] = contents.len().to_be_bytes();
    let mut value = vec![tag];
    match contents.len() {
        0..0x80 => value.push(low),
        0x80..0x100 => value.extend([0x81, low]),
        _ => value.extend([0x82, high, low]),
    }
    value.extend(contents);
    value
}

/// The key of 2048 bits in RFC 7515, appendix A.2, which is no secret.
const RSA: RsaNumbers = RsaNumbers {
    n: "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2\
         mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7\
         OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMT\
         BQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkM\
         Ls91kzk2PAcDTW9gb54h4FRWyuXpoQ",
    d: "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx\
         9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0\
         QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCB\
         r6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQ\
         yGWSeWjnczT0QU91p1DhOVRuOopznQ",
    p: "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKe\
         QTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC\
         -KDV5z-y2XDwGUc",
    q: "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYH\
         j7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF66\
         89rjcJIDEz9RWdc",
    dp: "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT\
         _PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1\
         C1XsmvkxHQAdYo0",
    dq: "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2\
         oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3n\
         ssTdlqvd0tIiTHU",
    qi: "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fh\
         d_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQw\
         VK0JKSHuLFkuQ3U",
};

/// A key of 1024 bits, made for these tests.
const RSA_WEAK: RsaNumbers = RsaNumbers {
    n: "0aLrdk0RWYkQSGDT8poz-YTO2AzcxBMK4ij2-5VPH_nFuLZ5INSToMgyIu6_CGj0Trvkim886z6hii\
         Z1B8_BwinLP3A_F0uoxu3uAUkG3rBpSP3kFIk5Y75ENFJtLxQ3SVUvYx2oCTXbrs84-3X7O_XxQhY8\
         gTanyuxIrTLgmnU",
    d: "JsMvMqKxcJLNdfShfBxTO_H4pS5Lq92xh3v3nzFOfiUbEDp9Tzq_SV17F8Z5gD6X3e8UJRzIcN8V04\
         uk3BroQn7Q-Xwv0xMX_rb0shkEsBkil-mXvX3EjznvZH_a3JV7OxkMiMJzuCDnH2-yHBqGZRtT_PV2\
         OCzqub8PZVQyjwE",
    p: "9ekOQ8jZapPjraozbANsIv4_jw7a0VBXV0GqtXkpcuYB6q3xEMhZTDLKi4iAOoDQYrhw4T8_I0f05g\
         mgDNCTIQ",
    q: "2jzbVkNNaIQucCXeOHiAf8GhMf-fbWugOpdAqUMFv-lJWorfHz4w2amPfcCKg4xXrj1VAAYN1EY3wY\
         WPdcAw1Q",
    dp: "K1HP8n76Vf0RebFm95suvIdfePsb7w2hJTzrLqbWd2gvZEEaG2O_311_Ms9sD2JL02g8cmGq5LMzYC\
         bH7Bn-IQ",
    dq: "aq-xcfw4zU1A_mYkump-NvZLfQu_vlgM3leurpArMWQ0DeUxqi5W5zEzCoCjtidXfcBR208aV5l0DF\
         DkjuXDeQ",
    qi: "0jt1JJlq0AnH4YVn5cQIgS9DVuRNeY5qmrxSmsO5aWGtcLDAC5Zvm00MA1PAgc2NxOJlIZbZkg3_NW\
         s452bcWw",
};
