//! Valid server names.

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 200;

/// Returns why a name is invalid, if it is.
///
/// Names are shown to people before they decide what to run, and typed into shells.
pub(super) fn invalid_reason(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("the server name is empty".to_owned());
    }
    if name.trim() != name || name.chars().any(is_invisible) {
        let reason = "a name must be one line of visible characters, without white space around it";
        return Some(reason.to_owned());
    }
    if name.starts_with('-') {
        return Some("a name must not begin with a dash, like an option".to_owned());
    }
    let length = name.chars().count();
    (length > MAX_NAME)
        .then(|| format!("the name has {length} characters, more than the limit of {MAX_NAME}"))
}

/// Returns whether a character is invisible: control characters, line breaks,
/// directional marks, and zero-width characters. Joiners of letters and emoji are
/// allowed.
fn is_invisible(c: char) -> bool {
    match c {
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e00ff}' => true,
        _ => c.is_control(),
    }
}
