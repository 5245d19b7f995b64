//! The addresses of resources, and methods that read them.

use std::collections::HashSet;

use bowline::lock::{LockedResource, LockedServer};
use bowline_schema::print::typescript::{jsdoc, quote};

use super::{
    method::{MAX_WIDTH, Method, list},
    names::method_name,
    template::variables,
    tools::is_optional,
    types::Types,
};
use crate::names::numbered;

/// The addresses of resources, and the methods that read them.
#[derive(Default)]
pub(super) struct Resources {
    /// Members of an object: strings, and functions that fill in templates.
    addresses: Vec<String>,
    pub(super) methods: Vec<Method>,
    taken: HashSet<String>,
}

impl Resources {
    pub(super) fn new(server: &LockedServer, types: &mut Types) -> Self {
        let mut resources = Self::default();
        for (uri, resource) in &server.resources {
            resources.add(uri, resource, types);
        }
        for (template, resource) in &server.resource_templates {
            resources.add_template(template, resource, types);
        }
        if !resources.methods.is_empty() {
            types.import("readResource");
            types.import("type ResourceResult");
        }
        resources
    }

    /// Writes the object with the addresses, if there are any.
    pub(super) fn addresses(&self) -> Option<String> {
        let members = self.addresses.concat();
        (!members.is_empty()).then(|| {
            format!("/** The addresses of resources. */\nexport const resourceUris = {{\n{members}}} as const;\n")
        })
    }

    fn add(&mut self, uri: &str, resource: &LockedResource, types: &mut Types) {
        let name = self.free_name(resource);
        self.add_address(&name, uri, resource);
        self.add_method(
            name.clone(),
            resource,
            Vec::new(),
            format!("resourceUris.{name}"),
        );
        types.import("readResource");
    }

    fn add_template(&mut self, template: &str, resource: &LockedResource, types: &mut Types) {
        let name = self.free_name(resource);
        let Some(shape) = variables(template) else {
            return self.add_address(&name, template, resource);
        };
        types.import("expandUri");
        let variables = types.declare(&shape, &name, "Variables");
        let default = if is_optional(&shape) { " = {}" } else { "" };
        let parameter = format!("variables: {variables}{default}");
        let arguments = [quote(template), "variables".to_owned()];
        let start = format!("  {name}: ({parameter}): string =>");
        let line = list(&format!("{start} expandUri"), &arguments, ",");
        let member = match line.contains('\n') {
            true => format!("{start}\n{}", list("    expandUri", &arguments, ",")),
            false => line,
        };
        self.addresses.push(format!("{}{member}\n", docs(resource)));
        let address = format!("resourceUris.{name}(variables)");
        self.add_method(name, resource, vec![parameter], address);
    }

    fn add_address(&mut self, name: &str, uri: &str, resource: &LockedResource) {
        let (docs, uri) = (docs(resource), quote(uri));
        let line = format!("  {name}: {uri},");
        let member = match line.chars().count() <= MAX_WIDTH {
            true => line,
            false => format!("  {name}:\n    {uri},"),
        };
        self.addresses.push(format!("{docs}{member}\n"));
    }

    fn add_method(
        &mut self,
        name: String,
        resource: &LockedResource,
        parameters: Vec<String>,
        address: String,
    ) {
        self.methods.push(Method {
            docs: text(resource),
            name,
            parameters,
            returns: "ResourceResult".to_owned(),
            function: "readResource",
            arguments: vec![address],
        });
    }

    /// Resources may have any number of equal names, since their addresses tell them
    /// apart.
    fn free_name(&mut self, resource: &LockedResource) -> String {
        numbered(&method_name(&resource.name), |candidate| {
            self.taken.insert(candidate.to_owned())
        })
    }
}

fn docs(resource: &LockedResource) -> String {
    jsdoc(&text(resource), 2)
}

fn text(resource: &LockedResource) -> String {
    let text = resource.description.as_ref().or(resource.title.as_ref());
    let text = text.unwrap_or(&resource.name);
    match &resource.mime_type {
        Some(mime_type) => format!("{text}\n\nMedia type: `{mime_type}`."),
        None => text.clone(),
    }
}
