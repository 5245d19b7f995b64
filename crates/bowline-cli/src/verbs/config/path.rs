//! `bowline config path`.

use bowline::config::{App, Loader, Scope, Source};
use clap::Args;
use serde_json::{Value, json};

use super::place::{self, shown};
use crate::{context::Context, failure::Failure};

/// Say where Bowline's files are
#[derive(Args, Debug)]
pub(crate) struct Path {
    /// Every place that is looked at, also those of other programs
    #[arg(long)]
    all: bool,
}

impl Path {
    pub(super) fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut places = place::all()?;
        if !self.all {
            // Folders above are looked at, too, but new files go here.
            let here = std::env::current_dir()?;
            places.retain(|source| {
                let near = source.scope == Scope::User || source.path.parent() == Some(&here);
                source.app == App::Bowline && (near || source.path.is_file())
            });
        }
        if cx.json() {
            let places: Vec<Value> = places.iter().map(as_json).collect();
            return cx.output.json(&places);
        }
        let paths: Vec<String> = places.iter().map(|source| shown(&source.path)).collect();
        let width = paths.iter().map(|path| path.chars().count()).max();
        let width = width.unwrap_or_default();
        for (source, path) in places.iter().zip(&paths) {
            let whose = match self.all {
                true => format!("{:<15}", source.app.name()),
                false => String::new(),
            };
            let scope = scope(source);
            let (line, there) = (format!("{path:<width$}  {whose}{scope:<8}"), there(source));
            let paint = cx.output.paint();
            cx.output.line(match there {
                Some(count) => format!("{line} {count}"),
                None => paint.faint(format!("{line} no file")),
            })?;
        }
        Ok(())
    }
}

fn scope(source: &Source) -> &'static str {
    match source.scope {
        Scope::Project => "project",
        Scope::User => "user",
    }
}

/// What is in a file, if it is there.
fn there(source: &Source) -> Option<String> {
    if !source.path.is_file() {
        return None;
    }
    let file = Loader::from_process().load_source(source);
    let servers = match file.servers.len() {
        1 => "1 server".to_owned(),
        count => format!("{count} servers"),
    };
    Some(match file.errors().count() {
        0 => servers,
        1 => format!("{servers}, 1 problem"),
        count => format!("{servers}, {count} problems"),
    })
}

fn as_json(source: &Source) -> Value {
    json!({
        "path": source.path,
        "app": source.app.name(),
        "scope": scope(source),
        "exists": source.path.is_file(),
    })
}
