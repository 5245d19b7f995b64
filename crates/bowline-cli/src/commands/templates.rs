//! `bowline templates`.

use bowline::model::{ResourceTemplate, method};
use clap::Args;

use super::resources::{describe, print};
use crate::{
    commands::raw,
    context::Context,
    failure::Failure,
    target::{self, ServerArgs},
};

/// List a server's resource templates
#[derive(Args, Debug)]
pub(crate) struct Templates {
    #[command(flatten)]
    server: ServerArgs,
}

impl Templates {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let (list, key) = (method::RESOURCES_TEMPLATES_LIST, "resourceTemplates");
        let listed = target::with_client(cx, &target, async |client| {
            raw::list::<ResourceTemplate>(client, list, key).await
        })
        .await?;
        if cx.json() {
            return cx.output.json_text(listed.json()?.get());
        }
        let rows = listed.items.iter().map(|template| {
            let title = template.title.as_ref().unwrap_or(&template.name);
            let facts = [template.mime_type.clone()];
            let summary = describe(title, template.description.as_deref(), facts);
            (template.uri_template.as_str(), summary)
        });
        let rows: Vec<_> = rows.collect();
        print(cx, target.name(), "templates", &rows)
    }
}
