//! Resources: list them, read them, hear of their changes.

use super::{Call, Client, List, Operation, Subscription};
use crate::proto::model::{
    ListResourceTemplatesParams, ListResourcesParams, ReadResourceParams, ReadResourceResult,
    Resource, ResourceTemplate,
};

/// The server's resources. See [`Client::resources`].
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a> {
    pub(crate) client: &'a Client,
}

impl<'a> Resources<'a> {
    /// All resources, page after page. Fails where the server has no
    /// resources, a page cannot be had, or the list does not end.
    pub fn list(self) -> List<'a, Resource> {
        List::new::<ListResourcesParams>(self.client)
    }

    /// All templates of resources, page after page. Fails where the server has
    /// no resources, a page cannot be had, or the list does not end.
    pub fn templates(self) -> List<'a, ResourceTemplate> {
        List::new::<ListResourceTemplatesParams>(self.client)
    }

    /// Reads a resource.
    pub fn read(self, uri: &str) -> Call<'a, ReadResourceResult> {
        self.client.request(ReadResourceParams::new(uri))
    }

    /// Asks to hear of changes to a resource, now and after reconnections, for
    /// as long as the subscription is kept. Fails where the server refuses, or
    /// has no subscriptions.
    pub fn subscribe(self, uri: &str) -> Operation<'a, Subscription> {
        let uri: Box<str> = uri.into();
        Operation::new(|options| Subscription::start(self.client, uri, options))
    }
}
