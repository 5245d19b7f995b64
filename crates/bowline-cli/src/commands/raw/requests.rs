//! Requests whose results are kept verbatim.
//!
//! `--json` prints what the server sent, including unknown members and their
//! order, so results are not decoded on the way.

use bowline::{
    Client, Error, ErrorKind, RawJson, Reason,
    model::{
        Extra,
        method::{
            COMPLETION_COMPLETE, DISCOVER, LOGGING_SET_LEVEL, PING, PROMPTS_GET, PROMPTS_LIST,
            RESOURCES_LIST, RESOURCES_READ, RESOURCES_SUBSCRIBE, RESOURCES_TEMPLATES_LIST,
            RESOURCES_UNSUBSCRIBE, TASKS_CANCEL, TASKS_GET, TASKS_LIST, TASKS_RESULT, TASKS_UPDATE,
            TOOLS_CALL, TOOLS_LIST,
        },
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{failure::Failure, output::closest_name};

/// The methods of the protocol. Servers may have others.
pub(crate) const METHODS: [&str; 18] = [
    DISCOVER,
    PING,
    TOOLS_LIST,
    TOOLS_CALL,
    RESOURCES_LIST,
    RESOURCES_TEMPLATES_LIST,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    RESOURCES_UNSUBSCRIBE,
    PROMPTS_LIST,
    PROMPTS_GET,
    COMPLETION_COMPLETE,
    LOGGING_SET_LEVEL,
    TASKS_GET,
    TASKS_RESULT,
    TASKS_LIST,
    TASKS_CANCEL,
    TASKS_UPDATE,
];

/// Sends a request and returns the raw result.
pub(crate) async fn send(client: &Client, method: &str, params: Extra) -> Result<RawJson, Failure> {
    request(client, method, params).await.map_err(|error| {
        let is_unknown = error.reason() == Reason::MethodNotFound && !METHODS.contains(&method);
        let failure = Failure::from(error);
        match closest_name(method, METHODS).filter(|_| is_unknown) {
            Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
            None => failure,
        }
    })
}

/// Sends a request and returns the raw result, or the unconverted error.
pub(crate) async fn request(
    client: &Client,
    method: &str,
    params: Extra,
) -> Result<RawJson, Error> {
    client
        .request_raw(method, &params)
        .await
        .map(|answer| answer.0)
}

/// A list that was fetched page by page.
pub(crate) struct RawList<T> {
    pub(crate) items: Vec<T>,
    /// The raw items.
    pub(crate) raw: Vec<RawJson>,
    /// The first page's other members.
    first_page: Extra,
    key: &'static str,
}

impl<T> RawList<T> {
    /// Returns the list as one result.
    pub(crate) fn json(&self) -> Result<RawJson, Failure> {
        let mut merged = self.first_page.clone();
        merged.insert(self.key, encode(&self.raw)?);
        encode(&merged)
    }
}

/// Lists all pages of `key`. Returns an empty list if the server does not have
/// the capability.
pub(crate) async fn list<T: DeserializeOwned>(
    client: &Client,
    method: &str,
    key: &'static str,
) -> Result<RawList<T>, Failure> {
    let mut listed = RawList {
        items: Vec::new(),
        raw: Vec::new(),
        first_page: Extra::new(),
        key,
    };
    let mut pages = client.page_tracker(method);
    let mut params = Extra::new();
    loop {
        let call = client
            .request_raw(method, &params)
            .timeout(pages.page_timeout());
        let page = match call.await {
            Err(error) if error.kind() == ErrorKind::Capability => return Ok(listed),
            page => page?.0,
        };
        let bytes = page.get().len();
        let invalid_page =
            |_| Failure::failed(format!("{method}: invalid response: not a list of {key}"));
        let mut page: Extra = page.decode().map_err(invalid_page)?;
        let items = page.get(key).map(RawJson::decode::<Vec<RawJson>>);
        let items = items.transpose().map_err(invalid_page)?.unwrap_or_default();
        let next = page.remove("nextCursor");
        let next = next.map(|next| next.decode::<Option<String>>());
        let next = next.transpose().map_err(invalid_page)?.flatten();
        if pages.pages_read() == 0 {
            listed.first_page = page;
        }
        let names = items.iter().map(|item| item_key(item, key));
        let next = pages.record_page(bytes, names, next);
        listed.raw.extend(items);
        match next.map_err(|error| list_failure(method, error))? {
            Some(cursor) => params = [("cursor", encode(&cursor)?)].into_iter().collect(),
            None => break,
        }
    }
    // An invalid item must not hide the others.
    let items = listed.raw.iter().filter_map(|item| item.decode().ok());
    listed.items = items.collect();
    Ok(listed)
}

/// Returns what identifies an item in its list.
fn item_key(item: &RawJson, key: &str) -> String {
    let name = item.decode::<ItemNames>().ok().and_then(|named| match key {
        "resources" => named.uri,
        "resourceTemplates" => named.uri_template,
        _ => named.name,
    });
    name.unwrap_or_else(|| item.get().to_owned())
}

/// The members that identify an item.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemNames {
    name: Option<String>,
    uri: Option<String>,
    uri_template: Option<String>,
}

/// Converts the error of a list, with a hint for lists that exceed the limits.
fn list_failure(method: &str, error: Error) -> Failure {
    let is_too_long = error.reason() == Reason::ListTooLong;
    let failure = Failure::from(error);
    match is_too_long {
        true => failure.hint(format!(
            "`bowline raw SERVER {method}` fetches a single page and accepts a cursor"
        )),
        false => failure,
    }
}

/// Encodes a value as JSON.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<RawJson, Failure> {
    RawJson::encode(value).map_err(|error| Failure::usage(error.to_string()))
}
