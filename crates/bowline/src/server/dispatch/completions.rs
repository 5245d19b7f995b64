//! Completion requests.

use std::sync::Arc;

use super::{
    request::{Dispatched, OpenChannel, Request, pending},
    tools::{check_capabilities, check_scopes},
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        model::{CompleteParams, CompleteResult, Members, Reference},
        server::{Reply, RequestContext, errors},
    },
    server::{
        capability::CapabilitySet,
        completion::{Completers, CompletionInput, Completions},
        conversation::client_channel::ClientChannel,
        service::Core,
    },
};

/// The target of a completion.
enum CompletionTarget<'a> {
    /// An item with arguments.
    Arguments {
        names: Vec<&'a str>,
        needs: CapabilitySet,
        scopes: &'a [Box<str>],
        completers: &'a Completers,
    },
    /// A resource, which has no arguments.
    Resource,
}

impl Core {
    pub(crate) fn complete(
        self: Arc<Self>,
        request: Request,
        open_channel: OpenChannel<'_>,
    ) -> Dispatched {
        let channel = open_channel(&request);
        pending(async move { self.try_complete(request, channel).await })
    }

    async fn try_complete(
        &self,
        request: Request,
        channel: ClientChannel,
    ) -> Result<Reply, ErrorObject> {
        let params: CompleteParams = request.parse_params()?;
        let catalog = self.catalog();
        let argument = params.argument;
        let completer = match resolve_reference(&catalog, &params.reference, &request.context)? {
            CompletionTarget::Resource => None,
            CompletionTarget::Arguments {
                names,
                needs,
                scopes,
                completers,
            } => {
                check_scopes(scopes, &request.permissions)?;
                check_capabilities(needs, &request.context)?;
                if !names.contains(&argument.name.as_str()) {
                    return Err(unknown_argument(&argument.name));
                }
                completers.get(&argument.name)
            }
        };
        let Some(completer) = completer else {
            return Ok(request.encode_reply(into_result(Completions::default())));
        };
        let context = params.context.and_then(|context| context.arguments);
        let input = CompletionInput {
            prefix: argument.value,
            arguments: argument_map(context),
        };
        let work = async |cx| completer(input, cx).await.map(into_result);
        let name = argument.name.as_str();
        Ok(self
            .run_without_questions(request, channel, name, work)
            .await)
    }
}

fn resolve_reference<'a>(
    catalog: &'a super::catalog::Catalog,
    reference: &Reference,
    context: &RequestContext,
) -> Result<CompletionTarget<'a>, ErrorObject> {
    match reference {
        Reference::Prompt(prompt) => {
            let found = catalog.prompts.get(&prompt.name);
            let prompt = found.ok_or_else(|| errors::unknown_prompt(&prompt.name))?;
            let arguments = prompt.definition().arguments.iter();
            Ok(CompletionTarget::Arguments {
                names: arguments.map(|argument| argument.name.as_str()).collect(),
                needs: prompt.shared.needs,
                scopes: &prompt.shared.scopes,
                completers: &prompt.shared.completers,
            })
        }
        Reference::Resource(resource) => {
            if let Some(template) = catalog.templates.get(&resource.uri) {
                return Ok(CompletionTarget::Arguments {
                    names: template.shared.pattern.names().collect(),
                    needs: template.shared.needs,
                    scopes: &template.shared.scopes,
                    completers: &template.shared.completers,
                });
            }
            match catalog.resources.get(&resource.uri) {
                Some(_) => Ok(CompletionTarget::Resource),
                None => Err(errors::resource_not_found(context.rules, &resource.uri)),
            }
        }
        _ => Err(ErrorObject::new(
            code::INVALID_PARAMS,
            "Invalid params: ref: neither a prompt nor a resource",
        )),
    }
}

fn argument_map(
    arguments: Option<Members<String>>,
) -> crate::server::template::string_map::StringMap {
    let arguments = arguments.into_iter().flatten();
    arguments
        .map(|(name, value)| (name.into_owned(), value))
        .collect()
}

fn into_result(completions: Completions) -> CompleteResult {
    CompleteResult::new(completions.into_completion())
}

fn unknown_argument(name: &str) -> ErrorObject {
    let message = format!("Invalid params: unknown argument {name:?}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}
