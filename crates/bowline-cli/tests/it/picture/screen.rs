//! What a terminal makes of what it is sent: lines of painted text.

use std::str::Chars;

/// How many characters fit into a line.
pub(super) const COLUMNS: usize = 112;

/// Text that looks the same from its first to its last character.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) column: usize,
    pub(super) text: String,
    pub(super) look: Look,
}

/// How text looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Look {
    pub(super) bold: bool,
    pub(super) faint: bool,
    /// As in the codes of terminals: 1 is red, 6 is cyan.
    pub(super) colour: Option<u8>,
}

/// The lines of what was shown.
pub(super) fn lines(shown: &str) -> Vec<Vec<Run>> {
    let mut lines = vec![Vec::new()];
    let mut look = Look::default();
    let mut column = 0;
    let mut characters = shown.chars();
    while let Some(character) = characters.next() {
        match character {
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            '\u{1b}' => match sequence(&mut characters) {
                (code, 'm') => repaint(&mut look, &code),
                // How far a call is goes away again.
                (code, 'K') if code == "2" => {
                    lines.last_mut().expect("there is one").clear();
                    column = 0;
                }
                other => panic!("{other:?} cannot be drawn"),
            },
            character => {
                if column == COLUMNS {
                    lines.push(Vec::new());
                    column = 0;
                }
                let line = lines.last_mut().expect("there is one");
                put(line, column, character, &look);
                column += 1;
            }
        }
    }
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// What a sequence says, and the letter that ends it.
fn sequence(characters: &mut Chars<'_>) -> (String, char) {
    let mut code = String::new();
    for character in characters.by_ref().skip(1) {
        if character.is_ascii_alphabetic() {
            return (code, character);
        }
        code.push(character);
    }
    panic!("a sequence has no end: {code:?}");
}

fn put(line: &mut Vec<Run>, column: usize, character: char, look: &Look) {
    match line.last_mut() {
        Some(last) if last.look == *look => last.text.push(character),
        _ => line.push(Run {
            column,
            text: character.to_string(),
            look: look.clone(),
        }),
    }
}

fn repaint(look: &mut Look, codes: &str) {
    for code in codes.split(';') {
        match code.parse() {
            Ok(0) => *look = Look::default(),
            Ok(1) => look.bold = true,
            Ok(2) => look.faint = true,
            Ok(colour @ 31..=36) => look.colour = Some(colour - 30),
            _ => panic!("the code {codes:?} cannot be drawn"),
        }
    }
}
