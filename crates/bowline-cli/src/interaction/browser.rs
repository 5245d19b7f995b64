//! Opening a page in the browser, without a shell.

use std::{env, process::Stdio, time::Duration};

use tokio::{process::Command, time};

/// How long a browser has to report that it cannot be started.
const START_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a page with the first browser that works.
pub(crate) async fn open(url: &str) -> Result<(), String> {
    let candidates = candidates(url);
    if candidates.is_empty() {
        return Err("No browser found".to_owned());
    }
    for words in candidates {
        if start(&words).await {
            return Ok(());
        }
    }
    Err("No browser could be started".to_owned())
}

/// Returns whether the program started and did not fail immediately. Some run
/// as long as the page is open.
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
    // Ctrl-C must not close the browser.
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

/// Returns the commands to try: the user's choice, or the system's.
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
    // Without a display, the opener may take over the terminal.
    let display = ["DISPLAY", "WAYLAND_DISPLAY"].map(env::var_os);
    if display.iter().flatten().any(|display| !display.is_empty()) {
        return words(&["xdg-open", url]);
    }
    Vec::new()
}

/// Parses `BROWSER`: commands separated by colons, in which `%s` is the URL.
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
