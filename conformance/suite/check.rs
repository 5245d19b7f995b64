//! What the suite found out about one scenario.

use std::{fs, path::Path};

use serde::Deserialize;

use crate::Failure;

/// One thing that the suite looked at.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Check {
    pub id: String,
    pub status: Status,
    #[serde(default, rename = "errorMessage")]
    pub message: Option<String>,
}

/// How it came out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// Reads a `checks.json`. A status that is not known is an error: it might be
/// one that matters.
pub fn read(path: &Path) -> Result<Vec<Check>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse(text: &str) -> Result<Vec<Check>, serde_json::Error> {
    serde_json::from_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the suite wrote it.
    const RECORDED: &str = r#"[
      {
        "id": "tools-call-image",
        "name": "ToolsCallImage",
        "description": "Tool returns image content",
        "status": "FAILURE",
        "timestamp": "2026-11-15T13:17:12.095Z",
        "errorMessage": "No image content found",
        "specReferences": [
          {
            "id": "MCP-Tools-Call",
            "url": "https://modelcontextprotocol.io/specification/2025-06-18/server/tools#calling-tools"
          }
        ],
        "details": { "hasData": false }
      },
      {
        "id": "incoming-response",
        "name": "IncomingResponse",
        "description": "Received 200 response for POST",
        "status": "INFO",
        "timestamp": "2026-11-15T13:17:13.588Z",
        "details": { "statusCode": 200 }
      }
    ]"#;

    #[test]
    fn checks_are_read_as_the_suite_writes_them() {
        let checks = parse(RECORDED).unwrap();
        let found: Vec<_> = checks
            .iter()
            .map(|check| (check.id.as_str(), check.status, check.message.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "tools-call-image",
                    Status::Failure,
                    Some("No image content found")
                ),
                ("incoming-response", Status::Info, None),
            ]
        );
    }

    #[test]
    fn a_status_that_is_not_known_is_an_error() {
        let error = parse(r#"[{"id": "a", "status": "FLAKY"}]"#).unwrap_err();
        assert!(error.to_string().contains("FLAKY"), "{error}");
    }
}
