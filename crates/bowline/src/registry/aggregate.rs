//! All servers of a registry as one: their tools listed together and called by name.

use std::sync::Arc;

use serde::Serialize;

use super::{Batch, Catalog, Registry, RegistryError, name, name::NameError};
use crate::{
    client::{Client, Error, ToolCall},
    proto::{
        Reason,
        jsonrpc::{EncodeError, RawJson},
        model::{CallToolResult, ReadResourceResult, Tool, method},
    },
};

/// Operations across all servers.
impl Registry {
    /// Lists the tools of all servers. Servers that cannot be reached are reported in
    /// [`Catalog::unavailable`]; the others are listed regardless. Servers without the `tools`
    /// capability have no tools.
    pub async fn tools(&self) -> Catalog {
        let names = self.names();
        let listings = names
            .iter()
            .map(|name| Box::pin(self.server_tools(name)) as _);
        let listings = Batch::new(listings).await;
        let mut catalog = Catalog::default();
        for (name, listing) in names.into_iter().zip(listings) {
            // A server that was removed in the meantime is not missing.
            if !matches!(listing, Err(RegistryError::Name(_))) {
                catalog.add(name, listing);
            }
        }
        catalog
    }

    /// Resolves a name from [`tools`](Self::tools) to its server and tool. Starts the
    /// server if it is not running.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has no server part or the server is unknown.
    pub fn resolve<'n>(&self, name: &'n str) -> Result<(Client, &'n str), NameError> {
        let (server, tool) = name::split_qualified(name)?;
        Ok((self.client(server)?, tool))
    }

    /// Calls a tool by its name in [`tools`](Self::tools). Starts the server if it is
    /// not running, and waits for it.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown or cannot be reached, or if the call
    /// fails.
    pub async fn call<A: Serialize>(
        &self,
        name: &str,
        arguments: A,
    ) -> Result<CallToolResult, RegistryError> {
        self.call_with(name, arguments, |call| call).await
    }

    /// Calls a tool, as [`call`](Self::call) does, with options that `configure` sets.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_with<A: Serialize>(
        &self,
        name: &str,
        arguments: A,
        configure: impl for<'c> FnOnce(ToolCall<'c>) -> ToolCall<'c>,
    ) -> Result<CallToolResult, RegistryError> {
        let (server, tool) = name::split_qualified(name)?;
        let client = self.start(server).await?;
        let result = configure(client.tools().call(tool, arguments)).await;
        result.map_err(|error| RegistryError::failed(server, error))
    }

    /// Reads a resource of a server. Starts the server if it is not running, and waits
    /// for it. This bypasses the cache; to use it, call
    /// [`cached_client`](Self::cached_client).
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown or cannot be reached, or if the call
    /// fails.
    pub async fn read(&self, server: &str, uri: &str) -> Result<ReadResourceResult, RegistryError> {
        let client = self.start(server).await?;
        let result = client.resources().read(uri).await;
        result.map_err(|error| RegistryError::failed(server, error))
    }

    /// Calls several tools, of one or several servers, as [`call`](Self::call) does.
    pub fn call_many<N: AsRef<str>, A: Serialize>(
        &self,
        calls: impl IntoIterator<Item = (N, A)>,
    ) -> Batch<'static, Result<CallToolResult, RegistryError>> {
        let calls = calls.into_iter();
        Batch::new(calls.map(|(name, arguments)| {
            let (registry, name) = (self.clone(), Box::<str>::from(name.as_ref()));
            let arguments = RawJson::encode(&arguments);
            Box::pin(async move {
                let arguments = arguments.map_err(|error| encode_error(&name, error.into()))?;
                registry.call(&name, arguments).await
            }) as _
        }))
    }

    /// Reads several resources, each given with the name of its server, as
    /// [`read`](Self::read) does.
    pub fn read_many<S: AsRef<str>, U: AsRef<str>>(
        &self,
        resources: impl IntoIterator<Item = (S, U)>,
    ) -> Batch<'static, Result<ReadResourceResult, RegistryError>> {
        let resources = resources.into_iter();
        Batch::new(resources.map(|(server, uri)| {
            let registry = self.clone();
            let (server, uri) = (server.as_ref().to_owned(), uri.as_ref().to_owned());
            Box::pin(async move { registry.read(&server, &uri).await }) as _
        }))
    }

    async fn server_tools(&self, server: &str) -> Result<Vec<Tool>, RegistryError> {
        let listed = match &self.shared.cache {
            Some(_) => self.cached_client(server)?.tools().await,
            None => {
                let client = self.start(server).await?;
                client.tools().list().await.map(Arc::new).map_err(Arc::new)
            }
        };
        match listed {
            Ok(tools) => Ok(Arc::unwrap_or_clone(tools)),
            Err(error) if error.reason() == Reason::CapabilityNotSupported => Ok(Vec::new()),
            Err(error) => Err(RegistryError::failed(server, error)),
        }
    }
}

fn encode_error(name: &str, error: EncodeError) -> RegistryError {
    let server = name::split_qualified(name).map_or(name, |(server, _)| server);
    RegistryError::failed(server, Error::encode(method::TOOLS_CALL, error))
}
