//! `bowline config remove`.

use clap::Args;
use serde_json::json;

use super::{
    file::ConfigFile,
    place::{self, Place, Spot, shown},
};
use crate::{context::Context, failure::Failure, output::similar, target::Servers};

/// Remove a server from Bowline's own files
#[derive(Args, Debug)]
pub(crate) struct Remove {
    /// What it is called
    name: String,
    #[command(flatten)]
    place: Place,
}

impl Remove {
    pub(super) fn run(self, cx: &Context) -> Result<(), Failure> {
        let spots = match self.place.is_said(cx) {
            true => vec![self.place.spot(cx)?],
            // The one that counts is the one that goes.
            false => place::own()?.into_iter().map(Spot::from).collect(),
        };
        let mut known = Vec::new();
        for spot in spots.into_iter().filter(|spot| spot.path.is_file()) {
            let mut file = ConfigFile::open(&spot)?;
            let path = spot.path;
            known.extend(file.document.names().to_vec());
            let removed = file.document.remove(&self.name);
            let removed = removed
                .map_err(|problem| Failure::usage(format!("{}: {problem}", shown(&path))))?;
            if removed {
                file.save()?;
                let name = &self.name;
                if cx.json() {
                    return cx.output.json(&json!({"name": name, "path": path}));
                }
                return cx
                    .output
                    .line(format!("removed {name} from {}", shown(&path)));
            }
        }
        Err(self.unknown(cx, &known))
    }

    fn unknown(&self, cx: &Context, known: &[String]) -> Failure {
        let name = &self.name;
        let failure = Failure::usage(format!("no server `{name}` in Bowline's files"));
        let servers = Servers::find(&cx.globals).unwrap_or_default();
        if let Some(found) = servers.get(name) {
            let app = found
                .app
                .map_or("another program", bowline::config::App::name);
            let path = shown(&found.path);
            return failure.hint(format!(
                "it is one of {app}'s, in {path}, which is not changed from here"
            ));
        }
        match similar(name, known.iter().map(String::as_str)) {
            Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
            None => failure.hint("`bowline config path` says where they are"),
        }
    }
}
