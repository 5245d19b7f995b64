//! `bowline config remove`.

use clap::Args;
use serde_json::json;

use super::{
    file::ConfigFile,
    file_choice::{self, ConfigLocation, FileChoice, display_path},
};
use crate::{context::Context, failure::Failure, output::closest_name, target::Servers};

/// Remove a server from Bowline's own files
#[derive(Args, Debug)]
pub(crate) struct Remove {
    /// Name of the server
    name: String,
    #[command(flatten)]
    file_choice: FileChoice,
}

impl Remove {
    pub(super) fn run(self, cx: &Context) -> Result<(), Failure> {
        let locations = match self.file_choice.is_given(cx) {
            true => vec![self.file_choice.location(cx)?],
            // The one that takes precedence is removed.
            false => file_choice::bowline_sources()?
                .into_iter()
                .map(ConfigLocation::from)
                .collect(),
        };
        let mut known = Vec::new();
        for location in locations
            .into_iter()
            .filter(|location| location.path.is_file())
        {
            let mut file = ConfigFile::open(&location)?;
            let path = location.path;
            known.extend(file.document.names().to_vec());
            let removed = file.document.remove(&self.name);
            let removed = removed
                .map_err(|problem| Failure::usage(format!("{}: {problem}", display_path(&path))))?;
            if removed {
                file.save()?;
                let name = &self.name;
                if cx.json() {
                    return cx.output.json(&json!({"name": name, "path": path}));
                }
                return cx
                    .output
                    .line(format!("removed {name} from {}", display_path(&path)));
            }
        }
        Err(self.unknown_server(cx, &known))
    }

    fn unknown_server(&self, cx: &Context, known: &[String]) -> Failure {
        let name = &self.name;
        let failure = Failure::usage(format!("no server `{name}` in Bowline's files"));
        let servers = Servers::load(&cx.globals).unwrap_or_default();
        if let Some(found) = servers.get(name) {
            let app = found
                .app
                .map_or("another program", bowline::config::App::name);
            let path = display_path(&found.path);
            return failure.hint(format!(
                "it is configured by {app}, in {path}, which this command does not change"
            ));
        }
        match closest_name(name, known.iter().map(String::as_str)) {
            Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
            None => failure.hint("`bowline config path` shows where they are"),
        }
    }
}
