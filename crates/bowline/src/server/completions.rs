//! Answering what an argument might be.

use std::sync::Arc;

use super::{
    completion::{Completers, Completions, Typed},
    needs::Needs,
    request::{Request, Taken, Voices, later},
    service::Core,
    talk::voice::Voice,
    tools::{check_needs, check_scopes},
};
use crate::proto::{
    jsonrpc::{ErrorObject, code},
    model::{CompleteParams, CompleteResult, Members, Reference},
    server::{Reply, RequestContext, errors},
};

/// What is completed.
enum Found<'a> {
    /// Something with arguments.
    Blanks {
        names: Vec<&'a str>,
        needs: Needs,
        scopes: &'a [Box<str>],
        completers: &'a Completers,
    },
    /// A resource, in which nothing is left to fill in.
    Nothing,
}

impl Core {
    pub(super) fn complete(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Taken {
        let voice = voice(&request);
        later(async move { self.try_complete(request, voice).await })
    }

    async fn try_complete(&self, request: Request, voice: Voice) -> Result<Reply, ErrorObject> {
        let params: CompleteParams = request.read()?;
        let catalog = self.catalog();
        let argument = params.argument;
        let completer = match find(&catalog, &params.reference, &request.context)? {
            Found::Nothing => None,
            Found::Blanks {
                names,
                needs,
                scopes,
                completers,
            } => {
                check_scopes(scopes, &request.granted)?;
                check_needs(needs, &request.context)?;
                if !names.contains(&argument.name.as_str()) {
                    return Err(unknown_argument(&argument.name));
                }
                completers.get(&argument.name)
            }
        };
        let Some(completer) = completer else {
            return Ok(request.answer(completed(Completions::default())));
        };
        let context = params.context.and_then(|context| context.arguments);
        let typed = Typed {
            text: argument.value,
            arguments: known(context),
        };
        let work = async |cx| completer(typed, cx).await.map(completed);
        let name = argument.name.as_str();
        Ok(self.answer_quietly(request, voice, name, work).await)
    }
}

fn find<'a>(
    catalog: &'a super::catalog::Catalog,
    reference: &Reference,
    context: &RequestContext,
) -> Result<Found<'a>, ErrorObject> {
    match reference {
        Reference::Prompt(prompt) => {
            let found = catalog.prompts.get(&prompt.name);
            let prompt = found.ok_or_else(|| errors::unknown_prompt(&prompt.name))?;
            let arguments = prompt.definition().arguments.iter();
            Ok(Found::Blanks {
                names: arguments.map(|argument| argument.name.as_str()).collect(),
                needs: prompt.shared.needs,
                scopes: &prompt.shared.scopes,
                completers: &prompt.shared.completers,
            })
        }
        Reference::Resource(resource) => {
            if let Some(template) = catalog.templates.get(&resource.uri) {
                return Ok(Found::Blanks {
                    names: template.shared.pattern.names().collect(),
                    needs: template.shared.needs,
                    scopes: &template.shared.scopes,
                    completers: &template.shared.completers,
                });
            }
            match catalog.resources.get(&resource.uri) {
                Some(_) => Ok(Found::Nothing),
                None => Err(errors::resource_not_found(context.rules, &resource.uri)),
            }
        }
        _ => Err(ErrorObject::new(
            code::INVALID_PARAMS,
            "Invalid params: ref: neither a prompt nor a resource",
        )),
    }
}

fn known(arguments: Option<Members<String>>) -> super::template::values::Texts {
    let arguments = arguments.into_iter().flatten();
    arguments
        .map(|(name, value)| (name.into_owned(), value))
        .collect()
}

fn completed(completions: Completions) -> CompleteResult {
    CompleteResult::new(completions.into_wire())
}

fn unknown_argument(name: &str) -> ErrorObject {
    let message = format!("Invalid params: there is no argument {name:?}");
    ErrorObject::new(code::INVALID_PARAMS, message)
}
