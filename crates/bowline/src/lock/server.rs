//! A server as it was reviewed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    change::{Change, Differences, ItemKind},
    error::LockError,
    hash::hash_of,
    tool::LockedTool,
};
use crate::model::{Implementation, Prompt, Resource, ResourceTemplate, Tool};

/// A server as it was reviewed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedServer {
    /// The hash of everything below. It is only set while a lock is written or read:
    /// empty, it cannot be out of date.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    hash: String,
    /// The name that the server reports. A new name alone is not a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version that the server reports. A new version alone is not a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its instructions for models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The tools, by name.
    #[serde(default)]
    pub tools: BTreeMap<String, LockedTool>,
    /// The prompts, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, LockedPrompt>,
    /// The resources, by URI.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, LockedResource>,
    /// The resource templates, by URI template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resource_templates: BTreeMap<String, LockedResource>,
}

/// A prompt as it was reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedPrompt {
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<LockedPromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedPromptArgument {
    /// The name.
    pub name: String,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is required.
    #[serde(default)]
    pub required: bool,
}

/// A resource or resource template as it was reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedResource {
    /// The programmatic name.
    pub name: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

impl LockedServer {
    /// Adds the identity of the server.
    #[must_use]
    pub fn with_identity(self, info: Option<&Implementation>, instructions: Option<&str>) -> Self {
        Self {
            name: info.map(|info| info.name.clone()),
            version: info.map(|info| info.version.clone()),
            instructions: instructions.map(str::to_owned),
            ..self
        }
    }

    /// Adds tools.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema of a tool cannot be read.
    pub fn with_tools<'a>(
        mut self,
        tools: impl IntoIterator<Item = &'a Tool>,
    ) -> Result<Self, LockError> {
        for tool in tools {
            self.tools.insert(tool.name.clone(), LockedTool::new(tool)?);
        }
        Ok(self)
    }

    /// Adds prompts.
    #[must_use]
    pub fn with_prompts<'a>(mut self, prompts: impl IntoIterator<Item = &'a Prompt>) -> Self {
        for prompt in prompts {
            let arguments = prompt
                .arguments
                .iter()
                .map(|argument| LockedPromptArgument {
                    name: argument.name.clone(),
                    description: argument.description.clone(),
                    required: argument.required == Some(true),
                });
            let locked = LockedPrompt {
                title: prompt.title.clone(),
                description: prompt.description.clone(),
                arguments: arguments.collect(),
            };
            self.prompts.insert(prompt.name.clone(), locked);
        }
        self
    }

    /// Adds resources.
    #[must_use]
    pub fn with_resources<'a>(mut self, resources: impl IntoIterator<Item = &'a Resource>) -> Self {
        for resource in resources {
            let locked = LockedResource {
                name: resource.name.clone(),
                title: resource.title.clone(),
                description: resource.description.clone(),
                mime_type: resource.mime_type.clone(),
            };
            self.resources.insert(resource.uri.clone(), locked);
        }
        self
    }

    /// Adds resource templates.
    #[must_use]
    pub fn with_resource_templates<'a>(
        mut self,
        templates: impl IntoIterator<Item = &'a ResourceTemplate>,
    ) -> Self {
        for template in templates {
            let locked = LockedResource {
                name: template.name.clone(),
                title: template.title.clone(),
                description: template.description.clone(),
                mime_type: template.mime_type.clone(),
            };
            let key = template.uri_template.clone();
            self.resource_templates.insert(key, locked);
        }
        self
    }

    /// Returns what has changed since this was reviewed: first the server itself, then
    /// tools, prompts, resources and templates, by name.
    #[must_use]
    pub fn compare(&self, current: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut found = Differences::default();
        let (old, new) = (&self.instructions, &current.instructions);
        found.text("instructions", old.as_ref(), new.as_ref());
        if !found.is_empty() {
            changes.push(found.into_change(ItemKind::Server, ""));
        }
        let (old, new) = (&self.tools, &current.tools);
        changes.extend(compare_items(ItemKind::Tool, old, new, LockedTool::compare));
        let (old, new) = (&self.prompts, &current.prompts);
        changes.extend(compare_items(
            ItemKind::Prompt,
            old,
            new,
            LockedPrompt::compare,
        ));
        let (old, new) = (&self.resources, &current.resources);
        changes.extend(compare_items(
            ItemKind::Resource,
            old,
            new,
            |old, name, new| old.compare(ItemKind::Resource, name, new),
        ));
        let (old, new) = (&self.resource_templates, &current.resource_templates);
        changes.extend(compare_items(
            ItemKind::Template,
            old,
            new,
            |old, name, new| old.compare(ItemKind::Template, name, new),
        ));
        changes
    }

    /// Takes over from an earlier lock of the same server what it still has: tools
    /// that have not changed keep their spelling, and those without an output schema
    /// keep what was observed of their results.
    #[must_use]
    pub fn with_unchanged_from(mut self, earlier: &Self) -> Self {
        for (name, tool) in &mut self.tools {
            let Some(known) = earlier.tools.get(name) else {
                continue;
            };
            if known.hash == tool.hash {
                *tool = known.clone();
            } else if tool.output_schema.is_none() {
                tool.observed_output.clone_from(&known.observed_output);
            }
        }
        self
    }

    /// Returns the server with its hash, as it is written.
    pub(super) fn with_hash(&self) -> Self {
        Self {
            hash: hash_of(self),
            ..self.clone()
        }
    }

    /// Verifies the hashes that were read. That of the server also includes the names of
    /// its items, which the hash of a tool does not.
    pub(super) fn verify(&mut self, name: &str) -> Result<(), LockError> {
        let mut tools = self.tools.iter();
        if let Some((tool, _)) = tools.find(|(_, tool)| tool.hash != tool.computed_hash()) {
            return Err(LockError::Hash {
                server: name.to_owned(),
                tool: tool.clone(),
            });
        }
        match std::mem::take(&mut self.hash) == hash_of(self) {
            true => Ok(()),
            false => Err(LockError::ServerHash {
                server: name.to_owned(),
            }),
        }
    }
}

fn compare_items<T>(
    item: ItemKind,
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
    compare: impl Fn(&T, &str, &T) -> Option<Change>,
) -> Vec<Change> {
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let changes = names
        .into_iter()
        .filter_map(|name| match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => compare(old, name, new),
            (Some(_), None) => Some(Change::removed(item, name)),
            (None, _) => Some(Change::added(item, name)),
        });
    changes.collect()
}

impl LockedPrompt {
    fn compare(&self, name: &str, current: &Self) -> Option<Change> {
        let mut found = Differences::default();
        found.text("title", self.title.as_ref(), current.title.as_ref());
        let (old, new) = (&self.description, &current.description);
        found.text("description", old.as_ref(), new.as_ref());
        for (index, old) in self.arguments.iter().enumerate() {
            let name = &old.name;
            let Some((index, new)) = current.argument(name) else {
                let pointer = format!("/arguments/{index}");
                found.breaking(&pointer, &format!("`{name}` was removed"));
                continue;
            };
            let pointer = format!("/arguments/{index}");
            match (old.required, new.required) {
                (false, true) => found.breaking(&pointer, &format!("`{name}` is now required")),
                (true, false) => found.compatible(&pointer, &format!("`{name}` is now optional")),
                _ => {}
            }
            let pointer = format!("{pointer}/description");
            let what = format!("description of `{name}`");
            let (old, new) = (old.description.as_ref(), new.description.as_ref());
            found.text_at(&pointer, &what, old, new);
        }
        for (index, new) in current.arguments.iter().enumerate() {
            let (name, pointer) = (&new.name, format!("/arguments/{index}"));
            match self.argument(name) {
                Some(_) => {}
                None if new.required => {
                    found.breaking(&pointer, &format!("`{name}` was added and is required"));
                }
                None => found.compatible(&pointer, &format!("`{name}` was added")),
            }
        }
        (!found.is_empty()).then(|| found.into_change(ItemKind::Prompt, name))
    }

    fn argument(&self, name: &str) -> Option<(usize, &LockedPromptArgument)> {
        let mut arguments = self.arguments.iter().enumerate();
        arguments.find(|(_, argument)| argument.name == name)
    }
}

impl LockedResource {
    fn compare(&self, item: ItemKind, key: &str, current: &Self) -> Option<Change> {
        let mut found = Differences::default();
        found.text("name", Some(&self.name), Some(&current.name));
        found.text("title", self.title.as_ref(), current.title.as_ref());
        let (old, new) = (&self.description, &current.description);
        found.text("description", old.as_ref(), new.as_ref());
        if self.mime_type != current.mime_type {
            found.breaking("/mimeType", "the media type changed");
        }
        (!found.is_empty()).then(|| found.into_change(item, key))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn locked(arguments: &Value) -> LockedServer {
        let prompt = json!({"name": "greet", "arguments": arguments});
        let prompt: Prompt = serde_json::from_value(prompt).expect("a prompt");
        LockedServer::default().with_prompts([&prompt])
    }

    #[test]
    fn differences_of_prompts_are_at_json_pointers() {
        let old = json!([
            {"name": "gone"},
            {"name": "a/b", "description": "old"},
            {"name": "c", "required": true},
        ]);
        let new = json!([
            {"name": "a/b", "description": "new"},
            {"name": "new"},
            {"name": "c"},
        ]);
        let changes = locked(&old).compare(&locked(&new));
        let [change] = &changes[..] else {
            panic!("one prompt changed: {changes:?}");
        };
        let found: Vec<_> = change
            .differences
            .iter()
            .map(|it| (&*it.pointer, &*it.message))
            .collect();
        assert_eq!(
            found,
            [
                ("/arguments/0", "`gone` was removed"),
                (
                    "/arguments/0/description",
                    "the description of `a/b` changed"
                ),
                ("/arguments/2", "`c` is now optional"),
                ("/arguments/1", "`new` was added"),
            ]
        );
    }
}
