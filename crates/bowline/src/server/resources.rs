//! Listing and reading resources, whatever they come from.

use std::sync::Arc;

use super::{
    build::BuildError,
    catalog::{Catalog, Shelf},
    converse::{Task, Whole, converse},
    list::{Listed, Shelved, unshared_if},
    needs::Needs,
    replay::round::Brought,
    request::{Handled, Request, Taken, Voices},
    resource::{About, AnySource, Resource},
    route::Part,
    service::{Core, Service},
    talk::{Conversation, ServerContext, voice::Voice},
    template::ResourceTemplate,
    tools::{check_needs, check_scopes, on_the_wire, settle_or_refuse},
};
use crate::{
    proto::{
        jsonrpc::ErrorObject,
        model::{
            EmptyResult, ListResourceTemplatesResult, ListResourcesParams, ListResourcesResult,
            ReadResourceParams, ReadResourceResult, method,
        },
        server::{CacheHint, Kind, Reply, RequestContext, errors},
    },
    transport::BoxFuture,
};

/// Where the list of resources goes on in the first source.
const FIRST_SOURCE: &str = "@0";

impl Listed for Resource {
    type Page = ListResourcesResult;

    const KIND: &'static str = "resource";
    const LIST: Kind = Kind::Resources;
    const CAPABILITY: &'static str = "resources";
    const METHOD: &'static str = method::RESOURCES_LIST;

    fn name(&self) -> &str {
        self.uri()
    }

    fn problem(&self) -> Option<&str> {
        self.shared.problem.as_deref()
    }

    fn needs(&self) -> Needs {
        self.shared.needs
    }

    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> ListResourcesResult {
        let resources = items.iter().map(|resource| resource.definition().clone());
        let mut page = ListResourcesResult::new(resources.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = on_the_wire(hint);
        page
    }
}

impl Listed for ResourceTemplate {
    type Page = ListResourceTemplatesResult;

    const KIND: &'static str = "resource template";
    const LIST: Kind = Kind::Resources;
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

    fn needs(&self) -> Needs {
        self.shared.needs
    }

    fn page(
        items: &[&Self],
        next: Option<String>,
        hint: &CacheHint,
    ) -> ListResourceTemplatesResult {
        let templates = items.iter().map(|template| template.definition().clone());
        let mut page = ListResourceTemplatesResult::new(templates.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = on_the_wire(hint);
        page
    }
}

impl Shelved for Resource {
    fn shelf(catalog: &mut Catalog) -> &mut Arc<Shelf<Self>> {
        &mut catalog.resources
    }
}

impl Shelved for ResourceTemplate {
    fn shelf(catalog: &mut Catalog) -> &mut Arc<Shelf<Self>> {
        &mut catalog.templates
    }
}

/// Changing which resources there are.
impl<S: Send + Sync + 'static> Service<S> {
    /// Offers one more resource, and tells clients so.
    ///
    /// # Errors
    ///
    /// Where there is one at that URI, something is wrong with it, or the
    /// server was built to offer no resources.
    pub fn add_resource(&self, resource: Resource<S>) -> Result<(), BuildError> {
        self.add(resource.for_state::<()>())
    }

    /// Offers a resource no longer, and tells clients so. Says whether there
    /// was one.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove::<Resource>(uri)
    }

    /// Offers one more template, after all others, and tells clients so.
    ///
    /// # Errors
    ///
    /// Where there is one with that pattern, something is wrong with it, or
    /// the server was built to offer no resources.
    pub fn add_template(&self, template: ResourceTemplate<S>) -> Result<(), BuildError> {
        self.add(template.for_state::<()>())
    }

    /// Offers a template no longer, and tells clients so. Says whether there
    /// was one.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.remove::<ResourceTemplate>(uri_template)
    }

    /// Tells clients that the list of resources is another: that a
    /// [source](crate::server::ResourceSource) has others, say.
    pub fn resources_changed(&self) {
        self.announce(Kind::Resources);
    }

    /// All resources that have a URI of their own, in their order, for tests
    /// and manifests.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource<S>> {
        let resources = self.core.catalog().resources.items().to_vec();
        resources.into_iter().map(Resource::for_state).collect()
    }

    /// All templates, in their order, for tests and manifests.
    #[must_use]
    pub fn templates(&self) -> Vec<ResourceTemplate<S>> {
        let templates = self.core.catalog().templates.items().to_vec();
        let templates = templates.into_iter();
        templates.map(ResourceTemplate::for_state).collect()
    }
}

/// What a server with resources answers.
pub(super) static RESOURCES: Part = Part {
    answers: &[
        (method::RESOURCES_LIST, Core::list_resources),
        (method::RESOURCES_TEMPLATES_LIST, |core, request, _| {
            core.list_shelf(&request, &core.catalog().templates, &core.hints.templates)
        }),
        (method::RESOURCES_READ, Core::read_resource),
        (method::RESOURCES_SUBSCRIBE, Core::subscribe),
        (method::RESOURCES_UNSUBSCRIBE, |_, request, _| {
            Handled::Now(request.answer(EmptyResult::default())).into()
        }),
        (method::COMPLETION_COMPLETE, Core::complete),
    ],
    shelve: |offer, catalog| {
        let after = (!offer.sources.is_empty()).then_some(FIRST_SOURCE);
        let resources = Shelf::new(std::mem::take(&mut offer.resources))?;
        catalog.resources = Arc::new(resources.followed_by(after));
        catalog.templates = Arc::new(Shelf::new(std::mem::take(&mut offer.templates))?);
        Ok(())
    },
};

/// Listing.
impl Core {
    fn list_resources(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Taken {
        let params = match request.read::<ListResourcesParams>() {
            Ok(params) => params,
            Err(error) => return Handled::Now(Reply::Error(error)).into(),
        };
        let resources = &self.catalog().resources;
        let nothing_here = !self.sources.is_empty() && resources.shows_nothing_to(&request.context);
        let cursor = match params.cursor {
            None if nothing_here => Some(FIRST_SOURCE.to_owned()),
            cursor => cursor,
        };
        let handled = match cursor
            .as_deref()
            .and_then(|cursor| cursor.strip_prefix('@'))
        {
            Some(place) => {
                let (place, voice) = (place.to_owned(), voice(&request));
                Handled::Later(Box::pin(self.list_source(request, voice, place)))
            }
            None => Handled::Now(self.list(
                &request.context,
                resources,
                cursor.as_deref(),
                &self.resources_hint(resources),
            )),
        };
        handled.into()
    }

    /// How long the list may be kept: all pages of it in the same way.
    fn resources_hint(&self, shelf: &Shelf<Resource>) -> CacheHint {
        let sources = self.sources.iter();
        let needs = sources.fold(shelf.needs, |all, source| all.union(source.needs));
        unshared_if(!needs.is_empty(), &self.hints.resources)
    }

    /// A page of a source's list: `1` is the first of the second source, and
    /// `1.abc` the one that its cursor `abc` leads to.
    async fn list_source(self: Arc<Self>, request: Request, voice: Voice, place: String) -> Reply {
        let (number, cursor) = match place.split_once('.') {
            Some((number, cursor)) => (number, Some(cursor.to_owned())),
            None => (place.as_str(), None),
        };
        let number: Option<usize> = number.parse().ok();
        let Some((number, source)) = number.and_then(|at| Some((at, self.sources.get(at)?))) else {
            return Reply::Error(errors::unknown_cursor());
        };
        let able = Needs::met_by(&request.context.client.capabilities);
        let shown = source.needs.without(able).is_empty();
        let last = number + 1 == self.sources.len();
        let hint = &self.resources_hint(&self.catalog().resources);
        let work = async |cx| {
            let page = match shown {
                true => source.list(cursor, cx).await?,
                false => Default::default(),
            };
            let mut result = ListResourcesResult::new(page.resources);
            result.next_cursor = match page.next {
                Some(cursor) => Some(format!("@{number}.{cursor}")),
                None => (!last).then(|| format!("@{}", number + 1)),
            };
            (result.ttl_ms, result.cache_scope) = on_the_wire(hint);
            Ok(result)
        };
        self.answer_quietly(request, voice, "resources", work).await
    }
}

/// Reading.
impl Core {
    fn read_resource(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Taken {
        let voice = voice(&request);
        self.try_read_resource(request, voice)
            .unwrap_or_else(|error| Handled::Now(Reply::Error(error)))
            .into()
    }

    fn try_read_resource(
        self: Arc<Self>,
        request: Request,
        voice: Voice,
    ) -> Result<Handled, ErrorObject> {
        let params: ReadResourceParams = request.read()?;
        let catalog = self.catalog();
        check_scopes(catalog.resource_scopes(&params.uri), &request.granted)?;
        let found = self.find(&catalog, &params.uri, &request.context)?;
        // What depends on answers is kept by nobody.
        let hint = match &params.request_state {
            None => Some(found.hint.unwrap_or(&self.hints.contents).clone()),
            Some(_) => None,
        };
        let task = Task {
            name: params.uri.as_str().into(),
            arguments: None,
            limits: found.limits,
            brought: Brought {
                state: params.request_state,
                answers: params.input_responses.unwrap_or_default(),
            },
        };
        let state = Arc::clone(&self.state);
        let read = found.read;
        let work = move |call| -> BoxFuture<'static, _> {
            let reading = read(ServerContext::new(call, state));
            Box::pin(async move {
                let mut result = reading.await?;
                if let (Some(hint), None) = (hint, result.ttl_ms) {
                    (result.ttl_ms, result.cache_scope) = on_the_wire(&hint);
                }
                Ok(result)
            })
        };
        let work = Whole(Some(work));
        let work = converse(self, request, voice, task, work, settle_or_refuse);
        Ok(Handled::Later(Box::pin(work)))
    }

    /// What is at a URI: a resource of its own, what the first template that
    /// fits stands for, or what the sources have there.
    fn find<'a>(
        &self,
        catalog: &'a Catalog,
        uri: &str,
        context: &RequestContext,
    ) -> Result<Found<'a>, ErrorObject> {
        let about = |mime_type: &Option<String>| About {
            uri: uri.to_owned(),
            mime_type: mime_type.clone(),
            rules: context.rules,
        };
        if let Some(resource) = catalog.resources.get(uri) {
            let shared = &resource.shared;
            check_needs(shared.needs, context)?;
            let about = about(&shared.definition.mime_type);
            let read = Arc::clone(&shared.read);
            return Ok(Found {
                limits: shared.limits,
                hint: shared.hint.as_ref(),
                read: Box::new(move |cx| read(about, cx)),
            });
        }
        let mut templates = catalog.templates.items().iter();
        let fitting = templates.find_map(|it| Some((it, it.shared.pattern.read(uri)?)));
        if let Some((template, variables)) = fitting {
            let shared = &template.shared;
            check_needs(shared.needs, context)?;
            let about = about(&shared.definition.mime_type);
            let read = Arc::clone(&shared.read);
            return Ok(Found {
                limits: shared.limits,
                hint: shared.hint.as_ref(),
                read: Box::new(move |cx| read((about, variables), cx)),
            });
        }
        let able = Needs::met_by(&context.client.capabilities);
        let mut sources: Vec<AnySource> = self.sources.to_vec();
        sources.retain(|source| source.needs.without(able).is_empty());
        let about = about(&None);
        Ok(Found {
            limits: super::Limits::default(),
            hint: None,
            read: Box::new(move |cx| Box::pin(read_sources(sources, about, cx))),
        })
    }
}

/// What is found at a URI.
struct Found<'a> {
    limits: super::Limits,
    hint: Option<&'a CacheHint>,
    read: Reading,
}

/// Reads it.
type Reading =
    Box<dyn FnOnce(ServerContext) -> BoxFuture<'static, super::Result<ReadResourceResult>> + Send>;

async fn read_sources(
    sources: Vec<AnySource>,
    about: About,
    cx: ServerContext,
) -> super::Result<ReadResourceResult> {
    let cx = Conversation::new(cx);
    for source in sources {
        if let Some(result) = source.read(&about, cx.clone()).await? {
            return Ok(result);
        }
    }
    Err(about.not_found())
}
