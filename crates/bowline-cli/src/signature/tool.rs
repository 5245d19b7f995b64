//! A tool's signature, on one line or on a page.

use bowline::{
    RawJson,
    model::{Tool, ToolAnnotations},
};
use bowline_schema::{
    print::signature::{Detail, PrintBudget, Printer, json_expression},
    shape::Shape,
};

use super::{
    Parameter, first_sentence, on_one_line,
    parameters::parameters,
    shape::{parse_shape, parse_shape_within},
};
use crate::output::{Paint, Style, escape_control, escape_name, fill, shorten, wrap};

/// Maximum lines of a description on a page, unless all are requested.
const DESCRIPTION_LINES: usize = 12;
/// Maximum lines of an argument's description.
const ARGUMENT_LINES: usize = 3;
/// Maximum lines of a signature in a list.
const SIGNATURE_LINES: usize = 3;

/// Maximum number of optional arguments considered for such a signature: more
/// do not fit on so few lines.
const MAX_OPTIONAL: usize = 500;

/// Maximum length of a signature in a message.
const MAX_MESSAGE_WIDTH: usize = 160;

/// How much of a tool is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// A tool in a list.
    Short,
    /// A page.
    Page,
    /// Everything, however long.
    Full,
}

/// A tool to be shown.
pub(crate) struct Signature<'a> {
    tool: &'a Tool,
    /// `None` if the budget was exhausted.
    input: Option<Shape>,
    output: Option<Shape>,
    /// A budget shared with other tools, if any.
    budget: Option<&'a PrintBudget>,
}

impl<'a> Signature<'a> {
    pub(crate) fn new(tool: &'a Tool) -> Self {
        Self {
            tool,
            input: Some(parse_shape(&tool.input_schema_or_empty())),
            output: tool.output_schema.as_ref().map(parse_shape),
            budget: None,
        }
    }

    /// Creates one that shares a budget with other tools.
    pub(crate) fn within(tool: &'a Tool, budget: &'a PrintBudget) -> Self {
        let parse = |schema: &RawJson| parse_shape_within(schema, budget);
        Self {
            tool,
            input: parse(&tool.input_schema_or_empty()),
            output: tool.output_schema.as_ref().and_then(parse),
            budget: Some(budget),
        }
    }

    /// Returns the signature on one line without colours, for messages.
    pub(crate) fn line(&self) -> String {
        let plain = Paint::new(false);
        let max =
            self.max_arguments(|pieces| pieces.join(" ").chars().count() <= MAX_MESSAGE_WIDTH);
        let pieces = self.pieces(Detail::SHORT, plain, max);
        shorten(&pieces.join(" "), 2 * MAX_MESSAGE_WIDTH)
    }

    /// Returns the tool's name.
    pub(crate) fn name(&self) -> &str {
        &self.tool.name
    }

    /// Returns the names of the required arguments.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        let needed = self.parameters().into_iter();
        let needed = needed.filter(|parameter| parameter.is_needed);
        needed.map(|parameter| parameter.name)
    }

    /// Returns the lines to print.
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
            lines.push(format!("… {more} more lines; use --full to see them"));
        }
        let comment = |line: String| paint.dim(format!("/// {line}").trim_end());
        lines.into_iter().map(comment).collect()
    }

    /// Formats the signature for a list: arguments that do not fit are counted.
    fn short_lines(&self, paint: Paint, width: usize) -> Vec<String> {
        let max = self.max_arguments(|pieces| layout(pieces, width).len() <= SIGNATURE_LINES);
        layout(&self.pieces(Detail::SHORT, paint, max), width)
    }

    /// Returns how many arguments fit; at least all required ones, which come
    /// first.
    fn max_arguments(&self, fits: impl Fn(&[String]) -> bool) -> usize {
        let parameters = self.parameters();
        let required = parameters.iter().filter(|it| it.is_required).count();
        let (mut min, mut max) = (required, parameters.len().min(required + MAX_OPTIONAL));
        while min < max {
            let middle = (min + max).div_ceil(2);
            match fits(&self.pieces(Detail::SHORT, Paint::new(false), middle)) {
                true => min = middle,
                false => max = middle - 1,
            }
        }
        min
    }

    /// Returns the pieces of the signature, between which a line may break,
    /// with at most `max` arguments and the number of the others.
    fn pieces(&self, detail: Detail, paint: Paint, max: usize) -> Vec<String> {
        let default_budget = PrintBudget::default();
        let budget = self.budget.unwrap_or(&default_budget);
        let mut arguments = self.arguments(detail, paint, max, budget);
        let name = paint.bold(escape_name(&self.tool.name));
        let result = self.output.as_ref().map(|output| {
            let type_text = Printer::new(output, detail, budget).expression(output.root());
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

    /// Formats at most `max` arguments, and the number of the others.
    fn arguments(
        &self,
        detail: Detail,
        paint: Paint,
        max: usize,
        budget: &PrintBudget,
    ) -> Vec<String> {
        let Some(input) = &self.input else {
            return vec!["…".to_owned()];
        };
        let printer = Printer::new(input, detail, budget);
        let parameters = parameters(input);
        let (listed, omitted) = parameters.split_at(max.min(parameters.len()));
        let listed = listed.iter();
        let listed = listed.map(|parameter| format_argument(parameter, &printer, paint));
        let mut arguments: Vec<_> = listed.collect();
        if !omitted.is_empty() {
            arguments.push(format!("… {} more", omitted.len()));
        }
        arguments
    }

    fn parameters(&self) -> Vec<Parameter<'_>> {
        self.input.as_ref().map(parameters).unwrap_or_default()
    }

    /// Formats the descriptions of the arguments.
    fn argument_lines(&self, length: Length, width: usize) -> Vec<String> {
        let parameters = self.parameters();
        let described = parameters.iter().filter_map(|parameter| {
            let input = self.input.as_ref()?;
            let mut types = parameter.types.iter();
            let text = types.find_map(|ty| input.description(ty))?;
            Some((parameter.name, on_one_line(text)))
        });
        let described: Vec<_> = described.collect();
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

    /// Formats the named types of the signature, including those they refer to.
    fn named_types(&self, detail: Detail, paint: Paint, width: usize) -> Vec<String> {
        let default_budget = PrintBudget::default();
        let budget = self.budget.unwrap_or(&default_budget);
        let mut types = Vec::new();
        for shape in self.input.iter().chain(&self.output) {
            for named in Printer::new(shape, detail, budget).named_types() {
                if !types.contains(&named) {
                    types.push(named);
                }
            }
        }
        let mut lines = Vec::new();
        for named in types {
            let name = paint.text(Style::Type, escape_name(&named.name));
            let first = format!("  {name} = ");
            lines.push(String::new());
            lines.extend(fill(
                escape_control(&named.expression).split(' '),
                &first,
                "    ",
                width,
            ));
        }
        lines
    }
}

/// Formats an argument: `seats?: 1..9 = 1`
fn format_argument(parameter: &Parameter<'_>, printer: &Printer<'_>, paint: Paint) -> String {
    let suffix = if parameter.is_needed { "" } else { "?" };
    let name = escape_name(parameter.name);
    let type_text = printer.union_expression(parameter.types.iter().copied());
    // An optional argument need not allow `null` explicitly.
    let type_text = match parameter.is_needed {
        true => type_text.as_str(),
        false => type_text.strip_suffix(" | null").unwrap_or(&type_text),
    };
    let type_text = paint.text(Style::Type, escape_control(type_text));
    let mut defaults = parameter.types.iter();
    let default = defaults.find_map(|ty| ty.annotations.default.as_ref());
    let default = default.filter(|value| !value.is_null()).map(|value| {
        let full = json_expression(value);
        let mut value = shorten(&full, 30);
        // A truncated string keeps its closing quote.
        if full.starts_with('"') && value != full {
            value.push('"');
        }
        format!(" = {}", paint.text(Style::Value, escape_control(&value)))
    });
    format!("{name}{suffix}: {type_text}{}", default.unwrap_or_default())
}

/// Lays out pieces on lines that fit; colours take no space. Only a piece
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

/// Returns the number of visible characters, without escape sequences.
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

/// Formats the server's annotations, which need not be true.
fn annotation_lines(annotations: &ToolAnnotations, paint: Paint) -> Vec<String> {
    let hints = [
        (annotations.read_only_hint, "read-only", "may modify data"),
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
    let line = format!("  annotations: {}", hints.join(", "));
    vec![String::new(), paint.dim(line)]
}

#[cfg(test)]
mod tests {
    use bowline::{RawJson, model::Tool};

    use bowline_schema::print::signature::PrintBudget;

    use super::{Length, Signature};
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
        let budget = PrintBudget::new(15);
        let line = || Signature::within(&tool, &budget).line();
        assert_eq!(line(), "book(a?: string)");
        assert_eq!(line(), "book(a?: …)");
        assert_eq!(line(), "book(…)");
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
