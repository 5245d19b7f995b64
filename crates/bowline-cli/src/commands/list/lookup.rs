//! One of a server's tools or prompts, by its name.

use bowline::{
    Client,
    model::{Prompt, Tool, method},
};

use crate::{
    commands::raw::{RawList, list},
    failure::Failure,
    output::closest_match,
    target::Target,
};

/// All tools of a server.
pub(crate) async fn tools(client: &Client) -> Result<RawList<Tool>, Failure> {
    list(client, method::TOOLS_LIST, "tools").await
}

/// All prompts of a server.
pub(crate) async fn prompts(client: &Client) -> Result<RawList<Prompt>, Failure> {
    list(client, method::PROMPTS_LIST, "prompts").await
}

/// A tool, or what might have been meant.
pub(crate) fn tool<'a>(
    tools: &'a [Tool],
    target: &Target,
    name: &str,
) -> Result<&'a Tool, Failure> {
    let found = tools.iter().find(|tool| tool.name == name);
    found.ok_or_else(|| {
        let known = tools.iter().map(|tool| tool.name.as_str());
        not_found(target.name(), "tool", name, known).hint(format!(
            "`bowline list {}` shows those that there are",
            target.to_shell_args()
        ))
    })
}

/// A prompt, or what might have been meant.
pub(crate) fn prompt<'a>(
    prompts: &'a [Prompt],
    target: &Target,
    name: &str,
) -> Result<&'a Prompt, Failure> {
    let found = prompts.iter().find(|prompt| prompt.name == name);
    found.ok_or_else(|| {
        let known = prompts.iter().map(|prompt| prompt.name.as_str());
        not_found(target.name(), "prompt", name, known).hint(format!(
            "`bowline prompts {}` shows those that there are",
            target.to_shell_args()
        ))
    })
}

/// Says that there is no such thing.
pub(crate) fn not_found<'a>(
    server: &str,
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Failure {
    let mut known = known.into_iter().peekable();
    if known.peek().is_none() {
        return Failure::usage(format!("{server} has no {kind}s, so no `{name}`"));
    }
    let failure = Failure::usage(format!("{server} has no {kind} `{name}`"));
    match closest_match(name, known) {
        Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
        None => failure,
    }
}
