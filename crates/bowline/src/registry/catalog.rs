//! The tools of all servers, under names qualified by their servers.

use super::{RegistryError, qualified_name};
use crate::proto::model::Tool;

/// The tools of all servers, and the servers that could not be listed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Catalog {
    /// The tools, sorted by the names of their servers, then by their own.
    pub tools: Vec<CatalogTool>,
    /// The servers that could not be listed, sorted by name, with the errors.
    pub unavailable: Vec<(Box<str>, RegistryError)>,
}

/// A tool and its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CatalogTool {
    /// The qualified name, by which the registry calls the tool: `server__tool`.
    pub name: String,
    /// The server's name.
    pub server: Box<str>,
    /// The tool, as the server describes it.
    pub tool: Tool,
}

impl Catalog {
    /// Returns the tools under their qualified names, as they are shown to a model.
    #[must_use]
    pub fn into_tools(self) -> Vec<Tool> {
        let renamed = |tool_list: CatalogTool| {
            let mut tool = tool_list.tool;
            tool.name = tool_list.name;
            tool
        };
        self.tools.into_iter().map(renamed).collect()
    }

    /// Adds a server, keeping the order by name.
    pub(super) fn add(&mut self, server: Box<str>, tool_list: Result<Vec<Tool>, RegistryError>) {
        let mut tools = match tool_list {
            Ok(tools) => tools,
            Err(error) => {
                self.unavailable.push((server, error));
                return;
            }
        };
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        self.tools.extend(tools.into_iter().map(|tool| CatalogTool {
            name: qualified_name(&server, &tool.name),
            server: server.clone(),
            tool,
        }));
    }
}
