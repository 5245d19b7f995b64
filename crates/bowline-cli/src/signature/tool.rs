//! A tool's signature, in a line or on a page.

use bowline::model::{Tool, ToolAnnotations};

use super::{
    Budget, first_sentence,
    named_types::NamedTypes,
    schema::{Document, Property},
    type_name::{Detail, type_expression},
    wrap::{fill, shorten, wrap},
};
use crate::output::{Paint, Style, escape_control, escape_name};

/// How many lines of a description a page shows unless all are asked for.
const DESCRIPTION_LINES: usize = 12;
/// How many lines are shown of what is said about an argument.
const ARGUMENT_LINES: usize = 3;
/// How many lines a signature among others may take.
const SIGNATURE_LINES: usize = 3;

/// How many arguments that can be left out such a signature has at most: more
/// do not fit on so few lines.
const MAX_OPTIONAL: usize = 500;

/// How long a signature in a message may be.
const MAX_MESSAGE_WIDTH: usize = 160;

/// How much is shown of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// A tool among many.
    Short,
    /// A page.
    Page,
    /// All that is known, however long.
    Full,
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
    pub(crate) fn new(tool: &'a Tool) -> Self {
        let output = tool.output_schema.as_ref();
        Self {
            tool,
            input: Document::new(tool.input_schema_or_empty().get()),
            output: output.map(|schema| Document::new(schema.get())),
            budget: None,
        }
    }

    /// Looks at no more than this covers, for all that share it.
    pub(crate) fn with_budget(self, budget: &'a Budget) -> Self {
        let budget = Some(budget);
        Self { budget, ..self }
    }

    /// The signature alone, without colours and on one line, for messages.
    pub(crate) fn line(&self) -> String {
        let plain = Paint::new(false);
        let max =
            self.max_arguments(|pieces| pieces.join(" ").chars().count() <= MAX_MESSAGE_WIDTH);
        let pieces = self.pieces(Detail::SHORT, plain, max);
        shorten(&pieces.join(" "), 2 * MAX_MESSAGE_WIDTH)
    }

    /// The tool's name.
    pub(crate) fn name(&self) -> &str {
        &self.tool.name
    }

    /// The names of what must be given.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        let properties = self.input.schema().properties().into_iter();
        let needed = properties.filter(Property::is_required);
        needed.map(|property| property.name)
    }

    /// What is shown, line by line.
    pub(crate) fn lines(&self, length: Length, paint: Paint, width: usize) -> Vec<String> {
        let mut lines = self.description_lines(length, paint, width);
        if length == Length::Short {
            lines.extend(self.short_lines(paint, width));
            return lines;
        }
        let detail = match length {
            Length::Full => Detail::FULL,
            _ => Detail::PAGE,
        };
        let pieces = self.pieces(detail, paint, usize::MAX);
        lines.extend(layout(&pieces, width));
        lines.extend(self.argument_lines(length, width));
        lines.extend(self.named_types(detail, paint, width));
        if let Some(annotations) = &self.tool.annotations {
            lines.extend(annotation_lines(annotations, paint));
        }
        lines
    }

    fn description_lines(&self, length: Length, paint: Paint, width: usize) -> Vec<String> {
        let text = self.tool.description.as_deref().unwrap_or_default().trim();
        let width = width.saturating_sub(4);
        let mut lines = match length {
            Length::Short => {
                let first = first_sentence(text);
                Vec::from_iter((!first.is_empty()).then(|| shorten(&first, width)))
            }
            _ => wrap(&escape_control(text), width),
        };
        if length == Length::Page && lines.len() > DESCRIPTION_LINES {
            let more = lines.len() - DESCRIPTION_LINES + 1;
            lines.truncate(DESCRIPTION_LINES - 1);
            lines.push(format!("… {more} more lines, shown with --full"));
        }
        let comment = |line: String| paint.dim(format!("/// {line}").trim_end());
        lines.into_iter().map(comment).collect()
    }

    /// The signature among others: what does not fit is counted.
    fn short_lines(&self, paint: Paint, width: usize) -> Vec<String> {
        let max = self.max_arguments(|pieces| layout(pieces, width).len() <= SIGNATURE_LINES);
        layout(&self.pieces(Detail::SHORT, paint, max), width)
    }

    /// How many arguments fit; at least all that are required, which come first.
    fn max_arguments(&self, fits: impl Fn(&[String]) -> bool) -> usize {
        let properties = self.input.schema().properties();
        let required = properties
            .iter()
            .filter(|property| property.required)
            .count();
        let (mut min, mut max) = (required, properties.len().min(required + MAX_OPTIONAL));
        while min < max {
            let middle = (min + max).div_ceil(2);
            match fits(&self.pieces(Detail::SHORT, Paint::new(false), middle)) {
                true => min = middle,
                false => max = middle - 1,
            }
        }
        min
    }

    /// The signature in pieces between which a line may end, with `most`
    /// arguments and the number of the others.
    fn pieces(&self, detail: Detail, paint: Paint, max: usize) -> Vec<String> {
        let properties = self.input.schema().properties();
        let (listed, omitted) = properties.split_at(max.min(properties.len()));
        let default_budget = Budget::default();
        let budget = self.budget.unwrap_or(&default_budget);
        let mut arguments: Vec<_> = listed
            .iter()
            .map(|property| format_argument(property, detail, paint, budget))
            .collect();
        if !omitted.is_empty() {
            arguments.push(format!("… {} more", omitted.len()));
        }
        let name = paint.bold(escape_name(&self.tool.name));
        let result = self.output.as_ref().map(|output| {
            let type_text = type_expression(output.schema(), detail, budget);
            format!("-> {}", paint.text(Style::Type, escape_control(&type_text)))
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
    fn argument_lines(&self, length: Length, width: usize) -> Vec<String> {
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
            let first = format!("  {}{}  ", escape_name(name), " ".repeat(gap));
            let hanging = " ".repeat(column + 4);
            let text = escape_control(text);
            let mut wrapped = fill(text.split(' '), &first, &hanging, width);
            if length == Length::Page && wrapped.len() > ARGUMENT_LINES {
                wrapped.truncate(ARGUMENT_LINES);
                wrapped[ARGUMENT_LINES - 1].push_str(" …");
            }
            lines.append(&mut wrapped);
        }
        if !lines.is_empty() {
            lines.insert(0, String::new());
        }
        lines
    }

    /// What the types are that the signature names, and those that they name.
    fn named_types(&self, detail: Detail, paint: Paint, width: usize) -> Vec<String> {
        let default_budget = Budget::default();
        let mut named = NamedTypes::new(detail, self.budget.unwrap_or(&default_budget));
        named.collect(self.input.schema());
        if let Some(output) = &self.output {
            named.collect(output.schema());
        }
        let mut lines = Vec::new();
        for (name, expression) in named.types {
            let first = format!("  {} = ", paint.text(Style::Type, escape_name(name)));
            lines.push(String::new());
            lines.extend(fill(
                escape_control(&expression).split(' '),
                &first,
                "    ",
                width,
            ));
        }
        lines
    }
}

/// `seats?: 1..9 = 1`
fn format_argument(
    property: &Property<'_>,
    detail: Detail,
    paint: Paint,
    budget: &Budget,
) -> String {
    let is_required = property.is_required();
    let suffix = if is_required { "" } else { "?" };
    let name = escape_name(property.name);
    let type_text = type_expression(property.schema, detail, budget);
    // Whoever may leave it out need not say that there is none.
    let type_text = match is_required {
        true => type_text.as_str(),
        false => type_text.strip_suffix(" | null").unwrap_or(&type_text),
    };
    let type_text = paint.text(Style::Type, escape_control(type_text));
    let default = property.schema.default().map(|value| {
        let full = value.to_string();
        let mut value = shorten(&full, 30);
        // A text that was cut is a text still.
        if full.starts_with('"') && value != full {
            value.push('"');
        }
        format!(" = {}", paint.text(Style::Value, escape_control(&value)))
    });
    format!("{name}{suffix}: {type_text}{}", default.unwrap_or_default())
}

/// Puts pieces on lines that fit; colours take no room. Only a piece that is
/// longer than a line is broken.
fn layout(pieces: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut push_piece = |piece: &str, same_line: bool| {
        let piece_width = visible_width(piece);
        match lines.last_mut() {
            Some((used, line)) if same_line && *used + 1 + piece_width <= width => {
                *used += 1 + piece_width;
                line.push(' ');
                line.push_str(piece);
            }
            Some(_) => lines.push((piece_width + 4, format!("    {piece}"))),
            None => lines.push((piece_width, piece.to_owned())),
        }
    };
    for piece in pieces {
        if visible_width(piece) + 4 <= width {
            push_piece(piece, true);
            continue;
        }
        for (index, word) in piece.split(' ').enumerate() {
            push_piece(word, index > 0);
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// How many characters are seen: what paints them is not.
fn visible_width(text: &str) -> usize {
    let mut in_escape = false;
    text.chars()
        .filter(|character| match character {
            '\u{1b}' => {
                in_escape = true;
                false
            }
            'm' if in_escape => {
                in_escape = false;
                false
            }
            _ => !in_escape,
        })
        .count()
}

/// What the server says about the tool, which need not be true.
fn annotation_lines(annotations: &ToolAnnotations, paint: Paint) -> Vec<String> {
    let hints = [
        (annotations.read_only_hint, "read-only", "may change things"),
        (
            annotations.destructive_hint,
            "destructive",
            "not destructive",
        ),
        (annotations.idempotent_hint, "idempotent", "not idempotent"),
        (annotations.open_world_hint, "open world", "closed world"),
    ];
    let hints = hints
        .iter()
        .filter_map(|(hint, yes, no)| hint.map(|hint| if hint { *yes } else { *no }));
    let hints: Vec<_> = hints.collect();
    if hints.is_empty() {
        return Vec::new();
    }
    let line = format!("  hints of the server: {}", hints.join(", "));
    vec![String::new(), paint.dim(line)]
}

#[cfg(test)]
mod tests {
    use bowline::{RawJson, model::Tool};

    use super::{Budget, Length, Signature};
    use crate::output::Paint;

    fn tool(schema: &str) -> Tool {
        let mut tool = Tool::new("book");
        tool.description = Some("Books a seat. Really.".to_owned());
        tool.input_schema = RawJson::from_string(schema.to_owned()).ok();
        tool
    }

    #[test]
    fn a_signature_says_what_is_needed() {
        let tool = tool(
            r#"{"properties": {"to": {"type": "string"}, "seats": {"type": "integer", "default": 1}},
                "required": ["to"]}"#,
        );
        let signature = Signature::new(&tool);
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
        let line = || Signature::new(&tool).with_budget(&budget).line();
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
        let line = Signature::new(&tool).line();
        assert!(
            line.ends_with(r#"= "xxxxxxxxxxxxxxxxxxxxxxxxxxxx…")"#),
            "{line}"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let tool =
            tool(r#"{"properties": {"one": {"type": "string"}, "two": {"type": "string"}}}"#);
        let signature = Signature::new(&tool);
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
        let lines = Signature::new(&tool).lines(Length::Short, Paint::new(false), 80);
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("book(argument_7: string, argument_0?: string,"));
        assert!(lines[3].ends_with("… 191 more)"), "{}", lines[3]);
    }
}
