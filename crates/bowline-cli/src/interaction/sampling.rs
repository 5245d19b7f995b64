//! Sampling requests, shown to the user for approval.

use bowline::{
    model::{CreateMessageParams, CreateMessageResult, SamplingBlock, SamplingContent},
    proto::jsonrpc::ErrorObject,
};

use super::{
    indented, letter_choice::choose, model::text_result, one_line, settings::ModelCommand,
    terminal::Terminal,
};
use crate::output::{Style, escape_control};

/// The answer, or an error for the server.
pub(crate) type SamplingResult = Result<CreateMessageResult, ErrorObject>;

/// Returns the error for a request that the user refused.
pub(crate) fn refused() -> SamplingResult {
    // The code that the specification uses for this.
    Err(ErrorObject::new(
        -1,
        "the user rejected the sampling request",
    ))
}

/// Shows the request, and lets the user answer it, refuse it, or pass it to the
/// command.
pub(crate) async fn ask(
    terminal: &Terminal,
    server_name: &str,
    params: &CreateMessageParams,
    command: Option<&ModelCommand>,
) -> SamplingResult {
    let paint = terminal.paint();
    terminal.print("");
    terminal.print(format!(
        "{} requests sampling from a model:",
        paint.bold(server_name)
    ));
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
        "  Pass this to `{}`? [y]es, [n]o, or answer by [h]and: ",
        escape_control(command.display_name())
    );
    match choose(terminal, &prompt, "ynh", None).await.map(|c| c.0) {
        Some('y') => answer_with_command(terminal, server_name, params, command).await,
        Some('h') => answer_manually(terminal).await,
        _ => refused(),
    }
}

/// Runs the command, and shows the user its answer first.
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

/// Lets the user type the answer.
async fn answer_manually(terminal: &Terminal) -> SamplingResult {
    terminal.print("  Type the answer. End it with a line that contains only a dot.");
    let mut lines: Vec<String> = Vec::new();
    loop {
        match terminal.ask("  | ").await {
            None => return refused(),
            Some(line) if line == "." => return Ok(text_result(&lines.join("\n"), "human")),
            Some(line) => lines.push(line),
        }
    }
}

/// Formats what a model would see.
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
        SamplingBlock::Image(image) => format!("[image: {}]", image.mime_type),
        SamplingBlock::Audio(audio) => format!("[audio: {}]", audio.mime_type),
        SamplingBlock::ToolUse(call) => format!("[calls {} {}]", call.name, call.input.get()),
        SamplingBlock::ToolResult(result) => {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            let texts: Vec<_> = texts.collect();
            format!("[result: {}]", texts.join("\n"))
        }
        _ => "[other content]".to_owned(),
    }
}
