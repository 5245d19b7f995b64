//! Listing and getting prompts.

use super::{Call, Client, List};
use crate::proto::model::{GetPromptParams, GetPromptResult, ListPromptsParams, Prompt};

/// The server's prompts. See [`Client::prompts`].
#[derive(Clone, Copy, Debug)]
pub struct Prompts<'a> {
    pub(crate) client: &'a Client,
}

impl<'a> Prompts<'a> {
    /// Lists all prompts, from all pages. Fails if the server does not declare the
    /// `prompts` capability, a page cannot be fetched, or the list exceeds a limit.
    pub fn list(self) -> List<'a, Prompt> {
        List::new::<ListPromptsParams>(self.client)
    }

    /// Gets a prompt, with its arguments filled in.
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
