//! Content blocks of tool results and prompts.

use super::{
    Adapt, Annotations, Icon, Meta, ResourceContents, WireFeatures, object::object,
    tagged::tagged_union,
};

tagged_union! {
    /// A content block.
    pub enum ContentBlock by "type" {
        /// Text.
        Text(TextContent),
        /// An image.
        Image(ImageContent),
        /// Audio.
        Audio(AudioContent),
        /// A resource, by reference.
        ResourceLink(Box<ResourceLink>),
        /// A resource, by value.
        Resource(Box<EmbeddedResource>),
    }
}

impl ContentBlock {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// Returns the text, if this is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

object! {
    /// A text block.
    pub struct TextContent tagged "type" = "text" {
        /// The text.
        text: String = required "text",
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// An image block.
    pub struct ImageContent tagged "type" = "image" {
        /// The data, in base64.
        data: String = required "data",
        /// The media type of the data.
        mime_type: String = required "mimeType",
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// An audio block.
    pub struct AudioContent tagged "type" = "audio" {
        /// The data, in base64.
        data: String = required "data",
        /// The media type of the data.
        mime_type: String = required "mimeType",
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// A resource that the reader may fetch; it need not be in any list.
    pub struct ResourceLink tagged "type" = "resource_link" {
        /// The URI of the resource.
        uri: String = required "uri",
        /// The programmatic name.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// A description of the resource.
        description: Option<String> = optional "description",
        /// Its media type.
        mime_type: Option<String> = optional "mimeType",
        /// Its size in bytes, before any encoding.
        size: Option<u64> = optional "size",
        /// Icons to display.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

object! {
    /// A resource with its content.
    pub struct EmbeddedResource tagged "type" = "resource" {
        /// The content.
        resource: ResourceContents = required "resource",
        /// Hints for the client.
        annotations: Option<Box<Annotations>> = optional "annotations",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Box::new(link).into()
    }
}

impl From<EmbeddedResource> for ContentBlock {
    fn from(resource: EmbeddedResource) -> Self {
        Box::new(resource).into()
    }
}

impl Adapt for ContentBlock {
    fn adapt(&mut self, features: &WireFeatures) {
        match self {
            Self::Audio(audio) if !features.audio => *self = audio.placeholder().into(),
            Self::ResourceLink(link) if !features.resource_links => {
                *self = link.placeholder().into();
            }
            _ => {}
        }
        match self {
            Self::Text(block) => block.adapt(features),
            Self::Image(block) => block.adapt(features),
            Self::Audio(block) => block.adapt(features),
            Self::ResourceLink(block) => block.adapt(features),
            Self::Resource(block) => block.adapt(features),
            Self::Unknown(_) => {}
        }
    }
}

impl AudioContent {
    /// Returns the text that replaces the audio in wire formats without audio.
    pub(crate) fn placeholder(&mut self) -> TextContent {
        let note = format!(
            "[Audio left out: {} ({} bytes in base64). The protocol version in use has no audio.]",
            self.mime_type,
            self.data.len(),
        );
        TextContent {
            text: note,
            annotations: self.annotations.take(),
            meta: self.meta.take(),
            extra: std::mem::take(&mut self.extra),
        }
    }
}

impl ResourceLink {
    fn placeholder(&mut self) -> TextContent {
        let name = self.title.as_ref().unwrap_or(&self.name);
        let mut note = format!("[Resource: {name} <{}>", self.uri);
        if let Some(mime_type) = &self.mime_type {
            note.push_str(&format!(", {mime_type}"));
        }
        if let Some(description) = &self.description {
            note.push_str(&format!(", {description}"));
        }
        note.push(']');
        TextContent {
            text: note,
            annotations: self.annotations.take(),
            meta: self.meta.take(),
            extra: std::mem::take(&mut self.extra),
        }
    }
}
