//! `bowline config path`.

use bowline::config::{App, ConfigScope, ConfigSource, Loader};
use clap::Args;
use serde_json::{Value, json};

use super::file_choice::{self, display_path};
use crate::{context::Context, failure::Failure, output::Column};

/// Show where Bowline's files are
#[derive(Args, Debug)]
pub(crate) struct Path {
    /// Show every path that is searched, including other programs' files
    #[arg(long)]
    all: bool,
}

impl Path {
    pub(super) fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut sources = file_choice::all_sources()?;
        if !self.all {
            // Parent directories are searched too, but new files are created
            // here.
            let cwd = std::env::current_dir()?;
            sources.retain(|source| {
                let is_relevant =
                    source.scope == ConfigScope::User || source.path.parent() == Some(&cwd);
                source.app == App::Bowline && (is_relevant || source.path.is_file())
            });
        }
        if cx.json() {
            let sources: Vec<Value> = sources.iter().map(as_json).collect();
            return cx.output.json(&sources);
        }
        let paths: Vec<String> = sources
            .iter()
            .map(|source| display_path(&source.path))
            .collect();
        let path_column = Column::of(&paths);
        let app_column = Column::of(sources.iter().map(|source| source.app.name()));
        let scope_column = Column::of(sources.iter().map(scope_name));
        for (source, path) in sources.iter().zip(&paths) {
            let app_name = match self.all {
                true => app_column.cell(source.app.name()),
                false => String::new(),
            };
            let (path, scope) = (
                path_column.cell(path),
                scope_column.cell(scope_name(source)),
            );
            let line = format!("{path}{app_name}{scope}");
            let paint = cx.output.paint();
            cx.output.line(match describe_contents(source) {
                Some(count) => format!("{line}{count}"),
                None => paint.dim(format!("{line}not found")),
            })?;
        }
        Ok(())
    }
}

fn scope_name(source: &ConfigSource) -> &'static str {
    match source.scope {
        ConfigScope::Project => "project",
        ConfigScope::User => "user",
    }
}

/// Describes the contents of a file, if it exists.
fn describe_contents(source: &ConfigSource) -> Option<String> {
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

fn as_json(source: &ConfigSource) -> Value {
    json!({
        "path": source.path,
        "app": source.app.name(),
        "scope": scope_name(source),
        "exists": source.path.is_file(),
    })
}
