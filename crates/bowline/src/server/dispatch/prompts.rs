//! Listing and getting prompts.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    catalog::{Catalog, Section},
    conversation_runner::{SinglePhase, run_conversation},
    list::{CatalogItem, ListItem},
    request::{Dispatched, HandlerReply, OpenChannel, Request},
    router::Feature,
    tools::{cache_fields, check_capabilities, check_scopes, into_result},
};
use crate::{
    proto::{
        jsonrpc::ErrorObject,
        model::{GetPromptParams, ListPromptsResult, method},
        server::{CacheHint, ListKind, Reply, errors},
    },
    server::{
        builder::BuildError,
        capability::CapabilitySet,
        conversation::{HandlerContext, client_channel::ClientChannel},
        prompt::{Arguments, Prompt},
        replay::round::ResumeInput,
        service::{Core, Service},
    },
};

impl ListItem for Prompt {
    type Page = ListPromptsResult;

    const KIND: &'static str = "prompt";
    const LIST_KIND: ListKind = ListKind::Prompts;
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

    fn needs(&self) -> CapabilitySet {
        self.shared.needs
    }

    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> ListPromptsResult {
        let prompts = items.iter().map(|prompt| prompt.definition().clone());
        let mut page = ListPromptsResult::new(prompts.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = cache_fields(hint);
        page
    }
}

impl CatalogItem for Prompt {
    fn section(catalog: &mut Catalog) -> &mut Arc<Section<Self>> {
        &mut catalog.prompts
    }
}

/// Changing prompts at run time.
impl<S: Send + Sync + 'static> Service<S> {
    /// Adds a prompt and notifies clients.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use, the prompt is invalid, or the
    /// server was built without prompts.
    pub fn add_prompt(&self, prompt: Prompt<S>) -> Result<(), BuildError> {
        self.add(prompt.for_state::<()>())
    }

    /// Removes a prompt and notifies clients. Returns whether it existed.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove::<Prompt>(name)
    }

    /// Notifies clients that the list of prompts has changed, for changes that
    /// only the application knows about.
    pub fn prompts_changed(&self) {
        self.notify_list_changed(ListKind::Prompts);
    }

    /// Returns all prompts, in order, for tests and manifests.
    #[must_use]
    pub fn prompts(&self) -> Vec<Prompt<S>> {
        let prompts = self.core.catalog().prompts.items().to_vec();
        prompts.into_iter().map(Prompt::for_state).collect()
    }
}

/// The methods of a server with prompts.
pub(crate) static PROMPTS: Feature = Feature {
    methods: &[
        (method::PROMPTS_LIST, |core, request, _| {
            core.list_section(&request, &core.catalog().prompts, &core.cache_hints.prompts)
        }),
        (method::PROMPTS_GET, Core::get_prompt),
        (method::COMPLETION_COMPLETE, Core::complete),
    ],
    start: None,
    shut_down: None,
    register: |registrations, catalog| {
        catalog.prompts = Arc::new(Section::new(std::mem::take(&mut registrations.prompts))?);
        Ok(())
    },
};

impl Core {
    fn get_prompt(self: Arc<Self>, request: Request, open_channel: OpenChannel<'_>) -> Dispatched {
        let channel = open_channel(&request);
        self.try_get_prompt(request, channel)
            .unwrap_or_else(|error| HandlerReply::Ready(Reply::Error(error)))
            .into()
    }

    fn try_get_prompt(
        self: Arc<Self>,
        request: Request,
        channel: ClientChannel,
    ) -> Result<HandlerReply, ErrorObject> {
        let params: GetPromptParams = request.parse_params()?;
        let catalog = self.catalog();
        let found = catalog.prompts.get(&params.name);
        let prompt = found.ok_or_else(|| errors::unknown_prompt(&params.name))?;
        check_scopes(&prompt.shared.scopes, &request.permissions)?;
        check_capabilities(prompt.shared.needs, &request.context)?;
        let raw = params.arguments.as_ref().map(serde_json::to_vec);
        let raw = raw
            .transpose()
            .map_err(|error| errors::internal_error(&error.to_string()))?;
        let arguments = Arguments::from_params(prompt.definition(), params.arguments)?;
        let resume = ResumeInput {
            state: params.request_state,
            answers: params.input_responses.unwrap_or_default(),
        };
        let limits = prompt.shared.limits;
        let mut invocation = self.invocation(request, prompt.name(), channel, limits);
        invocation.arguments = raw.map(Bytes::from);
        let (state, get) = (Arc::clone(&self.state), Arc::clone(&prompt.shared.get));
        let work = SinglePhase(Some(move |invocation| {
            get(arguments, HandlerContext::new(invocation, state))
        }));
        let work = run_conversation(self, invocation, resume, work, into_result);
        Ok(HandlerReply::Pending(Box::pin(work)))
    }
}
