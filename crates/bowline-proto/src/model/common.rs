//! Small objects that many messages share.

use super::{Meta, Number, object::object, open_enum::open_enum};

object! {
    /// A program that speaks the protocol: its name, version and how to show it.
    ///
    /// What a peer says here is unverified; show it, never rely on it.
    pub struct Implementation {
        /// The name for programs.
        name: String = required "name",
        /// The name for people.
        title: Option<String> = optional "title" if titles,
        /// The program's own version.
        version: String = required "version",
        /// What the program does.
        description: Option<String> = optional "description" if implementation_details,
        /// Where to read more.
        website_url: Option<String> = optional "websiteUrl" if implementation_details,
        /// Pictures to show.
        icons: Vec<Icon> = sparse "icons" if icons,
    }
}

object! {
    /// A picture of a program, tool, resource or prompt.
    pub struct Icon {
        /// Where the picture is: an `https` or `data` URI.
        src: String = required "src",
        /// Its media type, where the server's own might be wrong or too general.
        mime_type: Option<String> = optional "mimeType",
        /// The sizes that it fits, as `48x48` or `any`.
        sizes: Vec<String> = sparse "sizes",
        /// The background it was made for.
        theme: Option<IconTheme> = optional "theme",
    }
}

open_enum! {
    /// The background that a picture was made for.
    pub enum IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

open_enum! {
    /// Who speaks, or who is spoken to.
    pub enum Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

object! {
    /// Hints to a client about how to use or show something.
    pub struct Annotations {
        /// Whom it is meant for.
        audience: Vec<Role> = sparse "audience",
        /// How much it matters, from 0 (optional) to 1 (required).
        priority: Option<Number> = optional "priority",
        /// When it last changed, in ISO 8601.
        last_modified: Option<String> = optional "lastModified" if last_modified,
    }
}

object! {
    /// A result that says nothing but that the request was carried out.
    pub struct EmptyResult adjusted by EmptyResult::adjust {
        /// What kind of result it is.
        result_type: Option<super::ResultType> = optional "resultType" if result_type,
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta",
    }
}
super::message::result!(EmptyResult);

impl EmptyResult {
    fn adjust(&mut self, dialect: &super::Dialect) {
        super::message::set_complete(&mut self.result_type, dialect);
    }
}
