//! Painted lines as a drawing of a terminal's window.

use super::screen::{COLUMNS, Look, Run};

/// Hundredths of a pixel, so that no number depends on how floats are written.
const ADVANCE: usize = 843;
const LEADING: usize = 20;
const MARGIN: usize = 22;
const BAR: usize = 36;

const STYLE: &str = "\
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; \
fill: #d5dae3; }
.b { font-weight: bold; fill: #ffffff; }
.f { fill: #7f8a9c; }
.c1 { fill: #ff7b86; }
.c2 { fill: #8fd08a; }
.c3 { fill: #e8c477; }
.c4 { fill: #7fb4f5; }
.c5 { fill: #d29bea; }
.c6 { fill: #69c9d0; }";

/// Draws the lines.
pub(super) fn draw(lines: &[Vec<Run>]) -> String {
    let width = COLUMNS * ADVANCE / 100 + 2 * MARGIN;
    let height = BAR + lines.len() * LEADING + MARGIN;
    let mut drawn = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"bowline in a terminal\">\n\
         <style>\n{STYLE}\n</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"9\" fill=\"#1c212b\"/>\n"
    );
    for (at, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let x = MARGIN + 4 + at * 20;
        drawn.push_str(&format!(
            "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{colour}\"/>\n"
        ));
    }
    for (at, line) in lines.iter().enumerate() {
        let y = BAR + at * LEADING + 14;
        for run in line.iter().filter(|run| !run.text.trim().is_empty()) {
            drawn.push_str(&text(run, y));
        }
    }
    drawn.push_str("</svg>\n");
    drawn
}

/// One run, stretched to the width that it has in a terminal, whatever the font.
fn text(run: &Run, y: usize) -> String {
    let trimmed = run.text.trim();
    let before = run.text.len() - run.text.trim_start().len();
    let x = pixels(MARGIN * 100 + (run.column + before) * ADVANCE);
    let length = pixels(trimmed.chars().count() * ADVANCE);
    let class = class(&run.look);
    let text = escape(trimmed);
    format!("<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\"{class}>{text}</text>\n")
}

fn pixels(hundredths: usize) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn class(look: &Look) -> String {
    let colour = look.colour.map(|colour| format!("c{colour}"));
    let bold = look.bold.then(|| "b".to_owned());
    let faint = look.faint.then(|| "f".to_owned());
    let names: Vec<String> = [bold, faint, colour].into_iter().flatten().collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" class=\"{}\"", names.join(" ")),
    }
}

fn escape(text: &str) -> String {
    // Spaces side by side would be drawn as one.
    text.replace("  ", "\u{a0}\u{a0}")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
