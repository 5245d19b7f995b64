//! A form, filled in by the person at the terminal.

use bowline::proto::model::{ElicitParams, ElicitResult, ElicitSchema, Members, PropertySchema};
use serde_json::{Map, Value};

use super::{
    field,
    given::Filled,
    indented,
    prompt::{Choice, choose},
    terminal::Terminal,
};
use crate::output::{Style, clean};

/// Asks for every field, until the person sends the form or does not. What was
/// given already is not asked for again, unless it does not fit.
pub(crate) async fn ask(
    terminal: &Terminal,
    asker: &str,
    params: &ElicitParams,
    filled: Filled,
) -> ElicitResult {
    let empty = ElicitSchema::new(Members::new());
    let form = params.requested_schema.as_ref().unwrap_or(&empty);
    let dialogue = Dialogue { terminal, form };
    let paint = terminal.paint();
    terminal.show("");
    terminal.show(format!("{} asks:", paint.strong(asker)));
    terminal.show(indented(&params.message));
    if !form.properties.is_empty() {
        let help = "  (Enter takes what is in brackets, Ctrl-D cancels)";
        terminal.show(paint.faint(help));
    }
    match dialogue.run(asker, filled).await {
        Some(Sent::Accepted(content)) => {
            ElicitResult::accept_with(&content).unwrap_or_else(|_| ElicitResult::cancel())
        }
        Some(Sent::Declined) => ElicitResult::decline(),
        None => {
            terminal.show(paint.faint("  Cancelled."));
            ElicitResult::cancel()
        }
    }
}

/// What became of the form; nothing if it was cancelled.
enum Sent {
    Accepted(Map<String, Value>),
    Declined,
}

struct Dialogue<'a> {
    terminal: &'a Terminal,
    form: &'a ElicitSchema,
}

impl Dialogue<'_> {
    async fn run(&self, asker: &str, filled: Filled) -> Option<Sent> {
        let mut content = filled.content;
        let mut known: Vec<String> = content.keys().cloned().collect();
        for (name, why) in &filled.wrong {
            self.complain(&format!("{name}: {why}"));
        }
        loop {
            self.fields(&mut content, &known).await?;
            // Whoever edits sees everything once more.
            known.clear();
            if let Err(fault) = self.form.check(&Value::Object(content.clone())) {
                self.complain(&fault.to_string());
                continue;
            }
            match self.verdict(asker, &content).await?.0 {
                'y' => return Some(Sent::Accepted(content)),
                'd' => return Some(Sent::Declined),
                'c' => return None,
                _ => {}
            }
        }
    }

    /// Asks for the fields that are not known.
    async fn fields(&self, content: &mut Map<String, Value>, known: &[String]) -> Option<()> {
        for (name, schema) in self.form.properties.iter() {
            if known.iter().any(|known| known == name) {
                continue;
            }
            let begin = content.get(name).cloned();
            let begin = begin.or_else(|| field::default(schema));
            match self.field(name, schema, begin).await? {
                Some(value) => drop(content.insert(name.to_owned(), value)),
                None => drop(content.remove(name)),
            }
        }
        Some(())
    }

    /// Asks for one field, until the answer fits. There may be none.
    async fn field(
        &self,
        name: &str,
        schema: &PropertySchema,
        begin: Option<Value>,
    ) -> Option<Option<Value>> {
        let required = self.form.required.iter().any(|required| required == name);
        self.introduce(name, schema, required);
        let prompt = match &begin {
            Some(value) => format!("  [{}] > ", field::shown(value)),
            None => "  > ".to_owned(),
        };
        loop {
            let text = self.terminal.ask(&prompt).await?;
            if text.trim().is_empty() {
                match &begin {
                    None if required => self.complain("an answer is required"),
                    begin => return Some(begin.clone()),
                }
                continue;
            }
            let read = field::read(schema, &text);
            let fit = read.and_then(|value| field::fits(name, schema, &value).map(|()| value));
            match fit {
                Ok(value) => return Some(Some(value)),
                Err(why) => self.complain(&why),
            }
        }
    }

    fn introduce(&self, name: &str, schema: &PropertySchema, required: bool) {
        let (terminal, paint) = (self.terminal, self.terminal.paint());
        let label = field::label(name, schema);
        let necessity = if required { "required" } else { "optional" };
        let kind = format!("({}; {necessity})", field::kind(schema));
        terminal.show("");
        terminal.show(format!("  {} {}", paint.strong(label), paint.faint(kind)));
        if let Some(description) = field::description(schema) {
            terminal.show(indented(description));
        }
        for (at, (value, title)) in field::choices(schema).into_iter().enumerate() {
            let (value, title) = (super::one_line(value), super::one_line(title));
            let value = if value == title {
                String::new()
            } else {
                paint.faint(format!(" ({value})"))
            };
            terminal.show(format!("    {:2}  {title}{value}", at + 1));
        }
        if matches!(schema, PropertySchema::MultiChoice(_)) {
            terminal.show(paint.faint("    several with commas between them; `none` for none"));
        }
        if field::looks_secret(name, schema) {
            let warning = "This looks like a secret. Servers must not ask for secrets by form: \
                           what you type is shown here, and the server gets it as it is.";
            terminal.show(format!("  {}", paint.text(Style::Warning, warning)));
        }
    }

    /// Shows what would be sent, and asks what to do with it.
    async fn verdict(&self, asker: &str, content: &Map<String, Value>) -> Option<Choice> {
        let terminal = self.terminal;
        terminal.show("");
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
            let value = content.get(name).map(field::shown);
            let value = value.unwrap_or_else(|| terminal.paint().faint("left out"));
            terminal.show(format!("  {label:width$}  {value}"));
        }
        let prompt = format!("  Send this to {asker}? [Y]es, [e]dit, [d]ecline or [c]ancel: ");
        choose(terminal, &prompt, "yedc", Some('y')).await
    }

    fn complain(&self, why: &str) {
        let why = clean(why);
        let paint = self.terminal.paint();
        self.terminal
            .show(format!("  {}", paint.text(Style::Bad, why)));
    }
}
