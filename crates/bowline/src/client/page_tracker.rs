//! Limits for paginated lists.

use std::{
    collections::HashSet,
    fmt,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use tokio::time::Instant;

use super::{Client, Error};
use crate::proto::{ErrorKind, Reason, model::method};

/// The limits for reading a paginated list.
///
/// A list that exceeds one of these limits is an error, which reports how much was read
/// until then. The limits guard against servers whose lists never end, so they are far
/// above what well-behaved servers need. Set them for all lists with
/// [`ClientBuilder::list_limits`](super::ClientBuilder::list_limits), or for one with
/// [`List::limits`](super::List::limits).
///
/// ```
/// use bowline::{Client, client::ListLimits};
///
/// let builder = Client::builder().list_limits(ListLimits::default().max_items(1_000_000));
/// # let _ = builder;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLimits {
    pages: usize,
    items: usize,
    bytes: usize,
}

impl Default for ListLimits {
    /// 10,000 pages, 100,000 items, 64 MiB.
    fn default() -> Self {
        Self {
            pages: 10_000,
            items: 100_000,
            bytes: 64 * 1024 * 1024,
        }
    }
}

impl ListLimits {
    /// Sets the maximum number of pages of one list.
    #[must_use]
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// Sets the maximum number of items of one list. A single page may have up to
    /// 100,000 regardless.
    #[must_use]
    pub fn max_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Sets the maximum size of one list on the wire, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }
}

/// A list fails after this many pages in a row without a new item. One such page can be
/// legitimate: an item was inserted between two requests.
const MAX_STALE_PAGES: usize = 3;

/// The default timeout of a list, as a multiple of the timeout of one request.
const REQUESTS_PER_LIST: u32 = 10;

/// Tracks the pages of one list, for callers that paginate with
/// [`Client::request_raw`]. [`Tools::list`](super::Tools::list) and the other lists do
/// this themselves.
///
/// ```
/// # use bowline::{Client, Error};
/// # use serde_json::{Value, json};
/// # async fn example(client: &Client) -> Result<(), Error> {
/// let mut pages = client.page_tracker("acme/tides");
/// let mut params = json!({});
/// loop {
///     let call = client.request_raw("acme/tides", &params).timeout(pages.page_timeout());
///     let page = call.await?.0;
///     let tides: Value = page.decode().unwrap_or_default();
///     let names = tides["tides"].as_array().into_iter().flatten();
///     let names = names.filter_map(|tide| tide["name"].as_str());
///     let next = tides["nextCursor"].as_str().map(str::to_owned);
///     match pages.record_page(page.get().len(), names, next)? {
///         Some(cursor) => params = json!({ "cursor": cursor }),
///         None => break,
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PageTracker {
    method: Box<str>,
    limits: ListLimits,
    page_timeout: Duration,
    timeout: Duration,
    started_at: Instant,
    totals: Totals,
    cursors: HashSet<String>,
    /// The hashes of the names of all items, to detect pages without new items.
    names: HashSet<u64>,
    hasher: RandomState,
    stale_pages: usize,
}

impl Client {
    /// Creates a tracker for a list, with this client's limits and timeouts.
    #[must_use]
    pub fn page_tracker(&self, method: &str) -> PageTracker {
        let settings = &self.shared().settings;
        let page_timeout = settings.timeouts.for_class(method::class(method));
        PageTracker {
            method: method.into(),
            limits: settings.list_limits,
            page_timeout,
            timeout: page_timeout.saturating_mul(REQUESTS_PER_LIST),
            started_at: Instant::now(),
            totals: Totals::default(),
            cursors: HashSet::new(),
            names: HashSet::new(),
            hasher: RandomState::new(),
            stale_pages: 0,
        }
    }
}

impl PageTracker {
    /// Sets the limits for this list, overriding the client's.
    #[must_use]
    pub fn limits(mut self, limits: ListLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long the whole list may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self.page_timeout = timeout;
        self
    }

    /// Returns how long the next page may take.
    #[must_use]
    pub fn page_timeout(&self) -> Duration {
        let remaining = self.timeout.saturating_sub(self.started_at.elapsed());
        self.page_timeout.min(remaining)
    }

    /// Records a page: its size on the wire, the names of its items, and its cursor.
    /// Returns the cursor for the next request. Only a missing cursor ends a list; an
    /// empty string is a valid cursor.
    ///
    /// # Errors
    ///
    /// Returns an error if the list exceeds a limit, takes too long, or repeats itself.
    pub fn record_page<N: AsRef<str>>(
        &mut self,
        bytes: usize,
        names: impl IntoIterator<Item = N>,
        next: Option<String>,
    ) -> Result<Option<String>, Error> {
        self.totals.pages += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(bytes);
        self.count_items(names);
        if self.totals.items > self.limits.items {
            return Err(self.incomplete(IncompleteReason::Items(self.limits.items)));
        }
        if self.totals.bytes > self.limits.bytes {
            return Err(self.incomplete(IncompleteReason::Bytes(self.limits.bytes)));
        }
        let Some(next) = next else {
            return Ok(None);
        };
        if !self.cursors.insert(next.clone()) {
            return Err(self.incomplete(IncompleteReason::SameCursor));
        }
        if self.stale_pages >= MAX_STALE_PAGES {
            return Err(self.incomplete(IncompleteReason::SameItems(self.stale_pages)));
        }
        if self.totals.pages >= self.limits.pages {
            return Err(self.incomplete(IncompleteReason::Pages(self.limits.pages)));
        }
        if self.is_timed_out() {
            return Err(self.incomplete(IncompleteReason::Timeout(self.timeout)));
        }
        Ok(Some(next))
    }

    /// Checks that a page of this size is within the limit before it is decoded, which
    /// takes many times as much memory.
    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<(), Error> {
        match self.totals.bytes.saturating_add(bytes) > self.limits.bytes {
            true => Err(self.incomplete(IncompleteReason::Bytes(self.limits.bytes))),
            false => Ok(()),
        }
    }

    /// Converts the error of a page into that of the list: a timeout of the whole list
    /// is more specific than one of its last page.
    pub(crate) fn page_error(&self, error: Error) -> Error {
        match error.is_timeout() && self.totals.pages > 0 && self.is_timed_out() {
            true => self.incomplete(IncompleteReason::Timeout(self.timeout)),
            false => error,
        }
    }

    /// Returns the number of pages read.
    #[must_use]
    pub fn pages_read(&self) -> usize {
        self.totals.pages
    }

    /// Returns the number of bytes read, as counted on the wire.
    #[must_use]
    pub fn bytes_read(&self) -> usize {
        self.totals.bytes
    }

    /// Counts the items, and tracks whether any of them is new.
    fn count_items<N: AsRef<str>>(&mut self, names: impl IntoIterator<Item = N>) {
        let before = (self.totals.items, self.names.len());
        for name in names {
            self.totals.items += 1;
            self.names.insert(self.hasher.hash_one(name.as_ref()));
        }
        if self.names.len() > before.1 {
            self.stale_pages = 0;
        } else if self.totals.items > before.0 {
            // Empty pages do not count: servers that filter send them.
            self.stale_pages += 1;
        }
    }

    fn is_timed_out(&self) -> bool {
        self.started_at.elapsed() >= self.timeout
    }

    fn incomplete(&self, reason: IncompleteReason) -> Error {
        Error::incomplete_list(&self.method, IncompleteList(reason, self.totals))
    }
}

/// The totals read from a list.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    pages: usize,
    items: usize,
    bytes: usize,
}

/// Why a list was not read to its end, and how much was read.
#[derive(Debug)]
pub(crate) struct IncompleteList(IncompleteReason, Totals);

#[derive(Debug)]
enum IncompleteReason {
    /// More than this many pages.
    Pages(usize),
    /// More than this many items.
    Items(usize),
    /// More than this many bytes.
    Bytes(usize),
    /// Not complete within this time.
    Timeout(Duration),
    /// A repeated cursor.
    SameCursor,
    /// No new items in this many pages.
    SameItems(usize),
}

impl IncompleteList {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self.0 {
            IncompleteReason::Timeout(_) => ErrorKind::Timeout,
            _ => ErrorKind::Protocol,
        }
    }

    pub(crate) fn reason(&self) -> Reason {
        match self.0 {
            IncompleteReason::Pages(_)
            | IncompleteReason::Items(_)
            | IncompleteReason::Bytes(_) => Reason::ListTooLong,
            IncompleteReason::Timeout(_) => Reason::Timeout,
            IncompleteReason::SameCursor | IncompleteReason::SameItems(_) => {
                Reason::InvalidResponse
            }
        }
    }
}

impl fmt::Display for IncompleteList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(reason, totals) = self;
        match reason {
            IncompleteReason::Pages(limit) => {
                write!(f, "the list exceeds the limit of {limit} pages")?;
            }
            IncompleteReason::Items(limit) => {
                write!(f, "the list exceeds the limit of {limit} items")?;
            }
            IncompleteReason::Bytes(limit) => {
                write!(f, "the list exceeds the limit of {limit} bytes")?;
            }
            IncompleteReason::Timeout(time) => {
                write!(f, "the list timed out after {time:?}")?;
            }
            IncompleteReason::SameCursor => {
                write!(f, "the server repeated a page cursor")?;
            }
            IncompleteReason::SameItems(pages) => {
                write!(
                    f,
                    "the server repeats the same items: {pages} pages in a row had no new items"
                )?;
            }
        }
        let Totals {
            pages,
            items,
            bytes,
        } = totals;
        write!(
            f,
            " (read so far: {pages} pages, {items} items, {bytes} bytes)"
        )?;
        match reason {
            IncompleteReason::Pages(_) => {
                f.write_str("; to read more, raise `ListLimits::max_pages`")
            }
            IncompleteReason::Items(_) => {
                f.write_str("; to read more, raise `ListLimits::max_items`")
            }
            IncompleteReason::Bytes(_) => {
                f.write_str("; to read more, raise `ListLimits::max_bytes`")
            }
            IncompleteReason::Timeout(_) => f.write_str("; to wait longer, raise `timeout`"),
            IncompleteReason::SameCursor | IncompleteReason::SameItems(_) => Ok(()),
        }
    }
}
