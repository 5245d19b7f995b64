//! What servers want to ask a model: shown to the person, who has the say.

use bowline::proto::{
    jsonrpc::ErrorObject,
    model::{CreateMessageParams, CreateMessageResult, SamplingBlock, SamplingContent},
};

use super::{
    indented, model::said, one_line, prompt::choose, settings::ModelCommand, terminal::Terminal,
};
use crate::output::{Style, clean};

/// The answer, or a refusal for the server.
pub(crate) type Sampled = Result<CreateMessageResult, ErrorObject>;

/// The person said no.
pub(crate) fn refused() -> Sampled {
    // The code that the specification shows for this.
    Err(ErrorObject::new(-1, "the user refused to ask a model"))
}

/// Shows what would be asked, and lets the person answer, refuse, or have the
/// command asked.
pub(crate) async fn ask(
    terminal: &Terminal,
    asker: &str,
    params: &CreateMessageParams,
    command: Option<&ModelCommand>,
) -> Sampled {
    let paint = terminal.paint();
    terminal.show("");
    terminal.show(format!("{} wants to ask a model:", paint.strong(asker)));
    for line in request(params) {
        terminal.show(line);
    }
    let Some(command) = command else {
        let prompt = "  Answer it yourself? [y]es or [n]o: ";
        return match choose(terminal, prompt, "yn", None).await.map(|c| c.0) {
            Some('y') => by_hand(terminal).await,
            _ => refused(),
        };
    };
    let prompt = format!(
        "  Give this to `{}`? [y]es, [n]o, or answer by [h]and: ",
        clean(command.shown())
    );
    match choose(terminal, &prompt, "ynh", None).await.map(|c| c.0) {
        Some('y') => by_command(terminal, asker, params, command).await,
        Some('h') => by_hand(terminal).await,
        _ => refused(),
    }
}

/// Has the command asked, and lets the person see the answer first.
async fn by_command(
    terminal: &Terminal,
    asker: &str,
    params: &CreateMessageParams,
    command: &ModelCommand,
) -> Sampled {
    let answer = match command.run(params).await {
        Ok(answer) => answer,
        Err(why) => {
            let why = format!("`{}`: {}", command.shown(), why);
            let paint = terminal.paint();
            terminal.show(format!("  {}", paint.text(Style::Bad, clean(&why))));
            let prompt = "  Answer it yourself instead? [y]es or [n]o: ";
            return match choose(terminal, prompt, "yn", None).await.map(|c| c.0) {
                Some('y') => by_hand(terminal).await,
                _ => refused(),
            };
        }
    };
    terminal.show("");
    terminal.show(format!("  {} answers:", clean(&answer.model)));
    terminal.show(indented(&content(&answer.content)));
    let prompt = format!("  Send this to {asker}? [Y]es, [n]o, or answer by [h]and: ");
    match choose(terminal, &prompt, "ynh", Some('y'))
        .await
        .map(|c| c.0)
    {
        Some('y') => Ok(answer),
        Some('h') => by_hand(terminal).await,
        _ => refused(),
    }
}

/// Lets the person write the answer.
async fn by_hand(terminal: &Terminal) -> Sampled {
    terminal.show("  Type the answer, and end it with a line that has only a dot.");
    let mut lines: Vec<String> = Vec::new();
    loop {
        match terminal.ask("  | ").await {
            None => return refused(),
            Some(line) if line == "." => return Ok(said(&lines.join("\n"), "human")),
            Some(line) => lines.push(line),
        }
    }
}

/// What a model would get to see.
pub(crate) fn request(params: &CreateMessageParams) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(system) = &params.system_prompt {
        lines.push("  system:".to_owned());
        lines.push(indented(system));
    }
    for message in &params.messages {
        lines.push(format!("  {}:", one_line(message.role.as_str())));
        lines.push(indented(&content(&message.content)));
    }
    let mut limits = vec![format!("at most {} tokens", params.max_tokens)];
    limits.extend(params.temperature.map(|t| format!("temperature {t}")));
    let hints = params
        .model_preferences
        .iter()
        .flat_map(|wanted| &wanted.hints);
    let hints: Vec<_> = hints
        .filter_map(|hint| hint.name.as_deref())
        .map(one_line)
        .collect();
    if !hints.is_empty() {
        limits.push(format!("preferably {}", hints.join(" or ")));
    }
    let tools = params.tools.iter().flatten();
    let tools: Vec<_> = tools.map(|tool| one_line(&tool.name)).collect();
    if !tools.is_empty() {
        limits.push(format!("with the tools {}", tools.join(", ")));
    }
    lines.push(format!("  ({})", limits.join("; ")));
    lines
}

fn content(content: &SamplingContent) -> String {
    let blocks: Vec<_> = content.blocks().iter().map(block).collect();
    blocks.join("\n")
}

fn block(block: &SamplingBlock) -> String {
    match block {
        SamplingBlock::Text(text) => text.text.clone(),
        SamplingBlock::Image(image) => format!("[an image: {}]", image.mime_type),
        SamplingBlock::Audio(audio) => format!("[a sound: {}]", audio.mime_type),
        SamplingBlock::ToolUse(call) => format!("[calls {} {}]", call.name, call.input.get()),
        SamplingBlock::ToolResult(result) => {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            let texts: Vec<_> = texts.collect();
            format!("[was told: {}]", texts.join("\n"))
        }
        _ => "[something else]".to_owned(),
    }
}
