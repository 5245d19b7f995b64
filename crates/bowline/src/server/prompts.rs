//! Listing and getting prompts.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    build::BuildError,
    catalog::{Catalog, Shelf},
    converse::{Task, Whole, converse},
    list::{Listed, Shelved},
    needs::Needs,
    prompt::{Arguments, Prompt},
    replay::round::Brought,
    request::{Handled, Request, Taken, Voices},
    route::Part,
    service::{Core, Service},
    talk::{ServerContext, voice::Voice},
    tools::{check_needs, check_scopes, on_the_wire, settle_or_refuse},
};
use crate::proto::{
    jsonrpc::ErrorObject,
    model::{GetPromptParams, ListPromptsResult, method},
    server::{CacheHint, Kind, Reply, errors},
};

impl Listed for Prompt {
    type Page = ListPromptsResult;

    const KIND: &'static str = "prompt";
    const LIST: Kind = Kind::Prompts;
    const CAPABILITY: &'static str = "prompts";
    const METHOD: &'static str = method::PROMPTS_LIST;

    fn name(&self) -> &str {
        self.name()
    }

    fn problem(&self) -> Option<&str> {
        self.shared.problem.as_deref()
    }

    fn completes(&self) -> bool {
        !self.shared.completers.is_empty()
    }

    fn needs(&self) -> Needs {
        self.shared.needs
    }

    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> ListPromptsResult {
        let prompts = items.iter().map(|prompt| prompt.definition().clone());
        let mut page = ListPromptsResult::new(prompts.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = on_the_wire(hint);
        page
    }
}

impl Shelved for Prompt {
    fn shelf(catalog: &mut Catalog) -> &mut Arc<Shelf<Self>> {
        &mut catalog.prompts
    }
}

/// Changing which prompts there are.
impl<S: Send + Sync + 'static> Service<S> {
    /// Offers one more prompt, and tells clients so.
    ///
    /// # Errors
    ///
    /// Where there is one of that name, something is wrong with it, or the
    /// server was built to offer no prompts.
    pub fn add_prompt(&self, prompt: Prompt<S>) -> Result<(), BuildError> {
        self.add(prompt.for_state::<()>())
    }

    /// Offers a prompt no longer, and tells clients so. Says whether there was
    /// one.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove::<Prompt>(name)
    }

    /// Tells clients that the list of prompts is another, by what only the
    /// application knows.
    pub fn prompts_changed(&self) {
        self.announce(Kind::Prompts);
    }

    /// All prompts, in their order, for tests and manifests.
    #[must_use]
    pub fn prompts(&self) -> Vec<Prompt<S>> {
        let prompts = self.core.catalog().prompts.items().to_vec();
        prompts.into_iter().map(Prompt::for_state).collect()
    }
}

/// What a server with prompts answers.
pub(super) static PROMPTS: Part = Part {
    answers: &[
        (method::PROMPTS_LIST, |core, request, _| {
            core.list_shelf(&request, &core.catalog().prompts, &core.hints.prompts)
        }),
        (method::PROMPTS_GET, Core::get_prompt),
        (method::COMPLETION_COMPLETE, Core::complete),
    ],
    shelve: |offer, catalog| {
        catalog.prompts = Arc::new(Shelf::new(std::mem::take(&mut offer.prompts))?);
        Ok(())
    },
};

impl Core {
    fn get_prompt(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Taken {
        let voice = voice(&request);
        self.try_get_prompt(request, voice)
            .unwrap_or_else(|error| Handled::Now(Reply::Error(error)))
            .into()
    }

    fn try_get_prompt(
        self: Arc<Self>,
        request: Request,
        voice: Voice,
    ) -> Result<Handled, ErrorObject> {
        let params: GetPromptParams = request.read()?;
        let catalog = self.catalog();
        let found = catalog.prompts.get(&params.name);
        let prompt = found.ok_or_else(|| errors::unknown_prompt(&params.name))?;
        check_scopes(&prompt.shared.scopes, &request.granted)?;
        check_needs(prompt.shared.needs, &request.context)?;
        let raw = params.arguments.as_ref().map(serde_json::to_vec);
        let raw = raw
            .transpose()
            .map_err(|error| errors::internal(&error.to_string()))?;
        let arguments = Arguments::take(prompt.definition(), params.arguments)?;
        let task = Task {
            name: prompt.name().into(),
            arguments: raw.map(Bytes::from),
            limits: prompt.shared.limits,
            brought: Brought {
                state: params.request_state,
                answers: params.input_responses.unwrap_or_default(),
            },
        };
        let (state, get) = (Arc::clone(&self.state), Arc::clone(&prompt.shared.get));
        let work = Whole(Some(move |call| {
            get(arguments, ServerContext::new(call, state))
        }));
        let work = converse(self, request, voice, task, work, settle_or_refuse);
        Ok(Handled::Later(Box::pin(work)))
    }
}
