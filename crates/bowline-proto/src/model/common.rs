//! Small objects that many messages share.

use super::{Meta, Number, object::object, open_enum::open_enum};

object! {
    /// The name and version of a program that implements the protocol, and how
    /// to display it.
    ///
    /// A peer's values are unverified; display them, never rely on them.
    pub struct Implementation {
        /// The programmatic name.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// The program's own version.
        version: String = required "version",
        /// A description of the program.
        description: Option<String> = optional "description" if implementation_details,
        /// A web page about the program.
        website_url: Option<String> = optional "websiteUrl" if implementation_details,
        /// Icons to display.
        icons: Vec<Icon> = sparse "icons" if icons,
    }
}

object! {
    /// An icon of a program, tool, resource or prompt.
    pub struct Icon {
        /// The location of the image: an `https` or `data` URI.
        src: String = required "src",
        /// Its media type, in case the server's is wrong or too general.
        mime_type: Option<String> = optional "mimeType",
        /// The sizes it is made for, as `48x48` or `any`.
        sizes: Vec<String> = sparse "sizes",
        /// The background it is designed for.
        theme: Option<IconTheme> = optional "theme",
    }
}

open_enum! {
    /// The background that an icon is designed for.
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

open_enum! {
    /// The sender or recipient of a message.
    pub enum Role {
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

object! {
    /// Hints for a client about how to use or display something.
    pub struct Annotations {
        /// The intended audience.
        audience: Vec<Role> = sparse "audience",
        /// The importance, from 0 (optional) to 1 (required).
        priority: Option<Number> = optional "priority",
        /// When it last changed, in ISO 8601.
        last_modified: Option<String> = optional "lastModified" if last_modified,
    }
}

object! {
    /// A result without content, which confirms that the request was carried
    /// out.
    pub struct EmptyResult adjusted by EmptyResult::adjust {
        /// The type of the result.
        result_type: Option<super::ResultType> = optional "resultType" if result_type,
        /// The metadata.
        meta: Option<Meta> = optional "_meta",
    }
}
super::message::result!(EmptyResult);

impl EmptyResult {
    fn adjust(&mut self, features: &super::WireFeatures) {
        super::message::set_complete(&mut self.result_type, features);
    }
}
