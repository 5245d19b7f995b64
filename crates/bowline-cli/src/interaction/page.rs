//! Pages that servers ask users to visit.

use bowline::{
    auth::open_browser,
    model::{ElicitParams, ElicitResult},
};
use url::{Host, Url};

use super::{indented, letter_choice::choose, terminal::Terminal};
use crate::output::{Style, escape_control};

/// A page to open: a web URL in ASCII.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    url: Url,
}

impl Page {
    /// Parses the URL.
    pub(crate) fn parse(params: &ElicitParams) -> Result<Self, String> {
        let text = params.url.as_deref().unwrap_or_default();
        let url = Url::parse(text)
            .map_err(|error| format!("`{}` is not a valid URL: {error}", escape_control(text)))?;
        match url.scheme() {
            "http" | "https" if url.has_host() => Ok(Self { url }),
            other => Err(format!(
                "`{other}` URLs are not opened, only http and https"
            )),
        }
    }

    pub(crate) fn address(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns warnings about the URL.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let is_local = match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if self.url.scheme() == "http" && !is_local {
            warnings.push("The connection is not encrypted: others may read it.".to_owned());
        }
        if self
            .host()
            .split('.')
            .any(|label| label.starts_with("xn--"))
        {
            let why = "The host name contains letters that may look like others. It is shown \
                       here in its ASCII form.";
            warnings.push(why.to_owned());
        }
        if !self.url.username().is_empty() || self.url.password().is_some() {
            let why = "The part before the `@` is not the host.";
            warnings.push(why.to_owned());
        }
        warnings
    }
}

/// Asks whether to open a page, and opens it.
pub(crate) async fn ask(
    terminal: &Terminal,
    server_name: &str,
    params: &ElicitParams,
    page: &Page,
) -> ElicitResult {
    let paint = terminal.paint();
    terminal.print("");
    terminal.print(format!(
        "{} asks you to visit a page:",
        paint.bold(server_name)
    ));
    terminal.print(indented(&params.message));
    terminal.print("");
    terminal.print(format!("  {}", page.address()));
    terminal.print(format!("  The host is {}.", paint.bold(page.host())));
    for warning in page.warnings() {
        terminal.print(format!("  {}", paint.text(Style::Warning, warning)));
    }
    let prompt = "  Open it in a browser? [y]es, [d]ecline or [c]ancel: ";
    match choose(terminal, prompt, "ydc", None)
        .await
        .map(|choice| choice.0)
    {
        Some('y') => {
            match open_browser(page.address()).await {
                Ok(()) => terminal.print("  Opening it in your browser."),
                Err(why) => {
                    terminal.print(format!("  Cannot open it: {why}. Please open it yourself:"));
                    terminal.print(format!("  {}", page.address()));
                }
            }
            ElicitResult::new(bowline::model::ElicitAction::Accept)
        }
        Some('d') => ElicitResult::decline(),
        _ => ElicitResult::cancel(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str) -> Result<Page, String> {
        Page::parse(&ElicitParams::url("why", url))
    }

    #[test]
    fn only_pages_of_the_web_are_opened() {
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "ssh://host",
            "https://",
            "x",
        ] {
            assert!(page(url).is_err(), "{url}");
        }
    }

    #[test]
    fn an_address_is_shown_as_it_is() {
        // The first letter is Cyrillic.
        let page = page("https://аpple.example/\u{202e}x y").expect("a page");
        assert_eq!(page.host(), "xn--pple-43d.example");
        assert!(page.address().is_ascii());
        assert_eq!(page.warnings().len(), 1);
    }

    #[test]
    fn what_is_odd_is_warned_of() {
        let cases = [
            ("https://accounts.example/", 0),
            ("http://localhost:8080/", 0),
            ("http://127.0.0.1/", 0),
            ("http://accounts.example/", 1),
            ("https://accounts.example@evil.example/", 1),
        ];
        for (url, warnings) in cases {
            assert_eq!(page(url).expect(url).warnings().len(), warnings, "{url}");
        }
    }
}
