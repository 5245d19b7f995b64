//! Opening a page in the browser, without a shell in between.

use std::{env, process::Stdio, time::Duration};

use tokio::{process::Command, time};

/// How long a browser may take to say that it cannot be started.
const START_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a page, if there is something that can.
pub(crate) async fn open(url: &str) -> Result<(), String> {
    let candidates = candidates(url);
    if candidates.is_empty() {
        return Err("There is no browser here".to_owned());
    }
    for words in candidates {
        if start(&words).await {
            return Ok(());
        }
    }
    Err("No browser could be started".to_owned())
}

/// Whether the program could be started and did not fail at once. Some stay
/// for as long as the page is open.
async fn start(words: &[String]) -> bool {
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C is for us: the browser stays.
    #[cfg(unix)]
    command.process_group(0);
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    match time::timeout(START_TIMEOUT, child.wait()).await {
        Ok(exit) => exit.is_ok_and(|status| status.success()),
        Err(_) => true,
    }
}

/// The commands that may open it: what the person has chosen, or what the
/// system has.
fn candidates(url: &str) -> Vec<Vec<String>> {
    let chosen = env::var("BROWSER").ok().filter(|text| !text.is_empty());
    if let Some(chosen) = chosen {
        return from_browser_variable(&chosen, url);
    }
    let words = |words: &[&str]| vec![words.iter().map(|word| (*word).to_owned()).collect()];
    if cfg!(windows) {
        return words(&["rundll32", "url.dll,FileProtocolHandler", url]);
    }
    if cfg!(target_os = "macos") {
        return words(&["open", url]);
    }
    // Without a display, what opens may take over the terminal.
    let display = ["DISPLAY", "WAYLAND_DISPLAY"].map(env::var_os);
    if display.iter().flatten().any(|display| !display.is_empty()) {
        return words(&["xdg-open", url]);
    }
    Vec::new()
}

/// Reads `BROWSER`: commands with colons between them, in which `%s` stands
/// for the address.
fn from_browser_variable(text: &str, url: &str) -> Vec<Vec<String>> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    let command = |command: &str| {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if words.iter().any(|word| word.contains("%s")) {
            for word in &mut words {
                *word = word.replace("%s", url);
            }
        } else {
            words.push(url.to_owned());
        }
        words
    };
    let commands = text.split(separator);
    let commands = commands.filter(|command| !command.trim().is_empty());
    commands.map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::from_browser_variable;

    #[test]
    #[cfg(unix)]
    fn the_variable_names_commands() {
        let url = "https://a.example/?x=$(y)";
        let commands = from_browser_variable("firefox -P me:w3m %s --quiet:", url);
        let words: Vec<String> = commands.iter().map(|words| words.join("|")).collect();
        let expected = [format!("firefox|-P|me|{url}"), format!("w3m|{url}|--quiet")];
        assert_eq!(words, expected);
    }
}
