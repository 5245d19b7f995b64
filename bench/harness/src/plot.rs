//! Small plots with logarithmic axes, as SVG: from points to text, and nothing
//! else.

use std::fmt::Write as _;

/// One small plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// What a reader sees first.
    pub(crate) title: &'static str,
    /// Of what goes up.
    pub(crate) unit: &'static str,
    /// What grows from left to right.
    pub(crate) across: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// One line of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// How many there were, and what one of them cost, both above zero.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The last value over the least: up to 2 is flat.
pub(crate) fn growth(points: &[(f64, f64)]) -> Option<f64> {
    let least = points.iter().map(|(_, value)| *value).reduce(f64::min)?;
    let (_, last) = points.last()?;
    (least > 0.0).then(|| last / least)
}

/// All plots on one sheet.
pub(crate) fn svg(plots: &[Plot]) -> String {
    let rows = plots.len().div_ceil(COLUMNS).max(1);
    let (width, foot) = (COLUMNS as f64 * WIDTH, rows as f64 * HEIGHT);
    let height = foot + FOOT;
    let mut sheet = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<style>{STYLE}</style>\n"
    );
    for (number, plot) in plots.iter().enumerate() {
        let left = (number % COLUMNS) as f64 * WIDTH;
        let top = (number / COLUMNS) as f64 * HEIGHT;
        sheet.push_str(&format!("<g transform=\"translate({left} {top})\">\n"));
        draw(&mut sheet, plot);
        sheet.push_str("</g>\n");
    }
    sheet.push_str(&format!(
        "<text x=\"{LEFT}\" y=\"{:.1}\">{LEGEND}</text>\n</svg>\n",
        foot + FOOT / 2.0
    ));
    sheet
}

/// How many stand side by side.
const COLUMNS: usize = 3;

/// Of one plot, with all that is around it.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 220.0;

/// Below all plots.
const FOOT: f64 = 24.0;
const LEGEND: &str =
    "Both axes are logarithmic. ×: the last value over the least; up to 2 is flat.";

/// Where the axes are.
const LEFT: f64 = 56.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = HEIGHT - 44.0;

/// The colours are of middling lightness, so that they are seen on white and on
/// black; text and grid follow the reader's setting where it is known.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#6e7781}\
.title{font-weight:600;font-size:13px}\
.grid{stroke:#8b949e;stroke-opacity:.3}\
.line{fill:none;stroke-width:2}\
.of0{stroke:#2f81f7}.of1{stroke:#d29922}\
text.of0{fill:#2f81f7;stroke:none}text.of1{fill:#d29922;stroke:none}\
circle.of0{fill:#2f81f7}circle.of1{fill:#d29922}\
@media(prefers-color-scheme:dark){text{fill:#adbac7}}";

/// From decade to decade.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    /// Exponents of ten.
    first: i32,
    last: i32,
}

impl Scale {
    /// The decades that hold all values, at least one.
    fn over(values: impl Iterator<Item = f64>) -> Self {
        let logs = values.filter(|value| *value > 0.0).map(f64::log10);
        let (least, most) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), log| {
            (least.min(log), most.max(log))
        });
        if least > most {
            return Self { first: 0, last: 1 };
        }
        let first = least.floor() as i32;
        Self {
            first,
            last: (most.ceil() as i32).max(first + 1),
        }
    }

    /// How far along a value is, from 0 to 1.
    fn along(self, value: f64) -> f64 {
        let decades = f64::from(self.last - self.first);
        (value.log10() - f64::from(self.first)) / decades
    }

    fn decades(self) -> impl Iterator<Item = f64> {
        (self.first..=self.last).map(|exponent| 10_f64.powi(exponent))
    }
}

fn draw(sheet: &mut String, plot: &Plot) {
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let across = Scale::over(points().map(|(count, _)| *count));
    let up = Scale::over(points().map(|(_, value)| *value));
    let x = |count: f64| LEFT + across.along(count) * (RIGHT - LEFT);
    let y = |value: f64| BOTTOM - up.along(value) * (BOTTOM - TOP);
    let (title, unit) = (escaped(plot.title), escaped(plot.unit));
    let mut put = |text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(sheet, "{text}");
    };
    put(format_args!(
        "<text class=\"title\" x=\"{LEFT}\" y=\"18\">{title}, {unit}</text>"
    ));
    for value in up.decades() {
        let (height, name) = (y(value), short(value));
        put(format_args!(
            "<path class=\"grid\" d=\"M{LEFT} {height:.1}H{RIGHT}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            LEFT - 6.0,
            height + 4.0
        ));
    }
    for count in across.decades() {
        put(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(count),
            BOTTOM + 17.0,
            short(count)
        ));
    }
    put(format_args!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 34.0,
        escaped(plot.across)
    ));
    let mut after = LEFT;
    for (number, line) in plot.lines.iter().enumerate() {
        let label = label(line);
        put(format_args!(
            "<text class=\"of{number}\" x=\"{after:.1}\" y=\"35\">{}</text>",
            escaped(&label)
        ));
        // About as wide as it will be.
        after += label.chars().count() as f64 * 6.5 + 14.0;
        put(format_args!("{}", drawn(number, line, x, y)));
    }
}

/// Whose line it is, and how it ends up.
fn label(line: &Line) -> String {
    match growth(&line.points) {
        Some(times) => format!("{} ×{times:.1}", line.name),
        None => line.name.to_owned(),
    }
}

fn drawn(number: usize, line: &Line, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut dots = String::new();
    for (count, value) in &line.points {
        let (across, up) = (x(*count), y(*value));
        let command = if path.is_empty() { 'M' } else { 'L' };
        path.push_str(&format!("{command}{across:.1} {up:.1}"));
        dots.push_str(&format!(
            "<circle class=\"of{number}\" cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"3\">\
             <title>{}: {}</title></circle>",
            short(*count),
            exact(*value)
        ));
    }
    format!("<path class=\"line of{number}\" d=\"{path}\"/>{dots}")
}

/// A power of ten, in few characters.
fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{} M", value / 1e6),
        value if value >= 1e4 => format!("{} k", value / 1e3),
        value => format!("{value}"),
    }
}

/// A value, in three digits.
fn exact(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-9).log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::{BOTTOM, LEFT, Line, Plot, RIGHT, Scale, TOP, exact, growth, short, svg};

    fn plot(points: &[(f64, f64)]) -> Plot {
        Plot {
            title: "A call",
            unit: "µs",
            across: "tools",
            lines: vec![Line {
                name: "ours",
                points: points.to_vec(),
            }],
        }
    }

    #[test]
    fn growth_is_the_last_over_the_least() {
        assert_eq!(growth(&[(1.0, 4.0), (10.0, 2.0), (100.0, 3.0)]), Some(1.5));
        assert_eq!(growth(&[(1.0, 4.0)]), Some(1.0));
        assert_eq!(growth(&[]), None);
        assert_eq!(growth(&[(1.0, 0.0)]), None);
    }

    #[test]
    fn scales_hold_all_values_and_begin_and_end_with_a_decade() {
        let scale = Scale::over([3.0, 250.0].into_iter());
        assert_eq!(scale, Scale { first: 0, last: 3 });
        assert_eq!(
            scale.decades().collect::<Vec<_>>(),
            [1.0, 10.0, 100.0, 1000.0]
        );
        let one = Scale::over([10.0].into_iter());
        assert_eq!(one, Scale { first: 1, last: 2 });
        assert_eq!(one.along(10.0), 0.0);
        assert_eq!(one.along(100.0), 1.0);
        assert_eq!(Scale::over(std::iter::empty()), Scale { first: 0, last: 1 });
    }

    #[test]
    fn points_lie_between_the_axes_where_their_values_are() {
        let sheet = svg(&[plot(&[(1.0, 1.0), (10.0, 10.0), (100.0, 100.0)])]);
        let (x, y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
        let line = format!("d=\"M{LEFT:.1} {BOTTOM:.1}L{x:.1} {y:.1}L{RIGHT:.1} {TOP:.1}\"");
        assert!(sheet.contains(&line), "{line} is not in {sheet}");
        assert!(sheet.contains("<title>100: 100</title>"), "{sheet}");
        assert!(sheet.contains("ours ×100.0"), "{sheet}");
    }

    #[test]
    fn every_plot_has_a_place_of_its_own() {
        let plots = vec![plot(&[(1.0, 1.0)]); 4];
        let sheet = svg(&plots);
        for place in ["0 0", "300 0", "600 0", "0 220"] {
            assert!(sheet.contains(&format!("translate({place})")), "{place}");
        }
        assert!(sheet.contains("viewBox=\"0 0 900 464\""), "{sheet}");
        assert_eq!(sheet.matches("<g ").count(), sheet.matches("</g>").count());
    }

    #[test]
    fn text_is_text_and_not_markup() {
        let mut odd = plot(&[(1.0, 1.0)]);
        odd.title = "a<b & c";
        assert!(svg(&[odd]).contains("a&lt;b &amp; c"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(10_000.0), "10 k");
        assert_eq!(short(1_000.0), "1000");
        assert_eq!(short(0.1), "0.1");
        assert_eq!(exact(1234.5), "1234");
        assert_eq!(exact(12.345), "12.3");
        assert_eq!(exact(0.012_345), "0.0123");
    }
}
