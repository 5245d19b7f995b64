//! What servers want to ask a model: shown to the person, who has the say.

use bowline::{
    model::{CreateMessageParams, CreateMessageResult, SamplingBlock, SamplingContent},
    proto::jsonrpc::ErrorObject,
};

use super::{
    indented, model::text_result, one_line, prompt::choose, settings::ModelCommand,
    terminal::Terminal,
};
use crate::output::{Style, escape_control};

/// The answer, or a refusal for the server.
pub(crate) type SamplingResult = Result<CreateMessageResult, ErrorObject>;

/// The person said no.
pub(crate) fn refused() -> SamplingResult {
    // The code that the specification shows for this.
    Err(ErrorObject::new(-1, "the user refused to ask a model"))
}

/// Shows what would be asked, and lets the person answer, refuse, or have the
/// command asked.
pub(crate) async fn ask(
    terminal: &Terminal,
    server_name: &str,
    params: &CreateMessageParams,
    command: Option<&ModelCommand>,
) -> SamplingResult {
    let paint = terminal.paint();
    terminal.print("");
    terminal.print(format!("{} wants to ask a model:", paint.bold(server_name)));
    for line in request_lines(params) {
        terminal.print(line);
    }
    let Some(command) = command else {
        let prompt = "  Answer it yourself? [y]es or [n]o: ";
        return match choose(terminal, prompt, "yn", None).await.map(|c| c.0) {
            Some('y') => answer_manually(terminal).await,
            _ => refused(),
        };
    };
    let prompt = format!(
        "  Give this to `{}`? [y]es, [n]o, or answer by [h]and: ",
        escape_control(command.display_name())
    );
    match choose(terminal, &prompt, "ynh", None).await.map(|c| c.0) {
        Some('y') => answer_with_command(terminal, server_name, params, command).await,
        Some('h') => answer_manually(terminal).await,
        _ => refused(),
    }
}

/// Has the command asked, and lets the person see the answer first.
async fn answer_with_command(
    terminal: &Terminal,
    server_name: &str,
    params: &CreateMessageParams,
    command: &ModelCommand,
) -> SamplingResult {
    let answer = match command.run(params).await {
        Ok(answer) => answer,
        Err(why) => {
            let why = format!("`{}`: {}", command.display_name(), why);
            let paint = terminal.paint();
            terminal.print(format!(
                "  {}",
                paint.text(Style::Error, escape_control(&why))
            ));
            let prompt = "  Answer it yourself instead? [y]es or [n]o: ";
            return match choose(terminal, prompt, "yn", None).await.map(|c| c.0) {
                Some('y') => answer_manually(terminal).await,
                _ => refused(),
            };
        }
    };
    terminal.print("");
    terminal.print(format!("  {} answers:", escape_control(&answer.model)));
    terminal.print(indented(&format_content(&answer.content)));
    let prompt = format!("  Send this to {server_name}? [Y]es, [n]o, or answer by [h]and: ");
    match choose(terminal, &prompt, "ynh", Some('y'))
        .await
        .map(|c| c.0)
    {
        Some('y') => Ok(answer),
        Some('h') => answer_manually(terminal).await,
        _ => refused(),
    }
}

/// Lets the person write the answer.
async fn answer_manually(terminal: &Terminal) -> SamplingResult {
    terminal.print("  Type the answer, and end it with a line that has only a dot.");
    let mut lines: Vec<String> = Vec::new();
    loop {
        match terminal.ask("  | ").await {
            None => return refused(),
            Some(line) if line == "." => return Ok(text_result(&lines.join("\n"), "human")),
            Some(line) => lines.push(line),
        }
    }
}

/// What a model would get to see.
pub(crate) fn request_lines(params: &CreateMessageParams) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(system) = &params.system_prompt {
        lines.push("  system:".to_owned());
        lines.push(indented(system));
    }
    for message in &params.messages {
        lines.push(format!("  {}:", one_line(message.role.as_str())));
        lines.push(indented(&format_content(&message.content)));
    }
    let mut limits = vec![format!("at most {} tokens", params.max_tokens)];
    limits.extend(params.temperature.map(|t| format!("temperature {t}")));
    let hints = params
        .model_preferences
        .iter()
        .flat_map(|preferences| &preferences.hints);
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

fn format_content(content: &SamplingContent) -> String {
    let blocks: Vec<_> = content.blocks().iter().map(format_block).collect();
    blocks.join("\n")
}

fn format_block(block: &SamplingBlock) -> String {
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
