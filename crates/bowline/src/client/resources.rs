//! Resources: list them, read them, hear of their changes.

use super::{Call, Client, Error, Subscription, pages};
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
    /// All resources, page after page.
    ///
    /// # Errors
    ///
    /// Where the server has no resources, or a page cannot be had.
    pub async fn list(self) -> Result<Vec<Resource>, Error> {
        pages::all::<ListResourcesParams>(self.client).await
    }

    /// All templates of resources, page after page.
    ///
    /// # Errors
    ///
    /// Where the server has no resources, or a page cannot be had.
    pub async fn templates(self) -> Result<Vec<ResourceTemplate>, Error> {
        pages::all::<ListResourceTemplatesParams>(self.client).await
    }

    /// Reads a resource.
    pub fn read(self, uri: &str) -> Call<'a, ReadResourceResult> {
        self.client.request(ReadResourceParams::new(uri))
    }

    /// Asks to hear of changes to a resource, now and after reconnections, for
    /// as long as the subscription is kept.
    ///
    /// # Errors
    ///
    /// Where the server refuses, or has no subscriptions.
    pub async fn subscribe(self, uri: &str) -> Result<Subscription, Error> {
        Subscription::start(self.client, uri).await
    }
}
