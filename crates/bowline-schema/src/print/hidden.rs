//! Characters that deceive.

/// Returns whether a character cannot be seen, or changes how others are shown: what a
/// reader sees would not be what is there.
#[inline]
pub(super) fn is_hidden(c: char) -> bool {
    // Most are not: printable ASCII.
    !matches!(c, ' '..='~') && is_special(c)
}

fn is_special(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
