//! Saving what a terminal cannot show.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;

use super::{Output, clean};
use crate::failure::Failure;

/// Where results are saved.
#[derive(Args, Clone, Debug)]
pub(crate) struct SaveArgs {
    /// Save the result to this file, or what is not text into this folder
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite files that are there
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// Something that can be saved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    /// What kind of data it is, as the server says.
    pub(crate) mime_type: Option<String>,
    pub(crate) bytes: Vec<u8>,
}

impl Piece {
    /// What it is, in a few words.
    pub(crate) fn describe(&self) -> String {
        let kind = self
            .mime_type
            .as_deref()
            .unwrap_or("bytes of no known type");
        let size = match self.bytes.len() {
            1 => "1 byte".to_owned(),
            small if small < 10_000 => format!("{small} bytes"),
            large if large < 10_000_000 => format!("{} kB", large / 1000),
            huge => format!("{} MB", huge / 1_000_000),
        };
        format!("{}, {size}", clean(kind))
    }
}

impl SaveArgs {
    /// Finds out whether something could be saved, before there is anything:
    /// a call may not be worth repeating.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.out {
            Some(out) if out.is_file() && !self.force => Err(taken(out)),
            _ => Ok(()),
        }
    }

    /// Saves all pieces, under names made of `name` and of what they are: a
    /// server has no say in where files go.
    pub(crate) fn save(
        &self,
        output: &Output,
        name: &str,
        pieces: &[Piece],
    ) -> Result<(), Failure> {
        let Some(out) = &self.out else {
            return Ok(());
        };
        let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with(['/', '\\']);
        match pieces {
            [] => Ok(()),
            [piece] if !is_folder => self.write(output, out, piece),
            _ => self.save_into(output, out, name, pieces),
        }
    }

    fn save_into(
        &self,
        output: &Output,
        folder: &Path,
        name: &str,
        pieces: &[Piece],
    ) -> Result<(), Failure> {
        fs::create_dir_all(folder).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::AlreadyExists => "there are several things to save".to_owned(),
                _ => error.to_string(),
            };
            Failure::usage(format!("--out {}: {why}", folder.display())).hint("name a folder")
        })?;
        let stem = stem(name);
        let mut numbers = 1..;
        for piece in pieces {
            let end = extension(piece.mime_type.as_deref());
            let plain = folder.join(format!("{stem}.{end}"));
            let free = |path: &PathBuf| self.force || !path.exists();
            let path = match pieces.len() {
                1 if free(&plain) => plain,
                // A name that is taken is left alone.
                _ => numbers
                    .by_ref()
                    .map(|number| folder.join(format!("{stem}-{number}.{end}")))
                    .find(free)
                    .unwrap_or(plain),
            };
            self.write(output, &path, piece)?;
        }
        Ok(())
    }

    fn write(&self, output: &Output, path: &Path, piece: &Piece) -> Result<(), Failure> {
        let mut options = OpenOptions::new();
        options.write(true);
        match self.force {
            true => options.create(true).truncate(true),
            false => options.create_new(true),
        };
        let written = options
            .open(path)
            .and_then(|mut file| file.write_all(&piece.bytes));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(path),
            _ => Failure::usage(format!("{}: {error}", path.display())),
        })?;
        output.remark(format!("saved {} ({})", path.display(), piece.describe()));
        Ok(())
    }
}

fn taken(path: &Path) -> Failure {
    Failure::usage(format!("{} is already there", path.display())).hint("--force overwrites it")
}

/// A name for files, of a name that others chose.
fn stem(name: &str) -> String {
    let harmless = |character: char| match character {
        '-' | '_' => character,
        _ if character.is_alphanumeric() => character,
        _ => '_',
    };
    let stem: String = name.chars().take(60).map(harmless).collect();
    match stem.trim_matches('_') {
        "" => "result".to_owned(),
        stem => stem.to_owned(),
    }
}

/// What the names of files of a media type end with.
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
    use super::{extension, stem};

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
            assert_eq!(stem(name), expected, "{name}");
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
