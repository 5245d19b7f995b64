//! Listing and reading resources, of all kinds.

use std::sync::Arc;

use super::{
    catalog::{Catalog, Section},
    conversation_runner::{SinglePhase, run_conversation},
    list::{CatalogItem, ListItem, with_private_scope_if},
    request::{Dispatched, HandlerReply, OpenChannel, Request},
    router::Feature,
    tools::{cache_fields, check_capabilities, check_scopes, into_result},
};
use crate::{
    proto::{
        jsonrpc::ErrorObject,
        model::{
            EmptyResult, ListResourceTemplatesResult, ListResourcesParams, ListResourcesResult,
            ReadResourceParams, ReadResourceResult, method,
        },
        server::{CacheHint, ListKind, Reply, RequestContext, errors},
    },
    server::{
        builder::BuildError,
        capability::CapabilitySet,
        conversation::{Conversation, HandlerContext, client_channel::ClientChannel},
        replay::round::ResumeInput,
        resource::{AnySource, RequestedResource, Resource},
        service::{Core, Service},
        template::ResourceTemplate,
    },
    transport::BoxFuture,
};

/// The cursor at which the list of resources continues in the first source.
const FIRST_SOURCE_CURSOR: &str = "@0";

impl ListItem for Resource {
    type Page = ListResourcesResult;

    const KIND: &'static str = "resource";
    const LIST_KIND: ListKind = ListKind::Resources;
    const CAPABILITY: &'static str = "resources";
    const METHOD: &'static str = method::RESOURCES_LIST;

    fn name(&self) -> &str {
        self.uri()
    }

    fn problem(&self) -> Option<&str> {
        self.shared.problem.as_deref()
    }

    fn needs(&self) -> CapabilitySet {
        self.shared.needs
    }

    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> ListResourcesResult {
        let resources = items.iter().map(|resource| resource.definition().clone());
        let mut page = ListResourcesResult::new(resources.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = cache_fields(hint);
        page
    }
}

impl ListItem for ResourceTemplate {
    type Page = ListResourceTemplatesResult;

    const KIND: &'static str = "resource template";
    const LIST_KIND: ListKind = ListKind::Resources;
    const CAPABILITY: &'static str = "resources";
    const METHOD: &'static str = method::RESOURCES_TEMPLATES_LIST;

    fn name(&self) -> &str {
        self.uri_template()
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

    fn page(
        items: &[&Self],
        next: Option<String>,
        cache_hint: &CacheHint,
    ) -> ListResourceTemplatesResult {
        let templates = items.iter().map(|template| template.definition().clone());
        let mut page = ListResourceTemplatesResult::new(templates.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = cache_fields(cache_hint);
        page
    }
}

impl CatalogItem for Resource {
    fn section(catalog: &mut Catalog) -> &mut Arc<Section<Self>> {
        &mut catalog.resources
    }
}

impl CatalogItem for ResourceTemplate {
    fn section(catalog: &mut Catalog) -> &mut Arc<Section<Self>> {
        &mut catalog.templates
    }
}

/// Changing resources at run time.
impl<S: Send + Sync + 'static> Service<S> {
    /// Adds a resource and notifies clients.
    ///
    /// # Errors
    ///
    /// Returns an error if the URI is in use, the resource is invalid, or the
    /// server was built without resources.
    pub fn add_resource(&self, resource: Resource<S>) -> Result<(), BuildError> {
        self.add(resource.for_state::<()>())
    }

    /// Removes a resource and notifies clients. Returns whether it existed.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove::<Resource>(uri)
    }

    /// Adds a template, after all others, and notifies clients.
    ///
    /// # Errors
    ///
    /// Returns an error if the pattern is in use, the template is invalid, or
    /// the server was built without resources.
    pub fn add_template(&self, template: ResourceTemplate<S>) -> Result<(), BuildError> {
        self.add(template.for_state::<()>())
    }

    /// Removes a template and notifies clients. Returns whether it existed.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.remove::<ResourceTemplate>(uri_template)
    }

    /// Notifies clients that the list of resources has changed, for example
    /// that of a [source](crate::server::ResourceSource).
    pub fn resources_changed(&self) {
        self.notify_list_changed(ListKind::Resources);
    }

    /// Returns all resources with a fixed URI, in order, for tests and
    /// manifests.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource<S>> {
        let resources = self.core.catalog().resources.items().to_vec();
        resources.into_iter().map(Resource::for_state).collect()
    }

    /// Returns all templates, in order, for tests and manifests.
    #[must_use]
    pub fn templates(&self) -> Vec<ResourceTemplate<S>> {
        let templates = self.core.catalog().templates.items().to_vec();
        let templates = templates.into_iter();
        templates.map(ResourceTemplate::for_state).collect()
    }
}

/// The methods of a server with resources.
pub(crate) static RESOURCES: Feature = Feature {
    methods: &[
        (method::RESOURCES_LIST, Core::list_resources),
        (method::RESOURCES_TEMPLATES_LIST, |core, request, _| {
            core.list_section(
                &request,
                &core.catalog().templates,
                &core.cache_hints.templates,
            )
        }),
        (method::RESOURCES_READ, Core::read_resource),
        (method::RESOURCES_SUBSCRIBE, Core::subscribe),
        (method::RESOURCES_UNSUBSCRIBE, |_, request, _| {
            HandlerReply::Ready(request.encode_reply(EmptyResult::default())).into()
        }),
        (method::COMPLETION_COMPLETE, Core::complete),
    ],
    start: None,
    shut_down: None,
    register: |registrations, catalog| {
        let after = (!registrations.sources.is_empty()).then_some(FIRST_SOURCE_CURSOR);
        let resources = Section::new(std::mem::take(&mut registrations.resources))?;
        catalog.resources = Arc::new(resources.with_next_cursor(after));
        catalog.templates = Arc::new(Section::new(std::mem::take(&mut registrations.templates))?);
        Ok(())
    },
};

/// Listing.
impl Core {
    fn list_resources(
        self: Arc<Self>,
        request: Request,
        open_channel: OpenChannel<'_>,
    ) -> Dispatched {
        let params = match request.parse_params::<ListResourcesParams>() {
            Ok(params) => params,
            Err(error) => return HandlerReply::Ready(Reply::Error(error)).into(),
        };
        let resources = &self.catalog().resources;
        let is_section_empty = !self.sources.is_empty() && resources.is_empty_for(&request.context);
        let cursor = match params.cursor {
            None if is_section_empty => Some(FIRST_SOURCE_CURSOR.to_owned()),
            cursor => cursor,
        };
        let reply = match cursor
            .as_deref()
            .and_then(|cursor| cursor.strip_prefix('@'))
        {
            Some(source_cursor) => {
                let (source_cursor, channel) = (source_cursor.to_owned(), open_channel(&request));
                HandlerReply::Pending(Box::pin(self.list_source(request, channel, source_cursor)))
            }
            None => HandlerReply::Ready(self.list(
                &request.context,
                resources,
                cursor.as_deref(),
                &self.resources_cache_hint(resources),
            )),
        };
        reply.into()
    }

    /// Returns the cache hint of the list, which is the same for all pages.
    fn resources_cache_hint(&self, section: &Section<Resource>) -> CacheHint {
        let sources = self.sources.iter();
        let needs = sources.fold(section.needs, |all, source| all.union(source.needs));
        with_private_scope_if(!needs.is_empty(), &self.cache_hints.resources)
    }

    /// Returns a page of a source's list: `1` is the first of the second
    /// source, and `1.abc` the one at its cursor `abc`.
    async fn list_source(
        self: Arc<Self>,
        request: Request,
        channel: ClientChannel,
        source_cursor: String,
    ) -> Reply {
        let (number, cursor) = match source_cursor.split_once('.') {
            Some((number, cursor)) => (number, Some(cursor.to_owned())),
            None => (source_cursor.as_str(), None),
        };
        let number: Option<usize> = number.parse().ok();
        let Some((number, source)) = number.and_then(|at| Some((at, self.sources.get(at)?))) else {
            return Reply::Error(errors::unknown_cursor());
        };
        let declared = CapabilitySet::declared_by(&request.context.client.capabilities);
        let is_visible = source.needs.difference(declared).is_empty();
        let last = number + 1 == self.sources.len();
        let hint = &self.resources_cache_hint(&self.catalog().resources);
        let work = async |cx| {
            let page = match is_visible {
                true => source.list(cursor, cx).await?,
                false => Default::default(),
            };
            let mut result = ListResourcesResult::new(page.resources);
            result.next_cursor = match page.next {
                Some(cursor) => Some(format!("@{number}.{cursor}")),
                None => (!last).then(|| format!("@{}", number + 1)),
            };
            (result.ttl_ms, result.cache_scope) = cache_fields(hint);
            Ok(result)
        };
        self.run_without_questions(request, channel, "resources", work)
            .await
    }
}

/// Reading.
impl Core {
    fn read_resource(
        self: Arc<Self>,
        request: Request,
        open_channel: OpenChannel<'_>,
    ) -> Dispatched {
        let channel = open_channel(&request);
        self.try_read_resource(request, channel)
            .unwrap_or_else(|error| HandlerReply::Ready(Reply::Error(error)))
            .into()
    }

    fn try_read_resource(
        self: Arc<Self>,
        request: Request,
        channel: ClientChannel,
    ) -> Result<HandlerReply, ErrorObject> {
        let params: ReadResourceParams = request.parse_params()?;
        let catalog = self.catalog();
        check_scopes(catalog.resource_scopes(&params.uri), &request.permissions)?;
        let found = self.resolve(&catalog, &params.uri, &request.context)?;
        // A result that depends on answers is not cached.
        let hint = match &params.request_state {
            None => Some(
                found
                    .cache_hint
                    .unwrap_or(&self.cache_hints.contents)
                    .clone(),
            ),
            Some(_) => None,
        };
        let resume = ResumeInput {
            state: params.request_state,
            answers: params.input_responses.unwrap_or_default(),
        };
        let invocation = self.invocation(request, &params.uri, channel, found.limits);
        let state = Arc::clone(&self.state);
        let read = found.read;
        let work = move |invocation| -> BoxFuture<'static, _> {
            let reading = read(HandlerContext::new(invocation, state));
            Box::pin(async move {
                let mut result = reading.await?;
                if let (Some(hint), None) = (hint, result.ttl_ms) {
                    (result.ttl_ms, result.cache_scope) = cache_fields(&hint);
                }
                Ok(result)
            })
        };
        let work = SinglePhase(Some(work));
        let work = run_conversation(self, invocation, resume, work, into_result);
        Ok(HandlerReply::Pending(Box::pin(work)))
    }

    /// Finds what is at a URI: a resource with that URI, the first template
    /// that matches, or the sources.
    fn resolve<'a>(
        &self,
        catalog: &'a Catalog,
        uri: &str,
        context: &RequestContext,
    ) -> Result<ResolvedResource<'a>, ErrorObject> {
        let requested = |mime_type: &Option<String>| RequestedResource {
            uri: uri.to_owned(),
            mime_type: mime_type.clone(),
            rules: context.rules,
        };
        if let Some(resource) = catalog.resources.get(uri) {
            let shared = &resource.shared;
            check_capabilities(shared.needs, context)?;
            let requested = requested(&shared.definition.mime_type);
            let read = Arc::clone(&shared.read);
            return Ok(ResolvedResource {
                limits: shared.limits,
                cache_hint: shared.cache_hint.as_ref(),
                read: Box::new(move |cx| read(requested, cx)),
            });
        }
        let mut templates = catalog.templates.items().iter();
        let matching = templates.find_map(|it| Some((it, it.shared.pattern.parse_uri(uri)?)));
        if let Some((template, variables)) = matching {
            let shared = &template.shared;
            check_capabilities(shared.needs, context)?;
            let requested = requested(&shared.definition.mime_type);
            let read = Arc::clone(&shared.read);
            return Ok(ResolvedResource {
                limits: shared.limits,
                cache_hint: shared.cache_hint.as_ref(),
                read: Box::new(move |cx| read((requested, variables), cx)),
            });
        }
        let declared = CapabilitySet::declared_by(&context.client.capabilities);
        let mut sources: Vec<AnySource> = self.sources.to_vec();
        sources.retain(|source| source.needs.difference(declared).is_empty());
        let requested = requested(&None);
        Ok(ResolvedResource {
            limits: crate::server::CallLimits::default(),
            cache_hint: None,
            read: Box::new(move |cx| Box::pin(read_sources(sources, requested, cx))),
        })
    }
}

/// What was found at a URI.
struct ResolvedResource<'a> {
    limits: crate::server::CallLimits,
    cache_hint: Option<&'a CacheHint>,
    read: ReadFn,
}

/// Reads the resource.
type ReadFn = Box<
    dyn FnOnce(HandlerContext) -> BoxFuture<'static, crate::server::Result<ReadResourceResult>>
        + Send,
>;

async fn read_sources(
    sources: Vec<AnySource>,
    requested: RequestedResource,
    cx: HandlerContext,
) -> crate::server::Result<ReadResourceResult> {
    let cx = Conversation::new(cx);
    for source in sources {
        if let Some(result) = source.read(&requested, cx.clone()).await? {
            return Ok(result);
        }
    }
    Err(requested.not_found())
}
