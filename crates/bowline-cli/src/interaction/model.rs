//! The command that answers for a model.

use std::{path::Path, process::Stdio};

use bowline::model::{CreateMessageParams, CreateMessageResult, Role, SamplingBlock};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    time,
};

use super::settings::ModelCommand;

/// Maximum output of the command, in bytes.
const MAX_OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

impl ModelCommand {
    /// Returns its display name.
    pub(crate) fn display_name(&self) -> &str {
        // For a shell, the line that the user typed.
        match &self.words[..] {
            [_, _, line] if self.is_shell_line() => line,
            words => words.first().map_or("", String::as_str),
        }
    }

    fn is_shell_line(&self) -> bool {
        matches!(self.words.first().map(String::as_str), Some("sh" | "cmd"))
    }

    /// Sends the request to the command and reads its answer.
    pub(crate) async fn run(
        &self,
        params: &CreateMessageParams,
    ) -> Result<CreateMessageResult, String> {
        let request = serde_json::to_vec(params).map_err(|error| error.to_string())?;
        let child = self
            .start()
            .map_err(|error| format!("cannot start: {error}"))?;
        let output = time::timeout(self.timeout, exchange(child, &request)).await;
        let output = output.map_err(|_| {
            let seconds = self.timeout.as_secs_f64();
            format!("timed out after {seconds} s")
        })??;
        parse_result(&output, self.model())
    }

    fn start(&self) -> std::io::Result<Child> {
        let (program, args) = self
            .words
            .split_first()
            .ok_or(std::io::ErrorKind::NotFound)?;
        Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// Returns the model name to use if the command gives none.
    fn model(&self) -> &str {
        let word = self
            .display_name()
            .split_whitespace()
            .next()
            .unwrap_or_default();
        let name = Path::new(word).file_name().and_then(|name| name.to_str());
        name.unwrap_or("command")
    }
}

/// Writes and reads concurrently, so neither side blocks the other.
async fn exchange(mut child: Child, request: &[u8]) -> Result<String, String> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read its input may still answer.
            let _ = stdin.write_all(request).await;
        }
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let reading_stdout = async {
        match stdout {
            Some(stdout) => stdout
                .take(MAX_OUTPUT_BYTES)
                .read_to_end(&mut out)
                .await
                .map(drop),
            None => Ok(()),
        }
    };
    let reading_stderr = async {
        match stderr {
            Some(stderr) => stderr
                .take(MAX_OUTPUT_BYTES)
                .read_to_end(&mut err)
                .await
                .map(drop),
            None => Ok(()),
        }
    };
    let ((), read, _) = tokio::join!(writing, reading_stdout, reading_stderr);
    read.map_err(|error| error.to_string())?;
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        let words = String::from_utf8_lossy(&err);
        let last = words.lines().rfind(|line| !line.trim().is_empty());
        let last = last.map(|line| format!(": {}", line.trim()));
        return Err(format!("failed ({status}){}", last.unwrap_or_default()));
    }
    String::from_utf8(out).map_err(|_| "its output is not valid UTF-8".to_owned())
}

/// Parses an answer: a result object, in which only the content is required, or
/// else plain text.
fn parse_result(output: &str, model: &str) -> Result<CreateMessageResult, String> {
    let text = output.trim();
    if let Ok(mut result) = serde_json::from_str::<Map<String, Value>>(text)
        && result.contains_key("content")
    {
        if let Some(Value::String(text)) = result.get("content") {
            let block = json!({"type": "text", "text": text});
            result.insert("content".to_owned(), block);
        }
        result.entry("role").or_insert_with(|| "assistant".into());
        result.entry("model").or_insert_with(|| model.into());
        return serde_json::from_value(result.into())
            .map_err(|error| format!("invalid answer: {error}"));
    }
    if text.is_empty() {
        return Err("its output is empty".to_owned());
    }
    Ok(text_result(text, model))
}

/// Returns a text result.
pub(crate) fn text_result(text: &str, model: &str) -> CreateMessageResult {
    CreateMessageResult::new(Role::Assistant, SamplingBlock::text(text), model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_text_or_a_result() {
        let cases = [
            ("Hello.\n", Some("Hello.")),
            (r#"{"content": "Hello."}"#, Some("Hello.")),
            (
                r#"{"content": {"type": "text", "text": "Hello."}, "model": "m"}"#,
                Some("Hello."),
            ),
            (r#"{"answer": 42}"#, Some(r#"{"answer": 42}"#)),
            (r#"{"content": 42}"#, None),
            (" \n", None),
        ];
        for (output, text) in cases {
            let read = parse_result(output, "command").ok();
            let parsed = read
                .as_ref()
                .and_then(|result| result.content.blocks()[0].as_text());
            assert_eq!(parsed, text, "{output}");
        }
    }
}
