//! Rule: the licences of all dependencies are compatible with ours.
//!
//! One dependency under a copyleft licence would bind everyone who ships a
//! program that uses this library, and nobody would notice.

use super::{Violation, dependency_tree::Package};

/// Licences that only require shipping their text.
const ACCEPTED: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    // The Boost licence.
    "BSL-1.0",
    // For the list of root certificates, which is data.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub fn check(packages: &[Package]) -> Vec<Violation> {
    packages
        .iter()
        .filter(|package| !is_accepted(&package.licence))
        .map(|package| Violation {
            path: "Cargo.lock".into(),
            line: 1,
            message: format!(
                "`{} {}` has the licence `{}`",
                package.name, package.version, package.licence
            ),
            remedy: "remove the dependency, or add the licence to xtask/src/tidy/licences.rs if it is compatible",
        })
        .collect()
}

/// Returns whether we accept one of the choices that an SPDX expression offers.
/// `/` is an old form of `OR`.
fn is_accepted(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let tokens: Vec<&str> = expression
        .split_inclusive(['(', ')'])
        .flat_map(|part| match part.strip_suffix(['(', ')']) {
            Some(before) => vec![before, &part[before.len()..]],
            None => vec![part],
        })
        .flat_map(str::split_whitespace)
        .collect();
    let mut tokens = Tokens { rest: &tokens };
    tokens.any() && tokens.rest.is_empty()
}

struct Tokens<'a> {
    rest: &'a [&'a str],
}

impl Tokens<'_> {
    /// Parses alternatives, one of which must be accepted.
    fn any(&mut self) -> bool {
        let mut accepted = self.all();
        while self.take("OR") {
            accepted |= self.all();
        }
        accepted
    }

    /// Parses a conjunction, all of whose licences must be accepted.
    fn all(&mut self) -> bool {
        let mut accepted = self.one();
        while self.take("AND") {
            accepted &= self.one();
        }
        accepted
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let accepted = self.any();
            return self.take(")") && accepted;
        }
        let Some((name, rest)) = self.rest.split_first() else {
            return false;
        };
        self.rest = rest;
        if self.take("WITH")
            && let Some((exception, rest)) = self.rest.split_first()
        {
            self.rest = rest;
            return ACCEPTED.contains(&format!("{name} WITH {exception}").as_str());
        }
        ACCEPTED.contains(name)
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == token => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spdx_expressions_are_evaluated() {
        for (expression, accepted) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only OR Apache-2.0", true),
            ("MIT AND GPL-3.0-only", false),
            ("Unlicense/MIT", true),
            ("(MIT OR GPL-2.0) AND Unicode-3.0", true),
            ("(MIT OR Apache-2.0) AND GPL-2.0", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("", false),
            ("MIT OR", true),
            ("(MIT", false),
        ] {
            assert_eq!(is_accepted(expression), accepted, "{expression}");
        }
    }
}
