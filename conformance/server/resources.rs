//! The resources, and the template of more.

use bowline::server::{Json, Resource, ResourceTemplate, Variables};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{app::App, samples};

pub fn resources() -> [Resource<App>; 3] {
    [
        Resource::new("test://static-text", "Static text")
            .description("A text")
            .mime_type("text/plain")
            .text("This is the content of the static text resource."),
        Resource::new("test://static-binary", "Static binary")
            .description("A picture")
            .mime_type("image/png")
            .bytes(samples::PNG),
        Resource::new("test://watched-resource", "Watched resource")
            .description("A text to watch")
            .mime_type("text/plain")
            .text("Nothing has changed."),
    ]
}

pub fn template() -> ResourceTemplate<App> {
    ResourceTemplate::new("test://template/{id}/data", "Data by id")
        .description("Data of any id")
        .mime_type("application/json")
        .read(async |variables: Variables, _| {
            let id = variables["id"].to_owned();
            Ok(Json(Data {
                data: format!("Data for ID: {id}"),
                id,
                template_test: true,
            }))
        })
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}
