//! Tools that return each kind of content, and one that fails.

use bowline::{
    proto::model::{ContentBlock, EmbeddedResource, ResourceContents},
    server::{Error, Tool},
};

use crate::{app::App, samples};

pub fn tools() -> [Tool<App>; 6] {
    [
        // The first of all tools: it is called to examine headers.
        Tool::new("test_simple_text")
            .description("Returns text")
            .no_input()
            .handler(async |_| Ok("This is a simple text response for testing.")),
        Tool::new("test_image_content")
            .description("Returns a picture")
            .no_input()
            .handler(async |_| Ok(samples::image())),
        Tool::new("test_audio_content")
            .description("Returns a sound")
            .no_input()
            .handler(async |_| Ok(samples::audio())),
        Tool::new("test_embedded_resource")
            .description("Returns a resource")
            .no_input()
            .handler(async |_| {
                Ok(embedded(
                    "test://embedded-resource",
                    "text/plain",
                    "This is an embedded resource content.",
                ))
            }),
        Tool::new("test_multiple_content_types")
            .description("Returns text, a picture and a resource")
            .no_input()
            .handler(async |_| Ok(mixed())),
        Tool::new("test_error_handling")
            .description("Fails")
            .no_input()
            .handler(async |_| {
                let why = "This tool intentionally returns an error for testing";
                Err::<String, _>(Error::failed(why))
            }),
    ]
}

fn mixed() -> Vec<ContentBlock> {
    let json = r#"{"test":"data","value":123}"#;
    vec![
        ContentBlock::text("Multiple content types test:"),
        samples::image().into(),
        embedded("test://mixed-content-resource", "application/json", json).into(),
    ]
}

/// Text as a resource.
pub fn embedded(uri: &str, mime_type: &str, text: &str) -> EmbeddedResource {
    let mut contents = ResourceContents::from_text(uri, text);
    contents.mime_type = Some(mime_type.to_owned());
    EmbeddedResource::new(contents)
}
