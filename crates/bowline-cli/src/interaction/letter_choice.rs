//! Prompts for a single letter.

use super::terminal::Terminal;

/// The chosen letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice(pub(crate) char);

/// Asks until the user chooses one of the letters, by the letter or a word that
/// begins with it. `None` if they end the input.
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
