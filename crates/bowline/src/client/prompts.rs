//! Prompts: list them, get them.

use super::{Call, Client, List};
use crate::proto::model::{GetPromptParams, GetPromptResult, ListPromptsParams, Prompt};

/// The server's prompts. See [`Client::prompts`].
#[derive(Clone, Copy, Debug)]
pub struct Prompts<'a> {
    pub(crate) client: &'a Client,
}

impl<'a> Prompts<'a> {
    /// All prompts, page after page. Fails where the server has no prompts, a
    /// page cannot be had, or the list does not end.
    pub fn list(self) -> List<'a, Prompt> {
        List::new::<ListPromptsParams>(self.client)
    }

    /// Gets a prompt, filled in with arguments.
    pub fn get<K: Into<String>, V: Into<String>>(
        self,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Call<'a, GetPromptResult> {
        let mut params = GetPromptParams::new(name);
        for (key, value) in arguments {
            let arguments = params.arguments.get_or_insert_default();
            arguments.insert(key.into(), value.into());
        }
        self.client.request(params)
    }
}
