//! The tools of all servers, under names that say whose they are.

use super::{RegistryError, qualified_name};
use crate::proto::model::Tool;

/// The tools of all servers, and which servers could not be asked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Catalog {
    /// The tools, in the order of their servers' names, then of their own.
    pub tools: Vec<CatalogTool>,
    /// The servers that could not be asked, in the order of their names, and
    /// why.
    pub unavailable: Vec<(Box<str>, RegistryError)>,
}

/// A tool, and whose it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CatalogTool {
    /// The name by which the registry calls it: `server__tool`.
    pub name: String,
    /// The server's name.
    pub server: Box<str>,
    /// The tool, as the server describes it.
    pub tool: Tool,
}

impl Catalog {
    /// The tools as a model is shown them: under the names by which the
    /// registry calls them.
    #[must_use]
    pub fn into_tools(self) -> Vec<Tool> {
        let renamed = |tool_list: CatalogTool| {
            let mut tool = tool_list.tool;
            tool.name = tool_list.name;
            tool
        };
        self.tools.into_iter().map(renamed).collect()
    }

    /// Puts a server in, after those whose names come before.
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
