//! Parsing of `WWW-Authenticate` challenges.

use super::Scopes;

/// The maximum number of challenges of one response.
const MAX_CHALLENGES: usize = 16;

/// The maximum number of parameters of one challenge.
const MAX_PARAMS: usize = 32;

/// A challenge: a scheme and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme as written; compare it with [`is_scheme`](Self::is_scheme).
    pub scheme: String,
    /// The parameters in order, with names in lower case.
    pub params: Vec<(String, String)>,
}

impl Challenge {
    /// Returns whether the challenge has this scheme, in any case.
    #[must_use]
    pub fn is_scheme(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Returns a parameter. The first of that name counts.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut named = self.params.iter().filter(|(key, _)| key == name);
        named.next().map(|(_, value)| value.as_str())
    }
}

/// The summary of a response's challenges, for a client that supports bearer
/// tokens and proofs of possession.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChallengeSummary {
    /// The URL of the resource's metadata.
    pub resource_metadata: Option<String>,
    /// The scopes that this request needs.
    pub scope: Option<Scopes>,
    /// The error code, such as `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
    /// Whether a token must be sent with a proof that we hold its key.
    pub dpop_required: bool,
}

impl ChallengeSummary {
    /// Reads the values of all `WWW-Authenticate` headers of a response.
    /// Unsupported schemes are ignored.
    pub fn from_headers<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut summary = Self::default();
        let mut has_bearer = false;
        for challenge in parse_challenges(values) {
            let is_dpop = challenge.is_scheme("DPoP");
            if !is_dpop && !challenge.is_scheme("Bearer") {
                continue;
            }
            has_bearer |= !is_dpop;
            summary.dpop_required |= is_dpop;
            let string = |name| challenge.param(name).map(str::to_owned);
            let Self {
                resource_metadata,
                scope,
                error,
                ..
            } = &mut summary;
            *resource_metadata = resource_metadata
                .take()
                .or_else(|| string("resource_metadata"));
            *error = error.take().or_else(|| string("error"));
            let named = || challenge.param("scope").map(Scopes::parse);
            *scope = scope.take().or_else(named);
        }
        // If both are accepted, the simpler one is used.
        summary.dpop_required &= !has_bearer;
        summary
    }
}

/// Parses the values of `WWW-Authenticate` headers, each of which may contain
/// several challenges. Malformed parts are skipped; this never fails.
///
/// ```
/// use bowline_proto::auth::parse_challenges;
///
/// let header = br#"Basic realm="a, b", Bearer scope="x y", error=invalid_token"#;
/// let challenges = parse_challenges([&header[..]]);
/// assert_eq!(challenges.len(), 2);
/// assert_eq!(challenges[1].param("scope"), Some("x y"));
/// ```
pub fn parse_challenges<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Vec<Challenge> {
    let mut challenges = Vec::new();
    for value in values {
        parse_value(value, &mut challenges);
    }
    challenges
}

fn parse_value(value: &[u8], challenges: &mut Vec<Challenge>) {
    let mut rest = Cursor(value);
    // Parameters belong to a challenge of the same header.
    let first = challenges.len();
    loop {
        rest.skip(|byte| matches!(byte, b' ' | b'\t' | b','));
        let word = rest.token();
        if word.is_empty() {
            if rest.0.is_empty() {
                return;
            }
            // Malformed: continue at the next comma.
            rest.skip_to_comma();
            continue;
        }
        let has_space = rest.skip(is_space);
        if rest.skip_if(b'=') {
            match rest.value() {
                Some(value) => {
                    if let Some(last) = challenges[first..].last_mut()
                        && last.params.len() < MAX_PARAMS
                    {
                        last.params.push((word.to_ascii_lowercase(), value));
                    }
                }
                None => rest.skip_to_comma(),
            }
        } else if challenges.len() < MAX_CHALLENGES {
            challenges.push(Challenge {
                scheme: word,
                params: Vec::new(),
            });
            if has_space {
                rest.skip_token68();
            }
        } else {
            return;
        }
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    /// Skips bytes; returns whether there were any.
    fn skip(&mut self, predicate: impl Fn(u8) -> bool) -> bool {
        let count = self.0.iter().take_while(|&&byte| predicate(byte)).count();
        self.0 = &self.0[count..];
        count > 0
    }

    fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.0.first() == Some(&byte);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    fn token(&mut self) -> String {
        let count = self.0.iter().take_while(|&&byte| is_token(byte)).count();
        let (token, rest) = self.0.split_at(count);
        self.0 = rest;
        String::from_utf8_lossy(token).into_owned()
    }

    /// Parses a token or a quoted string, after the `=`.
    fn value(&mut self) -> Option<String> {
        self.skip(is_space);
        if !self.skip_if(b'"') {
            let token = self.token();
            return (!token.is_empty()).then_some(token);
        }
        let mut unescaped = Vec::new();
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            match byte {
                b'"' => return Some(String::from_utf8_lossy(&unescaped).into_owned()),
                b'\\' => {
                    let (&escaped, rest) = self.0.split_first()?;
                    self.0 = rest;
                    unescaped.push(escaped);
                }
                other => unescaped.push(other),
            }
        }
    }

    /// Skips the opaque token that some schemes have in place of parameters.
    fn skip_token68(&mut self) {
        let word = |byte: u8| is_token(byte) || matches!(byte, b'/' | b'=');
        let count = self.0.iter().take_while(|&&byte| word(byte)).count();
        let after = self.0[count..].iter().find(|&&byte| !is_space(byte));
        let is_last = matches!(after, None | Some(b','));
        // `a=b` is a parameter; `ab==` and `a/b` are not.
        let token = &self.0[..count];
        let padding = token.iter().rev().take_while(|&&byte| byte == b'=').count();
        let body = &token[..count - padding];
        if is_last && !body.contains(&b'=') {
            self.0 = &self.0[count..];
        }
    }

    fn skip_to_comma(&mut self) {
        let mut quoted = false;
        while let Some((&byte, rest)) = self.0.split_first() {
            match byte {
                b'"' => quoted = !quoted,
                b'\\' if quoted => {
                    self.0 = rest.get(1..).unwrap_or_default();
                    continue;
                }
                b',' if !quoted => return,
                _ => {}
            }
            self.0 = rest;
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, expected: &[(&str, &[(&str, &str)])]) {
        let read = parse_challenges([header.as_bytes()]);
        let read: Vec<_> = read
            .iter()
            .map(|challenge| {
                let params = challenge.params.iter();
                let params: Vec<_> = params.map(|(k, v)| (k.as_str(), v.as_str())).collect();
                (challenge.scheme.as_str(), params)
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(s, p)| (*s, p.to_vec())).collect();
        assert_eq!(read, expected, "{header}");
    }

    #[test]
    fn several_challenges_in_every_spelling() {
        check("Bearer", &[("Bearer", &[])]);
        check("", &[]);
        check(
            r#"bearer Scope="a b" , error = "invalid_token""#,
            &[("bearer", &[("scope", "a b"), ("error", "invalid_token")])],
        );
        check(
            r#"Basic realm="x", DPoP algs="ES256", Bearer resource_metadata="https://a/b?c=d,e""#,
            &[
                ("Basic", &[("realm", "x")]),
                ("DPoP", &[("algs", "ES256")]),
                ("Bearer", &[("resource_metadata", "https://a/b?c=d,e")]),
            ],
        );
        check(
            r#"Negotiate YWJj==, Bearer a=b"#,
            &[("Negotiate", &[]), ("Bearer", &[("a", "b")])],
        );
        check(
            r#"Bearer error_description="a \"quoted\" \\ word", scope=x"#,
            &[(
                "Bearer",
                &[
                    ("error_description", r#"a "quoted" \ word"#),
                    ("scope", "x"),
                ],
            )],
        );
    }

    #[test]
    fn nonsense_costs_itself_only() {
        check(r#"Bearer a="unended"#, &[("Bearer", &[])]);
        check(
            r#"=x, "quoted, comma", Bearer a=b"#,
            &[("Bearer", &[("a", "b")])],
        );
        check(r#"orphan=1, Bearer a=b"#, &[("Bearer", &[("a", "b")])]);
        check(r#"Bearer a=, b=c"#, &[("Bearer", &[("b", "c")])]);
    }

    #[test]
    fn parameters_do_not_cross_headers() {
        let read = parse_challenges([&b"Basic"[..], b"scope=x", b"Bearer"]);
        assert!(read.iter().all(|challenge| challenge.params.is_empty()));
    }

    #[test]
    fn a_demand_takes_the_first_word_on_each_thing() {
        let headers = [
            &br#"Basic scope="no""#[..],
            br#"Bearer scope="a b", error="invalid_token""#,
            br#"Bearer scope="c", resource_metadata="https://a""#,
        ];
        let summary = ChallengeSummary::from_headers(headers);
        assert_eq!(summary.scope.unwrap().to_string(), "a b");
        assert_eq!(summary.error.as_deref(), Some("invalid_token"));
        assert_eq!(summary.resource_metadata.as_deref(), Some("https://a"));
        assert!(!summary.dpop_required);
        assert!(ChallengeSummary::from_headers([&b"DPoP algs=ES256"[..]]).dpop_required);
        assert!(!ChallengeSummary::from_headers([&b"DPoP algs=ES256, Bearer"[..]]).dpop_required);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let many = "A,".repeat(1000);
        assert_eq!(parse_challenges([many.as_bytes()]).len(), MAX_CHALLENGES);
        let long = format!("A {}", "b=c,".repeat(1000));
        assert_eq!(
            parse_challenges([long.as_bytes()])[0].params.len(),
            MAX_PARAMS
        );
    }
}
