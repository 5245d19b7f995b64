//! Saving content that a terminal cannot show.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;

use super::{Output, escape_control};
use crate::failure::Failure;

/// Where results are saved.
#[derive(Args, Clone, Debug)]
pub(crate) struct SaveArgs {
    /// Save the result to this file, or binary content to this folder
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// Data that can be saved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileContent {
    /// The media type, as given by the server.
    pub(crate) mime_type: Option<String>,
    pub(crate) bytes: Vec<u8>,
}

impl FileContent {
    /// Returns a short description.
    pub(crate) fn describe(&self) -> String {
        let kind = self.mime_type.as_deref().unwrap_or("data of unknown type");
        let size = match self.bytes.len() {
            1 => "1 byte".to_owned(),
            small if small < 10_000 => format!("{small} bytes"),
            large if large < 10_000_000 => format!("{} kB", large / 1000),
            huge => format!("{} MB", huge / 1_000_000),
        };
        format!("{}, {size}", escape_control(kind))
    }
}

impl SaveArgs {
    /// Checks whether the result could be saved, before the call is made: it
    /// may not be repeatable.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.out {
            Some(out) if out.is_file() && !self.force => Err(already_exists(out)),
            _ => Ok(()),
        }
    }

    /// Saves all files, with names built from `name` and the media type: a
    /// server does not choose where files are written.
    pub(crate) fn save(
        &self,
        output: &Output,
        name: &str,
        files: &[FileContent],
    ) -> Result<(), Failure> {
        let Some(out) = &self.out else {
            return Ok(());
        };
        let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with(['/', '\\']);
        match files {
            [] => Ok(()),
            [content] if !is_folder => self.write(output, out, content),
            _ => self.save_into_dir(output, out, name, files),
        }
    }

    fn save_into_dir(
        &self,
        output: &Output,
        folder: &Path,
        name: &str,
        files: &[FileContent],
    ) -> Result<(), Failure> {
        fs::create_dir_all(folder).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::AlreadyExists => "the result has several files".to_owned(),
                _ => error.to_string(),
            };
            Failure::usage(format!("--out {}: {why}", folder.display()))
                .hint("give a folder instead")
        })?;
        let stem = file_stem(name);
        let mut numbers = 1..;
        for content in files {
            let suffix = extension(content.mime_type.as_deref());
            let unnumbered = folder.join(format!("{stem}.{suffix}"));
            let is_free = |path: &PathBuf| self.force || !path.exists();
            let path = match files.len() {
                1 if is_free(&unnumbered) => unnumbered,
                // Existing files are kept.
                _ => numbers
                    .by_ref()
                    .map(|number| folder.join(format!("{stem}-{number}.{suffix}")))
                    .find(is_free)
                    .unwrap_or(unnumbered),
            };
            self.write(output, &path, content)?;
        }
        Ok(())
    }

    fn write(&self, output: &Output, path: &Path, content: &FileContent) -> Result<(), Failure> {
        let mut options = OpenOptions::new();
        options.write(true);
        match self.force {
            true => options.create(true).truncate(true),
            false => options.create_new(true),
        };
        let written = options
            .open(path)
            .and_then(|mut file| file.write_all(&content.bytes));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => already_exists(path),
            _ => Failure::usage(format!("{}: {error}", path.display())),
        })?;
        output.note(format!("saved {} ({})", path.display(), content.describe()));
        Ok(())
    }
}

fn already_exists(path: &Path) -> Failure {
    Failure::usage(format!("{} already exists", path.display())).hint("use --force to overwrite it")
}

/// Returns a safe file name for an untrusted name.
fn file_stem(name: &str) -> String {
    let sanitize = |character: char| match character {
        '-' | '_' => character,
        _ if character.is_alphanumeric() => character,
        _ => '_',
    };
    let stem: String = name.chars().take(60).map(sanitize).collect();
    match stem.trim_matches('_') {
        "" => "result".to_owned(),
        stem => stem.to_owned(),
    }
}

/// Returns the file extension of a media type.
fn extension(mime_type: Option<&str>) -> &'static str {
    let essence = mime_type.unwrap_or_default().split(';').next();
    match essence.unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/html" => "html",
        "text/csv" => "csv",
        "text/markdown" => "md",
        text if text.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::{extension, file_stem};

    #[test]
    fn names_lead_nowhere() {
        let cases = [
            ("draw_chart", "draw_chart"),
            ("../../etc/passwd", "etc_passwd"),
            ("/", "result"),
            ("a.b", "a_b"),
            ("größe", "größe"),
        ];
        for (name, expected) in cases {
            assert_eq!(file_stem(name), expected, "{name}");
        }
    }

    #[test]
    fn the_type_decides_how_a_name_ends() {
        assert_eq!(extension(Some("image/png")), "png");
        assert_eq!(extension(Some("text/plain; charset=utf-8")), "txt");
        assert_eq!(extension(Some("../x")), "bin");
        assert_eq!(extension(None), "bin");
    }
}
