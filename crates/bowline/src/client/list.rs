//! Paginated lists of tools, resources, templates and prompts.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use super::{Client, Error, ListLimits, call};
use crate::{
    proto::{
        client::{CallOptions, CallPolicy},
        model::{
            self, ListCoreTasksParams, ListCoreTasksResult, ListPromptsParams, ListPromptsResult,
            ListResourceTemplatesParams, ListResourceTemplatesResult, ListResourcesParams,
            ListResourcesResult, ListToolsParams, ListToolsResult, Prompt, RejectedItem, Resource,
            ResourceTemplate, ResultObject as _, Tool,
        },
        task::TaskInfo,
    },
    transport::BoxFuture,
};

/// A list that has not been requested yet. Set its options, then await it.
///
/// All pages are requested, one after the other, within the [`ListLimits`].
///
/// ```
/// # use bowline::{Client, Error};
/// use std::time::Duration;
///
/// # async fn example(client: &Client) -> Result<(), Error> {
/// let tools = client.tools().list().timeout(Duration::from_secs(5)).await?;
/// # drop(tools);
/// # Ok(()) }
/// ```
#[must_use = "a list is only requested when it is awaited"]
pub struct List<'a, T> {
    client: &'a Client,
    options: ListOptions,
    fetch: FetchFn<'a, T>,
    future: Option<BoxFuture<'a, Result<FullList<T>, Error>>>,
}

type FetchFn<'a, T> = fn(&'a Client, ListOptions) -> BoxFuture<'a, Result<FullList<T>, Error>>;

/// A complete list, with the items that were rejected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FullList<T> {
    /// The items, in the order received.
    pub items: Vec<T>,
    /// Invalid items, each with its index in the whole list.
    pub rejected: Vec<RejectedItem>,
    /// The number of pages.
    pub pages: usize,
    /// The size of all pages on the wire, in bytes.
    pub bytes: usize,
}

/// The options of a list request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) call_options: CallOptions,
    limits: Option<ListLimits>,
}

impl<'a, T> List<'a, T> {
    pub(crate) fn new<P: Paged<Item = T> + 'a>(client: &'a Client) -> Self
    where
        T: Send + Sync,
    {
        Self {
            client,
            options: ListOptions::default(),
            fetch: |client, list_options| Box::pin(fetch_all::<P>(client, list_options, |_| {})),
            future: None,
        }
    }

    /// Sets the timeout of the whole list, for all pages together. By default, a page has
    /// the timeout of a request, and the list ten times as much.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.call_options.timeout = Some(timeout);
        self
    }

    /// Waits for the connection if it is down, within the timeout. Without this, a
    /// list requested while the connection is down fails immediately.
    pub fn wait_for_connection(mut self) -> Self {
        self.options.call_options.policy = CallPolicy::WaitForConnection;
        self
    }

    /// Sets the limits for this list, overriding the client's.
    pub fn limits(mut self, limits: ListLimits) -> Self {
        self.options.limits = Some(limits);
        self
    }

    /// Requests the list and also returns the invalid items. Without this, they are left
    /// out, or fail the list if the client is [strict](super::ClientBuilder::strict).
    ///
    /// # Errors
    ///
    /// Returns the same errors as awaiting the list.
    pub async fn with_rejected(self) -> Result<FullList<T>, Error> {
        (self.fetch)(self.client, self.options).await
    }
}

impl<T> Future for List<'_, T> {
    type Output = Result<Vec<T>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let start = || (this.fetch)(this.client, this.options.clone());
        let future = this.future.get_or_insert_with(start);
        let result = future.as_mut().poll(cx);
        result.map(|result| result.map(|result| result.items))
    }
}

impl<T> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl From<CallOptions> for ListOptions {
    fn from(options: CallOptions) -> Self {
        Self {
            call_options: options,
            limits: None,
        }
    }
}

/// Reads all pages of a list and passes each to `on_page`.
///
/// # Errors
///
/// Returns an error if a page cannot be fetched or the list exceeds a limit.
pub(crate) async fn fetch_all<P: Paged>(
    client: &Client,
    list_options: ListOptions,
    mut on_page: impl FnMut(&P::Result) + Send,
) -> Result<FullList<P::Item>, Error> {
    let ListOptions {
        call_options: mut options,
        limits,
    } = list_options;
    let mut pages = client.page_tracker(P::METHOD);
    if let Some(limits) = limits {
        pages = pages.limits(limits);
    }
    if let Some(timeout) = options.timeout {
        pages = pages.timeout(timeout);
    }
    let mut items = Vec::new();
    let mut rejected = Vec::new();
    let mut cursor = None;
    loop {
        options.timeout = Some(pages.page_timeout());
        let call = client.request(P::page(cursor)).options(options.clone());
        let outcome = call.outcome().await?;
        let json = call::outcome_bytes(client.shared(), P::METHOD, outcome);
        let json = json.map_err(|error| pages.page_error(error))?;
        pages.check_bytes(json.len())?;
        let result = P::Result::decode(&json);
        let result = result.map_err(|error| Error::decode(P::METHOD, error))?;
        on_page(&result);
        let page = P::into_page(result);
        let (seen, next) = (rejected.len(), page.next);
        let before = items.len() + seen;
        rejected.extend(page.rejected.into_iter().map(|mut item| {
            item.index += before;
            item
        }));
        if let Some(first) = rejected.first().filter(|_| client.shared().settings.strict) {
            return Err(Error::decode(P::METHOD, first.error.clone()));
        }
        // Invalid items count toward the limits, too.
        let rejected_names = rejected[seen..].iter().map(|item| item.raw.get());
        let names = page.items.iter().map(P::name).chain(rejected_names);
        let next = pages.record_page(json.len(), names, next)?;
        items.extend(page.items);
        cursor = match next {
            Some(next) => Some(next),
            None => break,
        };
    }
    Ok(FullList {
        items,
        rejected,
        pages: pages.pages_read(),
        bytes: pages.bytes_read(),
    })
}

/// A request for a page of a list.
pub(crate) trait Paged: model::Request + Send + Sync {
    /// The type of the items.
    type Item: Send + Sync + 'static;

    /// Returns the request for the page at `cursor`.
    fn page(cursor: Option<String>) -> Self;

    /// Splits a result into its items and cursor.
    fn into_page(result: Self::Result) -> Page<Self::Item>;

    /// Returns the name that identifies an item.
    fn name(item: &Self::Item) -> &str;
}

/// A page of a list.
pub(crate) struct Page<T> {
    items: Vec<T>,
    rejected: Vec<RejectedItem>,
    next: Option<String>,
}

macro_rules! paged {
    ($params:ident => $result:ident, $field:ident: $item:ident by $name:ident) => {
        impl Paged for $params {
            type Item = $item;

            fn page(cursor: Option<String>) -> Self {
                let mut params = Self::default();
                params.cursor = cursor;
                params
            }

            fn into_page(result: $result) -> Page<$item> {
                Page {
                    items: result.$field,
                    rejected: result.rejected,
                    next: result.next_cursor,
                }
            }

            fn name(item: &$item) -> &str {
                &item.$name
            }
        }
    };
}

paged!(ListToolsParams => ListToolsResult, tools: Tool by name);
paged!(ListResourcesParams => ListResourcesResult, resources: Resource by uri);
paged!(ListResourceTemplatesParams => ListResourceTemplatesResult,
    resource_templates: ResourceTemplate by uri_template);
paged!(ListPromptsParams => ListPromptsResult, prompts: Prompt by name);

impl Paged for ListCoreTasksParams {
    type Item = TaskInfo;

    fn page(cursor: Option<String>) -> Self {
        let mut params = Self::default();
        params.cursor = cursor;
        params
    }

    fn into_page(result: ListCoreTasksResult) -> Page<TaskInfo> {
        Page {
            items: result.tasks.into_iter().map(TaskInfo::from).collect(),
            rejected: Vec::new(),
            next: result.next_cursor,
        }
    }

    fn name(task: &TaskInfo) -> &str {
        &task.id
    }
}
