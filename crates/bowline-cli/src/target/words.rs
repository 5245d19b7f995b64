//! Parsing the server, and an item of it, from the command line.

use bowline::config::Severity;
use clap::Args;

use super::{DEMO, Servers, ShadowedBy, Target};
use crate::{
    context::Context,
    failure::Failure,
    output::{escape_control, short_path},
};

/// Selects a server.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerArgs {
    /// The server: a configured name, a URL, or `demo`
    #[arg(value_name = "SERVER", required_unless_present = "command")]
    pub(crate) server: Option<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl ServerArgs {
    /// Returns the selected server.
    pub(crate) fn target(self, cx: &Context) -> Result<Target, Failure> {
        let words = self.server.into_iter().collect();
        let words = TargetWords {
            words,
            command: self.command,
        };
        Ok(words.resolve(cx)?.target)
    }
}

impl Target {
    /// Resolves several names.
    pub(crate) fn resolve_all(names: &[String], cx: &Context) -> Result<Vec<Self>, Failure> {
        let resolve = |name: &String| {
            let server = ServerArgs {
                server: Some(name.clone()),
                command: Vec::new(),
            };
            server.target(cx)
        };
        names.iter().map(resolve).collect()
    }
}

/// A server and an item of it: `server.tool`, `server tool`, `https://… tool`,
/// or `tool -- command`.
#[derive(Args, Clone, Debug)]
pub(crate) struct TargetWords {
    /// The server and the item, such as `server.tool`, followed by its
    /// arguments
    #[arg(value_name = "SERVER[.NAME]")]
    pub(crate) words: Vec<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// The parsed words.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedWords {
    pub(crate) target: Target,
    /// The item: a tool, a prompt, a URI.
    pub(crate) name: Option<String>,
    /// The remaining words.
    pub(crate) rest: Vec<String>,
}

impl ResolvedWords {
    /// Returns the item, which must be given. `kind` says what it is, and `hint` how to
    /// find one, from the words that stand for the server.
    pub(crate) fn required_name(
        &self,
        kind: &str,
        hint: impl FnOnce(&str) -> String,
    ) -> Result<&str, Failure> {
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        name.ok_or_else(|| {
            let failure = Failure::usage(format!("no {kind} given for {}", self.target.name()));
            failure.hint(hint(&self.target.to_shell_args()))
        })
    }
}

impl TargetWords {
    /// Resolves the server and the item.
    pub(crate) fn resolve(self, cx: &Context) -> Result<ResolvedWords, Failure> {
        let mut words = self.words.into_iter();
        if !self.command.is_empty() {
            return Ok(ResolvedWords {
                target: Target::Command(self.command),
                name: words.next(),
                rest: words.collect(),
            });
        }
        let Some(first) = words.next() else {
            return Err(Failure::usage("no server given")
                .hint("name one, give a URL, or put a command after `--`")
                .hint("`demo` is built in; `bowline servers` lists the others"));
        };
        if is_url(&first) {
            return Ok(ResolvedWords {
                target: Target::Url(first),
                name: words.next(),
                rest: words.collect(),
            });
        }
        let (target, name) = resolve_name(&first, cx)?;
        let name = name.or_else(|| words.next());
        let rest = words.collect();
        Ok(ResolvedWords { target, name, rest })
    }
}

fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Resolves `name` or `name.item`.
fn resolve_name(word: &str, cx: &Context) -> Result<(Target, Option<String>), Failure> {
    let (head, tail) = match word.split_once('.') {
        Some((head, tail)) => (head, non_empty(tail)),
        None => (word, None),
    };
    let servers = Servers::load(&cx.globals)?;
    servers.print_warnings(&cx.output, false);
    // Names may contain dots: the longest match wins.
    let mut candidates: Vec<_> = servers
        .effective()
        .filter_map(|found| {
            let rest = word.strip_prefix(&*found.entry.name)?;
            (rest.is_empty() || rest.starts_with('.')).then_some((found, rest))
        })
        .collect();
    candidates.sort_by_key(|(found, _)| found.entry.name.len());
    if let Some((found, rest)) = candidates.pop() {
        let name = rest.strip_prefix('.').and_then(non_empty);
        return Ok((Target::Configured(Box::new(found.clone())), name));
    }
    if head == DEMO {
        return Ok((Target::Demo, tail));
    }
    let failure = unknown_server(head, &servers);
    Err(match tail {
        Some(_) => failure.hint("a URL begins with http:// or https://"),
        None => failure,
    })
}

fn non_empty(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

fn unknown_server(name: &str, servers: &Servers) -> Failure {
    let failure = Failure::usage(format!("unknown server `{name}`"));
    let disabled = servers.disabled.iter().find(|(_, off)| off == name);
    if let Some((path, _)) = disabled {
        return failure.hint(format!("it is disabled in {}", path.display()));
    }
    let broken = servers
        .problems
        .iter()
        .filter(|(_, problem)| problem.severity() == Severity::Error)
        .find(|(_, problem)| problem.server.as_deref() == Some(name));
    if let Some((path, problem)) = broken {
        let problem = problem.to_string();
        return failure.hint(format!(
            "{}: {}",
            short_path(path),
            escape_control(&problem)
        ));
    }
    if let Some(shadowing) = servers.shadowed_by_name(name) {
        let why = format!(
            "project server `{name}` is not used: {}",
            shadowing.reason()
        );
        let failure = Failure::usage(escape_control(&why));
        return match shadowing {
            ShadowedBy::UnreadableFile(path) => {
                failure.hint(format!("fix {} first", short_path(&path)))
            }
            _ => failure,
        };
    }
    let known = servers.effective().map(|found| found.entry.name.as_str());
    let failure = match crate::output::closest_name(name, known.chain([DEMO])) {
        Some(similar) => failure.hint(format!("did you mean `{similar}`?")),
        None => failure,
    };
    failure.hint("list servers with `bowline servers`, or add one with `bowline config add`")
}
