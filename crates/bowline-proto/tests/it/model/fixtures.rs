//! The fixture messages: every kind of every revision, by type.
//!
//! A fixture file maps type names to named cases. The files hold what the
//! revision's own schema allows.

use std::sync::LazyLock;

use bowline_proto::{
    model::{Adapt, DecodeError, WireFeatures, decode},
    revision::Revision,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// One message of one revision.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) revision: Revision,
    pub(crate) kind: Kind,
    pub(crate) case: String,
    pub(crate) json: Value,
}

/// A message type, with what tests do to any of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Decodes and encodes.
    pub(crate) round_trip: fn(&str) -> Result<Value, DecodeError>,
    /// Decodes, adapts and encodes.
    pub(crate) adapt: fn(&str, &WireFeatures) -> Result<Value, DecodeError>,
}

impl Kind {
    fn of<T: Serialize + DeserializeOwned + Adapt>(name: &'static str) -> Self {
        Self {
            name,
            round_trip: |text| Ok(encode(&decode::<T>(text.as_bytes())?)),
            adapt: |text, features| {
                let mut message = decode::<T>(text.as_bytes())?;
                message.adapt(features);
                Ok(encode(&message))
            },
        }
    }
}

/// All fixtures of all revisions.
pub(crate) static ALL: LazyLock<Vec<Fixture>> = LazyLock::new(load);

#[test]
fn every_fixture_survives_a_round_trip() {
    for fixture in ALL.iter() {
        let back = (fixture.kind.round_trip)(&fixture.json.to_string());
        let (revision, name, case) = (fixture.revision, fixture.kind.name, &fixture.case);
        assert_eq!(
            back.as_ref(),
            Ok(&fixture.json),
            "{revision} {name}: {case}"
        );
    }
}

#[test]
fn every_type_has_a_fixture() {
    for kind in kinds() {
        assert!(
            ALL.iter().any(|fixture| fixture.kind.name == kind.name),
            "{} has none",
            kind.name
        );
    }
}

#[test]
fn every_fixture_stays_as_it_is_in_its_own_revision() {
    for fixture in ALL.iter() {
        let adapted = (fixture.kind.adapt)(
            &fixture.json.to_string(),
            &fixture.revision.rules().features,
        );
        let (revision, name, case) = (fixture.revision, fixture.kind.name, &fixture.case);
        assert_eq!(
            adapted.as_ref(),
            Ok(&fixture.json),
            "{revision} {name}: {case}"
        );
    }
}

fn load() -> Vec<Fixture> {
    let kinds = kinds();
    let mut fixtures = Vec::new();
    for (version, text) in FILES {
        let revision = Revision::parse(version).expect("a directory is named for its revision");
        let file: Map<String, Value> = serde_json::from_str(text).expect("a fixture file is JSON");
        for (name, cases) in file {
            let kind = *kinds
                .iter()
                .find(|kind| kind.name == name)
                .unwrap_or_else(|| panic!("{version} has fixtures of an unknown type {name}"));
            let Value::Object(cases) = cases else {
                panic!("{version} {name} should be an object of cases");
            };
            fixtures.extend(cases.into_iter().map(|(case, json)| Fixture {
                revision,
                kind,
                case,
                json,
            }));
        }
    }
    fixtures
}

fn encode<T: Serialize>(message: &T) -> Value {
    let text = serde_json::to_string(message).expect("messages encode");
    serde_json::from_str(&text).expect("what we write is JSON")
}

macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        fn kinds() -> Vec<Kind> {
            vec![$(Kind::of::<bowline_proto::model::$name>(stringify!($name))),*]
        }
    };
}

kinds![
    CallToolParams,
    CallToolResult,
    CancelCoreTaskParams,
    CancelCoreTaskResult,
    CancelTaskParams,
    CancelledParams,
    ClientCapabilities,
    CompleteParams,
    CompleteResult,
    ContentBlock,
    CoreTask,
    CoreTaskPayload,
    CoreTaskResultParams,
    CoreTaskStatusParams,
    CreateCoreTaskResult,
    CreateMessageParams,
    CreateMessageResult,
    CreateTaskResult,
    DiscoverParams,
    DiscoverResult,
    ElicitParams,
    ElicitResult,
    ElicitationCompleteParams,
    EmptyResult,
    GetCoreTaskParams,
    GetCoreTaskResult,
    GetPromptParams,
    GetPromptResult,
    GetTaskParams,
    GetTaskResult,
    Implementation,
    InitializeParams,
    InitializeResult,
    InitializedParams,
    InputRequiredResult,
    InputResponses,
    ListCoreTasksParams,
    ListCoreTasksResult,
    ListPromptsParams,
    ListPromptsResult,
    ListResourceTemplatesParams,
    ListResourceTemplatesResult,
    ListResourcesParams,
    ListResourcesResult,
    ListRootsParams,
    ListRootsResult,
    ListToolsParams,
    ListToolsResult,
    LoggingMessageParams,
    MissingCapabilityData,
    PingParams,
    ProgressParams,
    Prompt,
    PromptListChangedParams,
    ReadResourceParams,
    ReadResourceResult,
    RelatedTask,
    Resource,
    ResourceListChangedParams,
    ResourceNotFoundData,
    ResourceTemplate,
    ResourceUpdatedParams,
    RootsListChangedParams,
    SamplingMessage,
    ServerCapabilities,
    SetLevelParams,
    SubscribeParams,
    SubscriptionsAcknowledgedParams,
    SubscriptionsListenParams,
    SubscriptionsListenResult,
    TaskChangedParams,
    Tool,
    ToolListChangedParams,
    UnsubscribeParams,
    UnsupportedVersionData,
    UpdateTaskParams,
    UrlElicitationRequiredData,
];

macro_rules! files {
    ($($revision:literal),*) => {
        const FILES: &[(&str, &str)] = &[$(
            ($revision, include_str!(concat!("../../fixtures/", $revision, "/lifecycle.json"))),
            ($revision, include_str!(concat!("../../fixtures/", $revision, "/server.json"))),
            ($revision, include_str!(concat!("../../fixtures/", $revision, "/client.json"))),
        )*];
    };
}

files!(
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28"
);
