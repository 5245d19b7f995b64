//! Requests whose results are kept as they came.
//!
//! What `--json` prints is what the server gave: unknown members, order and
//! all. So results are not decoded on the way there.

use std::collections::HashSet;

use bowline::{
    Client, Error,
    proto::{
        ErrorKind,
        jsonrpc::RawJson,
        model::{
            Adapt, Dialect, Extra, Meta, Request, ResultObject, ResultType,
            method::{
                COMPLETION_COMPLETE, DISCOVER, LOGGING_SET_LEVEL, PING, PROMPTS_GET, PROMPTS_LIST,
                RESOURCES_LIST, RESOURCES_READ, RESOURCES_SUBSCRIBE, RESOURCES_TEMPLATES_LIST,
                RESOURCES_UNSUBSCRIBE, TASKS_CANCEL, TASKS_GET, TASKS_LIST, TASKS_RESULT,
                TASKS_UPDATE, TOOLS_CALL, TOOLS_LIST,
            },
        },
    },
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

use crate::{failure::Failure, output::similar};

/// The methods that can be sent. A request of the library's has its method in
/// its type, so that each of these is a type, by its number.
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

/// Sends a request, and gives the result as it came.
pub(crate) async fn send(client: &Client, method: &str, params: Extra) -> Result<RawJson, Failure> {
    Ok(ask(client, method, params).await??)
}

/// Sends a request, and tells the failure of sending it from its end.
pub(crate) async fn ask(
    client: &Client,
    method: &str,
    params: Extra,
) -> Result<Result<RawJson, Error>, Failure> {
    let number = METHODS.iter().position(|known| *known == method);
    let number = number.ok_or_else(|| unknown(method))?;
    Ok(numbered(client, number, Verbatim::new(params)?).await)
}

/// A list that came in pages.
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    /// The items as they came.
    pub(crate) raw: Vec<RawJson>,
    /// The first page, with whatever else it said.
    first: Extra,
    key: &'static str,
}

impl<T> Listed<T> {
    /// The list as one result.
    pub(crate) fn json(&self) -> Result<RawJson, Failure> {
        let mut whole = self.first.clone();
        whole.insert(self.key, encode(&self.raw)?);
        encode(&whole)
    }
}

/// Lists all pages of `key`. A server that does not offer such things has none.
pub(crate) async fn list<T: DeserializeOwned>(
    client: &Client,
    method: &str,
    key: &'static str,
) -> Result<Listed<T>, Failure> {
    let mut listed = Listed {
        items: Vec::new(),
        raw: Vec::new(),
        first: Extra::new(),
        key,
    };
    let mut seen = HashSet::new();
    let mut params = Extra::new();
    loop {
        let page = match ask(client, method, params).await? {
            Err(error) if error.kind() == ErrorKind::Capability => return Ok(listed),
            page => page?,
        };
        let bad = |_| Failure::failed(format!("{method}: the answer is not a list of {key}"));
        let mut page: Extra = page.decode().map_err(bad)?;
        let items = page.get(key).map(RawJson::decode::<Vec<RawJson>>);
        listed
            .raw
            .extend(items.transpose().map_err(bad)?.unwrap_or_default());
        let next = page.remove("nextCursor");
        if seen.is_empty() {
            listed.first = page;
        }
        match next.filter(|cursor| cursor.get() != "null") {
            Some(cursor) if !seen.insert(cursor.get().to_owned()) => {
                let why = format!("{method}: the server's pages lead back to each other");
                return Err(Failure::failed(why));
            }
            Some(cursor) => params = [("cursor", cursor)].into_iter().collect(),
            None => break,
        }
    }
    // One that does not fit must not hide the others.
    let items = listed.raw.iter().filter_map(|item| item.decode().ok());
    listed.items = items.collect();
    Ok(listed)
}

/// A value as JSON.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<RawJson, Failure> {
    RawJson::encode(value).map_err(|error| Failure::usage(error.to_string()))
}

fn unknown(method: &str) -> Failure {
    let failure = Failure::usage(format!("no method `{method}` that a client sends"));
    match similar(method, METHODS) {
        Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
        None => failure.hint(format!("there are {}", METHODS.join(", "))),
    }
}

macro_rules! numbered {
    ($client:expr, $number:expr, $params:expr; $($known:literal)*) => {
        match $number {
            $($known => $client.request(Numbered::<$known>($params)).await,)*
            _ => unreachable!("there are no more methods"),
        }
    };
}

async fn numbered(client: &Client, number: usize, params: Verbatim) -> Result<RawJson, Error> {
    let answer = numbered!(client, number, params; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
    answer.map(|answer| answer.json)
}

/// Params of any kind, with what travels beside them set aside.
struct Verbatim {
    params: Extra,
    meta: Option<Meta>,
}

impl Verbatim {
    fn new(mut params: Extra) -> Result<Self, Failure> {
        let meta = params.remove("_meta").map(|meta| meta.decode());
        let meta = meta.transpose();
        let meta = meta.map_err(|error| Failure::usage(format!("_meta: {error}")))?;
        Ok(Self { params, meta })
    }
}

/// A request with the method of this number.
struct Numbered<const N: usize>(Verbatim);

impl<const N: usize> Request for Numbered<N> {
    const METHOD: &'static str = METHODS[N];
    type Result = Answer;

    fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_ref()
    }

    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.0.meta
    }
}

impl<const N: usize> Adapt for Numbered<N> {
    fn adapt(&mut self, _dialect: &Dialect) {}
}

impl<const N: usize> Serialize for Numbered<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.params.serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Numbered<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let params = Extra::deserialize(deserializer)?;
        Ok(Self(Verbatim { params, meta: None }))
    }
}

/// A result that nobody looked into.
struct Answer {
    json: RawJson,
    meta: Option<Meta>,
}

impl ResultObject for Answer {
    fn result_type(&self) -> Option<&ResultType> {
        None
    }

    fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }
}

impl Adapt for Answer {
    fn adapt(&mut self, _dialect: &Dialect) {}
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Ok(Self { json, meta: None })
    }
}
