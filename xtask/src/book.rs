//! `cargo xtask book [--open]`: builds the guides as a book, with mdbook.
//!
//! mdbook is installed in `target/tools` the first time. `book.toml` configures
//! the book, and `docs/guides/SUMMARY.md` is its table of contents. Links to
//! files that are not in the book, such as decision records, are changed to
//! URLs of the repository.
//!
//! Not part of `test`: installing mdbook takes minutes, and tidy checks the
//! table of contents and all links without it.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Failure, cargo,
    failure::at_path,
    process,
    tidy::{SUMMARY, resolve_link, split_anchor},
};

const VERSION: &str = "0.5.4";
/// Where the files are that the book links to and does not contain.
const REPOSITORY: &str = "https://github.com/bowline-mcp/bowline/blob/main/";

/// Builds the book and prints where it is, or opens it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let open = match arguments {
        [] => false,
        [open] if open == "--open" => true,
        _ => return Err("the only argument is `--open`".to_owned()),
    };
    let root = cargo::root();
    let mut build = Command::new(install_mdbook(&root)?);
    build.arg("build").current_dir(&root);
    process::run(build, "see above")?;
    let folder = root.join("target").join("book");
    let problems = finish(&folder, &root)?;
    if !problems.is_empty() {
        return Err(format!("broken links:\n  {}", problems.join("\n  ")));
    }
    let index = folder.join("index.html");
    println!("{}", index.display());
    if open {
        let mut opener = Command::new(opener());
        opener.arg(index);
        process::run(opener, "open the file above in a browser")?;
    }
    Ok(())
}

/// Returns the path of mdbook, after installing it if it is missing or has
/// another version.
fn install_mdbook(root: &Path) -> Result<PathBuf, Failure> {
    let tools = root.join("target").join("tools");
    let program = tools
        .join("bin")
        .join(format!("mdbook{}", env::consts::EXE_SUFFIX));
    let version = Command::new(&program).arg("--version").output();
    let is_current = version.is_ok_and(|output| {
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        version.trim_end().ends_with(&format!("v{VERSION}"))
    });
    if !is_current {
        let mut install = cargo::cargo();
        install
            .args(["install", "mdbook", "--version", VERSION, "--locked"])
            // Without its web server and file watcher, which bring in tokio and axum.
            .args(["--no-default-features", "--features", "search"])
            .arg("--root")
            .arg(tools);
        process::run(install, "mdbook is needed to build the book")?;
    }
    Ok(program)
}

fn opener() -> &'static str {
    match env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    }
}

/// Changes links that leave the book to URLs, and returns the broken ones.
fn finish(folder: &Path, root: &Path) -> Result<Vec<String>, Failure> {
    let mut pages = read_pages(folder)?;
    let mut problems = Vec::new();
    for (name, page) in &mut pages {
        let (linked, broken) = link_to_repository(page, |path| root.join(path).exists());
        if linked != *page {
            let path = folder.join(name);
            fs::write(&path, &linked).map_err(|error| at_path(&path, &error))?;
            *page = linked;
        }
        problems.extend(broken.into_iter().map(|target| format!("{name}: {target}")));
    }
    for (name, page) in &pages {
        let broken = hrefs(page).filter(|target| is_broken(name, target, &pages, folder));
        problems.extend(broken.map(|target| format!("{name}: {target}")));
    }
    Ok(problems)
}

fn read_pages(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let failure = |error| at_path(folder, &error);
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failure)? {
        let path = entry.map_err(failure)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The page for missing addresses is made for a web server.
        if name.ends_with(".html") && name != "404.html" {
            let text = fs::read_to_string(&path).map_err(|error| at_path(&path, &error))?;
            pages.insert(name.into_owned(), text);
        }
    }
    Ok(pages)
}

/// Returns the page with URLs in place of links that leave the book, and the
/// links that point to no file of the repository. mdbook has changed the suffix
/// `.md` of all links to `.html`.
fn link_to_repository(page: &str, exists: impl Fn(&str) -> bool) -> (String, Vec<String>) {
    let mut linked = page.to_owned();
    let mut broken = Vec::new();
    for target in hrefs(page).filter(|target| target.starts_with("../")) {
        let (file, anchor) = split_anchor(target);
        let source = match file.strip_suffix(".html") {
            Some(name) => format!("{name}.md"),
            None => file.to_owned(),
        };
        let path = resolve_link(SUMMARY, &source).filter(|path| exists(path));
        let Some(path) = path else {
            broken.push(target.to_owned());
            continue;
        };
        let anchor = anchor.map_or_else(String::new, |anchor| format!("#{anchor}"));
        linked = linked.replace(
            &format!("href=\"{target}\""),
            &format!("href=\"{REPOSITORY}{path}{anchor}\""),
        );
    }
    (linked, broken)
}

fn is_broken(page: &str, target: &str, pages: &BTreeMap<String, String>, folder: &Path) -> bool {
    if target.contains(':') || target.starts_with("../") {
        return false;
    }
    let (file, anchor) = split_anchor(target);
    let file = if file.is_empty() { page } else { file };
    match (pages.get(file), anchor) {
        (Some(linked), Some(anchor)) => !linked.contains(&format!("id=\"{anchor}\"")),
        (Some(_), None) => false,
        (None, _) => !folder.join(file).exists(),
    }
}

fn hrefs(page: &str) -> impl Iterator<Item = &str> {
    let rest = page.split("href=\"").skip(1);
    rest.filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_book_become_urls() {
        let page =
            r##"<a href="../adr/0001-a.html#why"><a href="../../LICENSE"><a href="b.html">"##;
        let exists = |path: &str| ["docs/adr/0001-a.md", "LICENSE"].contains(&path);
        let (linked, broken) = link_to_repository(page, exists);
        assert_eq!(
            linked,
            format!(
                "<a href=\"{REPOSITORY}docs/adr/0001-a.md#why\">\
                 <a href=\"{REPOSITORY}LICENSE\"><a href=\"b.html\">"
            )
        );
        assert_eq!(broken, [""; 0]);
        let (_, broken) = link_to_repository(r#"<a href="../adr/0002-b.html">"#, exists);
        assert_eq!(broken, ["../adr/0002-b.html"]);
    }

    #[test]
    fn links_inside_the_book_must_work() {
        let pages = BTreeMap::from([
            ("a.html".to_owned(), "<h1 id=\"top\">".to_owned()),
            ("b.html".to_owned(), String::new()),
        ]);
        let broken = |target| is_broken("a.html", target, &pages, Path::new("no-such-folder"));
        for works in ["b.html", "#top", "a.html#top", "https://example.com/#x"] {
            assert!(!broken(works), "{works}");
        }
        for broken_link in ["c.html", "#bottom", "b.html#top"] {
            assert!(broken(broken_link), "{broken_link}");
        }
    }
}
