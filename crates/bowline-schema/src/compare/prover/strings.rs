//! Keywords about strings.

use regex_lite::{Regex, RegexBuilder};
use serde_json::Value;

use super::{super::document::Node, Prover, View, numbers::limit};

/// The maximum length of a string that is matched, in bytes.
const MAX_TEXT: usize = 256;
/// The maximum size of a compiled pattern, in bytes.
const MAX_PATTERN_SIZE: usize = 1 << 15;

/// Formats of numbers, each of which is a range within some of the others.
const RANGES: [(&str, f64, f64); 12] = [
    ("int8", -128.0, 127.0),
    ("uint8", 0.0, 255.0),
    ("int16", -32_768.0, 32_767.0),
    ("uint16", 0.0, 65_535.0),
    ("int32", -2_147_483_648.0, 2_147_483_647.0),
    ("uint32", 0.0, 4_294_967_295.0),
    (
        "int64",
        -9_223_372_036_854_775_808.0,
        9_223_372_036_854_775_807.0,
    ),
    (
        "int",
        -9_223_372_036_854_775_808.0,
        9_223_372_036_854_775_807.0,
    ),
    ("uint64", 0.0, 18_446_744_073_709_551_615.0),
    ("uint", 0.0, 18_446_744_073_709_551_615.0),
    ("float", -3.4e38, 3.4e38),
    ("double", -1.7e308, 1.7e308),
];

impl<'a> Prover<'a> {
    /// Shows that a keyword holds for all strings of a view. `None` if the keyword is
    /// not valid.
    pub(super) fn text_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<bool> {
        Some(match keyword {
            "minLength" => view.greatest(keyword).unwrap_or(0) >= limit(value)?,
            "maxLength" => view
                .least(keyword)
                .is_some_and(|it| Some(it) <= limit(value)),
            "format" => {
                let format = value.as_str()?;
                let mut formats = view.all(keyword).filter_map(|(_, it)| it.as_str());
                formats.any(|it| is_narrower_format(it, format))
            }
            "contentSchema" => {
                let schema = self.child(schema, value);
                let others: Vec<_> = view.all(keyword).collect();
                others.into_iter().any(|(node, other)| {
                    let other = self.child(node, other);
                    self.is_same(other, schema)
                })
            }
            _ => {
                let text = value.as_str()?;
                view.all(keyword).any(|(_, it)| it.as_str() == Some(text))
            }
        })
    }

    /// Returns whether a string matches a pattern, or `None` if that is not known.
    pub(super) fn matches(&mut self, pattern: &'a str, text: &str) -> Option<bool> {
        if text.len() > MAX_TEXT || !self.spend(1 + text.len()) {
            return None;
        }
        let compile = || -> Option<Regex> {
            let mut builder = RegexBuilder::new(pattern);
            builder.size_limit(MAX_PATTERN_SIZE).build().ok()
        };
        let regex = self.patterns.entry(pattern).or_insert_with(compile);
        regex.as_ref().map(|regex| regex.is_match(text))
    }
}

/// Returns whether all values with a format have another one too.
fn is_narrower_format(format: &str, other: &str) -> bool {
    let range = |name: &str| RANGES.into_iter().find(|(it, ..)| *it == name);
    format == other
        || range(format)
            .zip(range(other))
            .is_some_and(|((_, low, high), (_, lowest, highest))| low >= lowest && high <= highest)
}
