//! Filling in a form at the terminal.

use bowline::{
    client::check_answer,
    model::{ElicitParams, ElicitResult, ElicitSchema, Members, PropertySchema},
};
use serde_json::{Map, Value};

use super::{
    field, indented,
    letter_choice::{Choice, choose},
    preset::FilledForm,
    terminal::Terminal,
};
use crate::output::{Style, escape_control};

/// Asks for every field until the user submits, declines or cancels the form.
/// Fields already answered are skipped, unless the answer is invalid.
pub(crate) async fn ask(
    terminal: &Terminal,
    server_name: &str,
    params: &ElicitParams,
    filled: FilledForm,
) -> ElicitResult {
    let empty = ElicitSchema::new(Members::new());
    let form = params.requested_schema.as_ref().unwrap_or(&empty);
    let dialog = FormDialog { terminal, form };
    let paint = terminal.paint();
    terminal.print("");
    terminal.print(format!("{} asks:", paint.bold(server_name)));
    terminal.print(indented(&params.message));
    if !form.properties.is_empty() {
        let help = "  (Enter accepts the value in brackets, Ctrl-D cancels)";
        terminal.print(paint.dim(help));
    }
    match dialog.run(server_name, filled).await {
        Some(FormResult::Accepted(content)) => {
            ElicitResult::accept_with(&content).unwrap_or_else(|_| ElicitResult::cancel())
        }
        Some(FormResult::Declined) => ElicitResult::decline(),
        None => {
            terminal.print(paint.dim("  Cancelled."));
            ElicitResult::cancel()
        }
    }
}

/// The result of a form that was not cancelled.
enum FormResult {
    Accepted(Map<String, Value>),
    Declined,
}

struct FormDialog<'a> {
    terminal: &'a Terminal,
    form: &'a ElicitSchema,
}

impl FormDialog<'_> {
    async fn run(&self, server_name: &str, filled: FilledForm) -> Option<FormResult> {
        let mut content = filled.content;
        let mut known: Vec<String> = content.keys().cloned().collect();
        for (name, why) in &filled.invalid {
            self.show_error(&format!("{name}: {why}"));
        }
        loop {
            self.ask_fields(&mut content, &known).await?;
            // Editing shows every field again.
            known.clear();
            let answer = Value::Object(content.clone());
            if let Err(error) = check_answer(self.form, &answer) {
                self.show_error(&error.to_string());
                continue;
            }
            match self.confirm(server_name, &content).await?.0 {
                'y' => return Some(FormResult::Accepted(content)),
                'd' => return Some(FormResult::Declined),
                'c' => return None,
                _ => {}
            }
        }
    }

    /// Asks for the fields that are not known.
    async fn ask_fields(&self, content: &mut Map<String, Value>, known: &[String]) -> Option<()> {
        for (name, schema) in self.form.properties.iter() {
            if known.iter().any(|known| known == name) {
                continue;
            }
            let initial = content.get(name).cloned();
            let initial = initial.or_else(|| field::default(schema));
            match self.ask_field(name, schema, initial).await? {
                Some(value) => drop(content.insert(name.to_owned(), value)),
                None => drop(content.remove(name)),
            }
        }
        Some(())
    }

    /// Asks for one field until the value is valid. Optional fields may stay
    /// empty.
    async fn ask_field(
        &self,
        name: &str,
        schema: &PropertySchema,
        initial: Option<Value>,
    ) -> Option<Option<Value>> {
        let required = self.form.required.iter().any(|required| required == name);
        self.show_field(name, schema, required);
        let prompt = match &initial {
            Some(value) => format!("  [{}] > ", field::format_value(value)),
            None => "  > ".to_owned(),
        };
        loop {
            let text = self.terminal.ask(&prompt).await?;
            if text.trim().is_empty() {
                match &initial {
                    None if required => self.show_error("a value is required"),
                    initial => return Some(initial.clone()),
                }
                continue;
            }
            let parsed = field::parse_value(schema, &text);
            let checked =
                parsed.and_then(|value| field::check_value(name, schema, &value).map(|()| value));
            match checked {
                Ok(value) => return Some(Some(value)),
                Err(why) => self.show_error(&why),
            }
        }
    }

    fn show_field(&self, name: &str, schema: &PropertySchema, required: bool) {
        let (terminal, paint) = (self.terminal, self.terminal.paint());
        let label = field::label(name, schema);
        let necessity = if required { "required" } else { "optional" };
        let kind = format!("({}; {necessity})", field::describe_kind(schema));
        terminal.print("");
        terminal.print(format!("  {} {}", paint.bold(label), paint.dim(kind)));
        if let Some(description) = field::description(schema) {
            terminal.print(indented(description));
        }
        for (index, (value, title)) in field::choices(schema).into_iter().enumerate() {
            let (value, title) = (super::one_line(value), super::one_line(title));
            let value = if value == title {
                String::new()
            } else {
                paint.dim(format!(" ({value})"))
            };
            terminal.print(format!("    {:2}  {title}{value}", index + 1));
        }
        if matches!(schema, PropertySchema::MultiChoice(_)) {
            terminal.print(paint.dim("    separate several with commas; `none` for none"));
        }
        if field::is_likely_secret(name, schema) {
            let warning = "This looks like a secret. Servers must not ask for secrets in forms: \
                           what you type is shown here and sent to the server as it is.";
            terminal.print(format!("  {}", paint.text(Style::Warning, warning)));
        }
    }

    /// Shows what would be sent, and asks for confirmation.
    async fn confirm(&self, server_name: &str, content: &Map<String, Value>) -> Option<Choice> {
        let terminal = self.terminal;
        terminal.print("");
        if self.form.properties.is_empty() {
            let choices = "[y]es, [d]ecline or [c]ancel";
            return choose(terminal, &format!("  {choices}: "), "ydc", None).await;
        }
        let labels: Vec<_> = self
            .form
            .properties
            .iter()
            .map(|(name, schema)| (name, field::label(name, schema)))
            .collect();
        let width = labels.iter().map(|(_, label)| label.chars().count()).max();
        let width = width.unwrap_or_default();
        for (name, label) in labels {
            let value = content.get(name).map(field::format_value);
            let value = value.unwrap_or_else(|| terminal.paint().dim("(empty)"));
            terminal.print(format!("  {label:width$}  {value}"));
        }
        let prompt =
            format!("  Send this to {server_name}? [Y]es, [e]dit, [d]ecline or [c]ancel: ");
        choose(terminal, &prompt, "yedc", Some('y')).await
    }

    fn show_error(&self, why: &str) {
        let why = escape_control(why);
        let paint = self.terminal.paint();
        self.terminal
            .print(format!("  {}", paint.text(Style::Error, why)));
    }
}
