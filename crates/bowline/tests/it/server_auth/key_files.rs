//! Keys for tests, made by Node.js when they are first wanted: a repository is
//! no place for private keys, not even for ones that open nothing.

use std::{process::Command, sync::OnceLock};

/// Key files of several kinds.
pub(crate) struct Keys(serde_json::Value);

impl Keys {
    /// The file of this kind: `rsa`, `rsa-weak`, `p256`, `p256-sec1`, `p384` or
    /// `ed25519`.
    pub(crate) fn pem(&self, kind: &str) -> &str {
        self.0[kind].as_str().expect("there is such a key")
    }
}

/// The keys of this run.
pub(crate) fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let made = Command::new("node").args(["-e", SCRIPT]).output();
        let made = made.expect("the tests need Node.js");
        let keys = serde_json::from_slice(&made.stdout);
        Keys(keys.expect("Node.js makes keys"))
    })
}

const SCRIPT: &str = r"
const { generateKeyPairSync } = require('node:crypto');
const key = (kind, options, type = 'pkcs8') =>
  generateKeyPairSync(kind, options).privateKey.export({ type, format: 'pem' });
console.log(JSON.stringify({
  'rsa': key('rsa', { modulusLength: 2048 }),
  'rsa-weak': key('rsa', { modulusLength: 1024 }),
  'p256': key('ec', { namedCurve: 'P-256' }),
  'p256-sec1': key('ec', { namedCurve: 'P-256' }, 'sec1'),
  'p384': key('ec', { namedCurve: 'P-384' }),
  'ed25519': key('ed25519', {}),
}));
";
