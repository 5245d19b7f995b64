//! A choice of a letter.

use super::terminal::Terminal;

/// The letter that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice(pub(crate) char);

/// Asks until the person chooses one of the letters, by it or by a word that
/// begins with it. There is none if they ended the input.
pub(crate) async fn choose(
    terminal: &Terminal,
    prompt: &str,
    letters: &str,
    default: Option<char>,
) -> Option<Choice> {
    loop {
        let text = terminal.ask(prompt).await?;
        let letter = text
            .trim()
            .chars()
            .next()
            .map(|first| first.to_ascii_lowercase());
        match letter.or(default) {
            Some(letter) if letters.contains(letter) => return Some(Choice(letter)),
            _ => {
                let letters: Vec<_> = letters.chars().map(String::from).collect();
                let letters = letters.join(", ");
                terminal.print(format!("  Please type one of {letters}."));
            }
        }
    }
}
