//! A tool's signature, in a line or on a page.

use bowline::proto::model::{Tool, ToolAnnotations};

use super::{
    Budget, first_sentence,
    named::NamedTypes,
    schema::{Document, Property},
    type_name::{Detail, spelled},
    wrap::{fill, shorten, wrap},
};
use crate::output::{Paint, Style, clean, clean_name};

/// How many lines of a description a page shows unless all are asked for.
const DESCRIPTION_LINES: usize = 12;
/// How many lines are shown of what is said about an argument.
const ARGUMENT_LINES: usize = 3;
/// How many lines a signature among others may take.
const SIGNATURE_LINES: usize = 3;

/// How many arguments that can be left out such a signature has at most: more
/// do not fit on so few lines.
const MOST_OPTIONAL: usize = 500;

/// How long a signature in a message may be.
const MESSAGE: usize = 160;

/// How much is shown of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// A tool among many.
    Short,
    /// A page.
    Page,
    /// All that is known, however long.
    Whole,
}

/// A tool, ready to be shown.
pub(crate) struct Signature<'a> {
    tool: &'a Tool,
    input: Document,
    output: Option<Document>,
    /// What it shares with other tools that are shown, if it does.
    budget: Option<&'a Budget>,
}

impl<'a> Signature<'a> {
    pub(crate) fn of(tool: &'a Tool) -> Self {
        let output = tool.output_schema.as_ref();
        Self {
            tool,
            input: Document::new(tool.input_schema_or_empty().get()),
            output: output.map(|schema| Document::new(schema.get())),
            budget: None,
        }
    }

    /// Looks at no more than this covers, for all that share it.
    pub(crate) fn within(self, budget: &'a Budget) -> Self {
        let budget = Some(budget);
        Self { budget, ..self }
    }

    /// The signature alone, without colours and on one line, for messages.
    pub(crate) fn line(&self) -> String {
        let plain = Paint::new(false);
        let most = self.most(|pieces| pieces.join(" ").chars().count() <= MESSAGE);
        let pieces = self.pieces(Detail::SHORT, plain, most);
        shorten(&pieces.join(" "), 2 * MESSAGE)
    }

    /// The tool's name.
    pub(crate) fn name(&self) -> &str {
        &self.tool.name
    }

    /// The names of what must be given.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        let properties = self.input.schema().properties().into_iter();
        let needed = properties.filter(Property::is_needed);
        needed.map(|property| property.name)
    }

    /// What is shown, line by line.
    pub(crate) fn lines(&self, length: Length, paint: Paint, width: usize) -> Vec<String> {
        let mut lines = self.description(length, paint, width);
        if length == Length::Short {
            lines.extend(self.short(paint, width));
            return lines;
        }
        let detail = match length {
            Length::Whole => Detail::WHOLE,
            _ => Detail::FULL,
        };
        let pieces = self.pieces(detail, paint, usize::MAX);
        lines.extend(layout(&pieces, width));
        lines.extend(self.arguments(length, width));
        lines.extend(self.named_types(detail, paint, width));
        if let Some(annotations) = &self.tool.annotations {
            lines.extend(hints(annotations, paint));
        }
        lines
    }

    fn description(&self, length: Length, paint: Paint, width: usize) -> Vec<String> {
        let text = self.tool.description.as_deref().unwrap_or_default().trim();
        let width = width.saturating_sub(4);
        let mut lines = match length {
            Length::Short => {
                let first = first_sentence(text);
                Vec::from_iter((!first.is_empty()).then(|| shorten(&first, width)))
            }
            _ => wrap(&clean(text), width),
        };
        if length == Length::Page && lines.len() > DESCRIPTION_LINES {
            let more = lines.len() - DESCRIPTION_LINES + 1;
            lines.truncate(DESCRIPTION_LINES - 1);
            lines.push(format!("… {more} more lines, shown with --full"));
        }
        let comment = |line: String| paint.faint(format!("/// {line}").trim_end());
        lines.into_iter().map(comment).collect()
    }

    /// The signature among others: what does not fit is counted.
    fn short(&self, paint: Paint, width: usize) -> Vec<String> {
        let most = self.most(|pieces| layout(pieces, width).len() <= SIGNATURE_LINES);
        layout(&self.pieces(Detail::SHORT, paint, most), width)
    }

    /// How many arguments fit; at least all that are required, which come first.
    fn most(&self, fits: impl Fn(&[String]) -> bool) -> usize {
        let properties = self.input.schema().properties();
        let required = properties
            .iter()
            .filter(|property| property.required)
            .count();
        let (mut least, mut most) = (required, properties.len().min(required + MOST_OPTIONAL));
        while least < most {
            let middle = (least + most).div_ceil(2);
            match fits(&self.pieces(Detail::SHORT, Paint::new(false), middle)) {
                true => least = middle,
                false => most = middle - 1,
            }
        }
        least
    }

    /// The signature in pieces between which a line may end, with `most`
    /// arguments and the number of the others.
    fn pieces(&self, detail: Detail, paint: Paint, most: usize) -> Vec<String> {
        let properties = self.input.schema().properties();
        let (shown, left) = properties.split_at(most.min(properties.len()));
        let own = Budget::default();
        let budget = self.budget.unwrap_or(&own);
        let mut arguments: Vec<_> = shown
            .iter()
            .map(|property| argument(property, detail, paint, budget))
            .collect();
        if !left.is_empty() {
            arguments.push(format!("… {} more", left.len()));
        }
        let name = paint.strong(clean_name(&self.tool.name));
        let result = self.output.as_ref().map(|output| {
            let shape = spelled(output.schema(), detail, budget);
            format!("-> {}", paint.text(Style::Type, clean(&shape)))
        });
        let mut pieces = Vec::new();
        match arguments.pop() {
            None => pieces.push(format!("{name}()")),
            Some(last) => {
                arguments.iter_mut().for_each(|argument| argument.push(','));
                arguments.push(format!("{last})"));
                arguments[0].insert_str(0, &format!("{name}("));
                pieces.append(&mut arguments);
            }
        }
        pieces.extend(result);
        pieces
    }

    /// What is said about each argument.
    fn arguments(&self, length: Length, width: usize) -> Vec<String> {
        let properties = self.input.schema().properties();
        let described: Vec<_> = properties
            .iter()
            .filter_map(|property| Some((property.name, property.schema.description()?)))
            .collect();
        let widest = described.iter().map(|(name, _)| name.chars().count());
        let column = widest.max().unwrap_or_default().min(24);
        let mut lines = Vec::new();
        for (name, text) in &described {
            let gap = column.saturating_sub(name.chars().count());
            let first = format!("  {}{}  ", clean_name(name), " ".repeat(gap));
            let hanging = " ".repeat(column + 4);
            let text = clean(text);
            let mut said = fill(text.split(' '), &first, &hanging, width);
            if length == Length::Page && said.len() > ARGUMENT_LINES {
                said.truncate(ARGUMENT_LINES);
                said[ARGUMENT_LINES - 1].push_str(" …");
            }
            lines.append(&mut said);
        }
        if !lines.is_empty() {
            lines.insert(0, String::new());
        }
        lines
    }

    /// What the types are that the signature names, and those that they name.
    fn named_types(&self, detail: Detail, paint: Paint, width: usize) -> Vec<String> {
        let own = Budget::default();
        let mut named = NamedTypes::new(detail, self.budget.unwrap_or(&own));
        named.look(self.input.schema());
        if let Some(output) = &self.output {
            named.look(output.schema());
        }
        let mut lines = Vec::new();
        for (name, spelled) in named.found {
            let first = format!("  {} = ", paint.text(Style::Type, clean_name(name)));
            lines.push(String::new());
            lines.extend(fill(clean(&spelled).split(' '), &first, "    ", width));
        }
        lines
    }
}

/// `seats?: 1..9 = 1`
fn argument(property: &Property<'_>, detail: Detail, paint: Paint, budget: &Budget) -> String {
    let needed = property.is_needed();
    let mark = if needed { "" } else { "?" };
    let name = clean_name(property.name);
    let shape = spelled(property.schema, detail, budget);
    // Whoever may leave it out need not say that there is none.
    let shape = match needed {
        true => shape.as_str(),
        false => shape.strip_suffix(" | null").unwrap_or(&shape),
    };
    let shape = paint.text(Style::Type, clean(shape));
    let default = property.schema.default().map(|value| {
        let whole = value.to_string();
        let mut value = shorten(&whole, 30);
        // A text that was cut is a text still.
        if whole.starts_with('"') && value != whole {
            value.push('"');
        }
        format!(" = {}", paint.text(Style::Value, clean(&value)))
    });
    format!("{name}{mark}: {shape}{}", default.unwrap_or_default())
}

/// Puts pieces on lines that fit; colours take no room. Only a piece that is
/// longer than a line is broken.
fn layout(pieces: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut put = |piece: &str, joined: bool| {
        let room = visible(piece);
        match lines.last_mut() {
            Some((used, line)) if joined && *used + 1 + room <= width => {
                *used += 1 + room;
                line.push(' ');
                line.push_str(piece);
            }
            Some(_) => lines.push((room + 4, format!("    {piece}"))),
            None => lines.push((room, piece.to_owned())),
        }
    };
    for piece in pieces {
        if visible(piece) + 4 <= width {
            put(piece, true);
            continue;
        }
        for (at, word) in piece.split(' ').enumerate() {
            put(word, at > 0);
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// How many characters are seen: what paints them is not.
fn visible(text: &str) -> usize {
    let mut painting = false;
    text.chars()
        .filter(|character| match character {
            '\u{1b}' => {
                painting = true;
                false
            }
            'm' if painting => {
                painting = false;
                false
            }
            _ => !painting,
        })
        .count()
}

/// What the server says about the tool, which need not be true.
fn hints(annotations: &ToolAnnotations, paint: Paint) -> Vec<String> {
    let said = [
        (annotations.read_only_hint, "read-only", "may change things"),
        (
            annotations.destructive_hint,
            "destructive",
            "not destructive",
        ),
        (annotations.idempotent_hint, "idempotent", "not idempotent"),
        (annotations.open_world_hint, "open world", "closed world"),
    ];
    let said = said
        .iter()
        .filter_map(|(hint, yes, no)| hint.map(|hint| if hint { *yes } else { *no }));
    let said: Vec<_> = said.collect();
    if said.is_empty() {
        return Vec::new();
    }
    let line = format!("  hints of the server: {}", said.join(", "));
    vec![String::new(), paint.faint(line)]
}

#[cfg(test)]
mod tests {
    use bowline::proto::{jsonrpc::RawJson, model::Tool};

    use super::{Budget, Length, Signature};
    use crate::output::Paint;

    fn tool(schema: &str) -> Tool {
        let mut tool = Tool::new("book");
        tool.description = Some("Books a seat. Really.".to_owned());
        tool.input_schema = RawJson::from_text(schema.to_owned()).ok();
        tool
    }

    #[test]
    fn a_signature_says_what_is_needed() {
        let tool = tool(
            r#"{"properties": {"to": {"type": "string"}, "seats": {"type": "integer", "default": 1}},
                "required": ["to"]}"#,
        );
        let signature = Signature::of(&tool);
        assert_eq!(signature.line(), "book(to: string, seats?: integer = 1)");
        let lines = signature.lines(Length::Short, Paint::new(false), 80);
        assert_eq!(
            lines,
            ["/// Books a seat.", "book(to: string, seats?: integer = 1)"]
        );
    }

    #[test]
    fn tools_that_are_shown_together_share_what_is_looked_at() {
        let tool =
            tool(r#"{"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}"#);
        let budget = Budget::new(20);
        let line = || Signature::of(&tool).within(&budget).line();
        assert_eq!(line(), "book(a?: string)");
        let lines: Vec<_> = (0..10).map(|_| line()).collect();
        assert_eq!(lines.last().map(String::as_str), Some("book(a?: …)"));
    }

    #[test]
    fn a_default_that_is_cut_is_a_text_still() {
        let long = "x".repeat(50);
        let schema =
            format!(r#"{{"properties": {{"a": {{"type": "string", "default": "{long}"}}}}}}"#);
        let tool = tool(&schema);
        let line = Signature::of(&tool).line();
        assert!(
            line.ends_with(r#"= "xxxxxxxxxxxxxxxxxxxxxxxxxxxx…")"#),
            "{line}"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let tool =
            tool(r#"{"properties": {"one": {"type": "string"}, "two": {"type": "string"}}}"#);
        let signature = Signature::of(&tool);
        let plain = signature.lines(Length::Page, Paint::new(false), 40);
        let painted = signature.lines(Length::Page, Paint::new(true), 40);
        assert_eq!(plain.len(), painted.len());
    }

    #[test]
    fn a_tool_with_very_many_arguments_stays_short() {
        let names: Vec<_> = (0..200)
            .map(|n| format!(r#""argument_{n}": {{"type": "string"}}"#))
            .collect();
        let schema = format!(
            r#"{{"properties": {{{}}}, "required": ["argument_7"]}}"#,
            names.join(",")
        );
        let tool = tool(&schema);
        let lines = Signature::of(&tool).lines(Length::Short, Paint::new(false), 80);
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("book(argument_7: string, argument_0?: string,"));
        assert!(lines[3].ends_with("… 191 more)"), "{}", lines[3]);
    }
}
