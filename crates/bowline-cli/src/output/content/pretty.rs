//! Indenting JSON without changing it otherwise.

use crate::output::escape::{is_control, push_escaped};

/// Indents JSON. Order, numbers and escapes are unchanged; only characters that
/// could control a terminal are escaped where JSON allows them unescaped.
///
/// The input must be JSON; for anything else the output is unspecified but
/// harmless.
pub(crate) fn pretty_json(json: &str) -> String {
    let mut writer = PrettyWriter {
        pretty: String::with_capacity(json.len() * 2),
        depth: 0,
    };
    let mut characters = json.chars().peekable();
    let (mut quoted, mut escaped) = (false, false);
    while let Some(character) = characters.next() {
        if quoted {
            writer.quoted(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '"' => {
                quoted = true;
                writer.pretty.push('"');
            }
            '{' | '[' => {
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(closing) => writer.pretty.extend([character, closing]),
                    None => writer.open(character),
                }
            }
            '}' | ']' => writer.close(character),
            ',' => {
                writer.pretty.push(',');
                writer.line();
            }
            ':' => writer.pretty.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => writer.pretty.push(other),
        }
    }
    writer.pretty
}

struct PrettyWriter {
    pretty: String,
    depth: usize,
}

impl PrettyWriter {
    fn quoted(&mut self, character: char) {
        match is_control(character) {
            true => push_escaped(character, &mut self.pretty),
            false => self.pretty.push(character),
        }
    }

    fn open(&mut self, character: char) {
        self.pretty.push(character);
        self.depth += 1;
        self.line();
    }

    fn close(&mut self, character: char) {
        self.depth = self.depth.saturating_sub(1);
        self.line();
        self.pretty.push(character);
    }

    fn line(&mut self) {
        self.pretty.push('\n');
        self.pretty.extend(std::iter::repeat_n("  ", self.depth));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::pretty_json;

    #[test]
    fn it_is_indented_and_nothing_else() {
        let text = r#"{"z":1.0,"a":[ ],"m":{"k":[1,{"x":"a, b: {c}\\"}]},"e":{} }"#;
        let shown = "{\n  \"z\": 1.0,\n  \"a\": [],\n  \"m\": {\n    \"k\": [\n      1,\n      {\n        \"x\": \"a, b: {c}\\\\\"\n      }\n    ]\n  },\n  \"e\": {}\n}";
        assert_eq!(pretty_json(text), shown);
        assert_eq!(pretty_json("\"quoted \\\" mark\""), "\"quoted \\\" mark\"");
        assert_eq!(pretty_json("5"), "5");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped_as_json_does() {
        let value = json!(["\u{9b}31m", "\u{202e}", "\u{2028}", "\u{e0041}"]);
        let shown = pretty_json(&value.to_string());
        assert!(shown.is_ascii(), "{shown}");
        let read: Value = serde_json::from_str(&shown).expect("it is JSON");
        assert_eq!(read, value);
    }
}
