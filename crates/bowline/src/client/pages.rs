//! Lists that come in pages.

use std::collections::HashSet;

use super::{Client, Error};
use crate::proto::model::{
    self, ListPromptsParams, ListPromptsResult, ListResourceTemplatesParams,
    ListResourceTemplatesResult, ListResourcesParams, ListResourcesResult, ListToolsParams,
    ListToolsResult, Prompt, Resource, ResourceTemplate, Tool,
};

/// Follows the pages of a list to the end. Only a missing cursor ends it: an
/// empty one is a cursor like any other.
///
/// # Errors
///
/// Where a page cannot be had, or the pages lead back to each other.
pub(crate) async fn all<P: Paged>(client: &Client) -> Result<Vec<P::Item>, Error> {
    let mut items = Vec::new();
    let mut cursor = None;
    let mut seen = HashSet::new();
    loop {
        let page = client.request(P::page(cursor)).await?;
        let next = P::take(page, &mut items);
        match next {
            Some(next) if !seen.insert(next.clone()) => return Err(Error::cursor_loop(P::METHOD)),
            Some(next) => cursor = Some(next),
            None => return Ok(items),
        }
    }
}

/// A request for a page of a list.
pub(crate) trait Paged: model::Request + Send + Sync {
    /// What is listed.
    type Item: Send;

    /// The request for the page at `cursor`.
    fn page(cursor: Option<String>) -> Self;

    /// Takes the items of a page; gives the cursor of the next.
    fn take(page: Self::Result, items: &mut Vec<Self::Item>) -> Option<String>;
}

macro_rules! paged {
    ($params:ident => $result:ident, $field:ident: $item:ident) => {
        impl Paged for $params {
            type Item = $item;

            fn page(cursor: Option<String>) -> Self {
                let mut params = Self::default();
                params.cursor = cursor;
                params
            }

            fn take(page: $result, items: &mut Vec<$item>) -> Option<String> {
                items.extend(page.$field);
                page.next_cursor
            }
        }
    };
}

paged!(ListToolsParams => ListToolsResult, tools: Tool);
paged!(ListResourcesParams => ListResourcesResult, resources: Resource);
paged!(ListResourceTemplatesParams => ListResourceTemplatesResult, resource_templates: ResourceTemplate);
paged!(ListPromptsParams => ListPromptsResult, prompts: Prompt);
