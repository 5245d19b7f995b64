//! Looking up a tool or prompt by name.

use bowline::{
    Client,
    model::{Prompt, Tool, method},
};

use crate::{
    commands::raw::{RawList, list},
    failure::Failure,
    output::closest_name,
    target::Target,
};

/// Returns all tools of a server.
pub(crate) async fn tools(client: &Client) -> Result<RawList<Tool>, Failure> {
    list(client, method::TOOLS_LIST, "tools").await
}

/// Returns all prompts of a server.
pub(crate) async fn prompts(client: &Client) -> Result<RawList<Prompt>, Failure> {
    list(client, method::PROMPTS_LIST, "prompts").await
}

/// Returns the tool, or a failure that suggests a similar name.
pub(crate) fn tool<'a>(
    tools: &'a [Tool],
    target: &Target,
    name: &str,
) -> Result<&'a Tool, Failure> {
    let found = tools.iter().find(|tool| tool.name == name);
    found.ok_or_else(|| {
        let known = tools.iter().map(|tool| tool.name.as_str());
        not_found(target.name(), "tool", name, known).hint(format!(
            "`bowline list {}` shows its tools",
            target.to_shell_args()
        ))
    })
}

/// Returns the prompt, or a failure that suggests a similar name.
pub(crate) fn prompt<'a>(
    prompts: &'a [Prompt],
    target: &Target,
    name: &str,
) -> Result<&'a Prompt, Failure> {
    let found = prompts.iter().find(|prompt| prompt.name == name);
    found.ok_or_else(|| {
        let known = prompts.iter().map(|prompt| prompt.name.as_str());
        not_found(target.name(), "prompt", name, known).hint(format!(
            "`bowline prompts {}` shows its prompts",
            target.to_shell_args()
        ))
    })
}

/// Returns the failure for an unknown name.
pub(crate) fn not_found<'a>(
    server: &str,
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Failure {
    let mut known = known.into_iter().peekable();
    if known.peek().is_none() {
        return Failure::usage(format!(
            "{server} has no {kind} `{name}`: it has no {kind}s"
        ));
    }
    let failure = Failure::usage(format!("{server} has no {kind} `{name}`"));
    match closest_name(name, known) {
        Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
        None => failure,
    }
}
