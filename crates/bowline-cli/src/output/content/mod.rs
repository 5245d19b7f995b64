//! Printing tool results and resource contents.

mod pretty;

use std::io::{self, IsTerminal as _, Write as _};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bowline::model::{ContentBlock, ResourceContents, ResourceLink};

pub(crate) use self::pretty::pretty_json;
use super::{FileContent, Output, SaveArgs, escape_control};
use crate::failure::Failure;

/// Some servers omit the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Content, sorted by what can be done with it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ContentParts {
    /// Text that can be printed, in order.
    pub(crate) texts: Vec<String>,
    /// Data that can be saved.
    pub(crate) files: Vec<FileContent>,
    /// Short descriptions of everything else.
    pub(crate) unsupported: Vec<String>,
}

impl ContentParts {
    pub(crate) fn from_blocks<'a>(blocks: impl IntoIterator<Item = &'a ContentBlock>) -> Self {
        let mut parts = Self::default();
        for block in blocks {
            parts.add_block(block);
        }
        parts
    }

    pub(crate) fn from_contents(contents: &[ResourceContents]) -> Self {
        let mut parts = Self::default();
        for content in contents {
            parts.add_contents(content);
        }
        parts
    }

    fn add_block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text.clone()),
            ContentBlock::Image(image) => self.add_base64(Some(&image.mime_type), &image.data),
            ContentBlock::Audio(audio) => self.add_base64(Some(&audio.mime_type), &audio.data),
            ContentBlock::ResourceLink(link) => self.texts.push(describe_link(link)),
            ContentBlock::Resource(embedded) => self.add_contents(&embedded.resource),
            _ => self
                .unsupported
                .push("content of an unknown type".to_owned()),
        }
    }

    fn add_contents(&mut self, contents: &ResourceContents) {
        match (&contents.text, &contents.blob) {
            (Some(text), _) => self.texts.push(text.clone()),
            (None, Some(blob)) => self.add_base64(contents.mime_type.as_deref(), blob),
            (None, None) => self
                .unsupported
                .push("a resource without contents".to_owned()),
        }
    }

    fn add_base64(&mut self, mime_type: Option<&str>, data: &str) {
        match BASE64.decode(data.trim_ascii()) {
            Ok(bytes) => self.files.push(FileContent {
                mime_type: mime_type.map(str::to_owned),
                bytes,
            }),
            Err(_) => {
                let kind = escape_control(mime_type.unwrap_or("data"));
                self.unsupported.push(format!("{kind} with invalid base64"));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn describe_link(link: &ResourceLink) -> String {
    let title = link.title.as_ref().unwrap_or(&link.name);
    let details = [Some(title), link.mime_type.as_ref()].into_iter().flatten();
    let details: Vec<_> = details.map(String::as_str).collect();
    format!("{} ({})", link.uri, details.join(", "))
}

/// Prints the text, and saves the rest or says how to. File names are derived
/// from `name`.
pub(crate) fn print_parts(
    output: &Output,
    name: &str,
    mut parts: ContentParts,
    save: &SaveArgs,
) -> Result<(), Failure> {
    if save.out.is_some() && parts.files.is_empty() && !parts.texts.is_empty() {
        // In this case the text is what should be saved.
        let text = parts.texts.join("\n");
        parts.texts.clear();
        parts.files.push(FileContent {
            mime_type: Some("text/plain".to_owned()),
            bytes: text.into_bytes(),
        });
    }
    for text in &parts.texts {
        output.text(text)?;
    }
    if save.out.is_some() {
        save.save(output, name, &parts.files)?;
    } else {
        let hint = match parts.files.len() {
            1 => "use --out FILE to save it",
            _ => "use --out FOLDER to save it",
        };
        for file in &parts.files {
            output.note(format!("not shown: {}; {hint}", file.describe()));
        }
    }
    for what in &parts.unsupported {
        output.note(format!("not shown: {what}; use --json to see it"));
    }
    Ok(())
}

impl Output {
    /// Returns whether results go to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Writes text from a server and a newline. Control characters are escaped
    /// for terminals.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if self.is_terminal() {
            self.line(escape_control(text))
        } else {
            self.line(text)
        }
    }

    /// Writes bytes unchanged.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }

    /// Writes JSON from a server, unchanged except for whitespace.
    pub(crate) fn json_text(&self, json: &str) -> Result<(), Failure> {
        self.line(pretty_json(json))
    }
}

#[cfg(test)]
mod tests {
    use bowline::model::{AudioContent, ContentBlock, ImageContent, ResourceLink};

    use super::{ContentParts, FileContent};

    #[test]
    fn content_is_sorted() {
        let mut link = ResourceLink::new("note:///a", "a");
        link.title = Some("A note".to_owned());
        let blocks = [
            ContentBlock::text("one"),
            ImageContent::new("AAEC", "image/png").into(),
            link.into(),
            AudioContent::new("AA", "audio/wav").into(),
            ImageContent::new("!", "image/png").into(),
        ];
        let parts = ContentParts::from_blocks(&blocks);
        assert_eq!(parts.texts, ["one", "note:///a (A note)"]);
        let file = |mime_type: &str, bytes: &[u8]| FileContent {
            mime_type: Some(mime_type.to_owned()),
            bytes: bytes.to_vec(),
        };
        assert_eq!(
            parts.files,
            [file("image/png", &[0, 1, 2]), file("audio/wav", &[0])]
        );
        assert_eq!(parts.unsupported, ["image/png with invalid base64"]);
    }
}
