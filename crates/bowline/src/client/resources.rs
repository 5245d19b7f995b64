//! Listing, reading and subscribing to resources.

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
    /// Lists all resources, from all pages. Fails if the server does not declare the
    /// `resources` capability, a page cannot be fetched, or the list exceeds a limit.
    pub fn list(self) -> List<'a, Resource> {
        List::new::<ListResourcesParams>(self.client)
    }

    /// Lists all resource templates, from all pages. Fails if the server does not declare
    /// the `resources` capability, a page cannot be fetched, or the list exceeds a limit.
    pub fn templates(self) -> List<'a, ResourceTemplate> {
        List::new::<ListResourceTemplatesParams>(self.client)
    }

    /// Reads a resource.
    pub fn read(self, uri: &str) -> Call<'a, ReadResourceResult> {
        self.client.request(ReadResourceParams::new(uri))
    }

    /// Subscribes to changes of a resource, until the subscription is dropped. The
    /// subscription is restored after a reconnection. Fails if the server returns an
    /// error or does not support subscriptions.
    pub fn subscribe(self, uri: &str) -> Operation<'a, Subscription> {
        let uri: Box<str> = uri.into();
        Operation::new(|options| Subscription::start(self.client, uri, options))
    }
}
