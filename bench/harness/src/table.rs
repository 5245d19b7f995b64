//! Results as tables.

use std::fmt::Write as _;

use crate::{
    figure::{Target, Who},
    results::{Line, Results, Spread},
};

/// One that ours is compared with, and who that is in a line.
type Rival = (&'static str, fn(&Line) -> Option<Who>);

const RIVALS: [Rival; 3] = [
    ("rmcp", Line::rival),
    ("jsonschema", |_| Some(Who::Jsonschema)),
    ("baseline", |_| Some(Who::Limit)),
];

/// A line for each figure: ours, those that some figure has, the ratios, and what was
/// to be reached. Of rmcp's two, the better one.
pub(crate) fn summary<'a>(lines: impl IntoIterator<Item = &'a Line>) -> String {
    let lines: Vec<&Line> = lines.into_iter().collect();
    let has = |(_, who): &Rival| {
        let mut found = lines.iter().filter_map(|line| line.of(who(line)?));
        found.next().is_some()
    };
    let rivals: Vec<Rival> = RIVALS.into_iter().filter(has).collect();
    let names: String = rivals
        .iter()
        .map(|(name, _)| format!(" {name} |"))
        .collect();
    let ratios: String = rivals
        .iter()
        .map(|(name, _)| format!(" × {name} |"))
        .collect();
    let columns = "---:|".repeat(1 + 2 * rivals.len());
    let mut text = format!("| figure | Bowline |{names}{ratios} target |\n|---|{columns}---|\n");
    for line in lines {
        let _ = write!(text, "| {}, {} |", line.title, line.unit);
        let middle = |who: Who| line.of(who).map(|it| number(it.median));
        let _ = write!(text, " {} |", cell(middle(Who::Ours)));
        for (_, who) in &rivals {
            let _ = write!(text, " {} |", cell(who(line).and_then(middle)));
        }
        for (_, who) in &rivals {
            let ratio = who(line).and_then(|who| line.ratio(who));
            let _ = write!(text, " {} |", cell(ratio.map(|it| times(it.median))));
        }
        let _ = writeln!(text, " {} |", targets(line));
    }
    text
}

/// Everybody's figures, with their spread.
pub(crate) fn details(results: &Results) -> String {
    let who: Vec<Who> = Who::ALL
        .into_iter()
        .filter(|who| results.figures.iter().any(|line| line.of(*who).is_some()))
        .collect();
    let mut text = String::from("| figure |");
    who.iter().for_each(|who| {
        let _ = write!(text, " {} |", who.name());
    });
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(who.len()));
    text.push('\n');
    for line in &results.figures {
        let _ = write!(text, "| {}, {} |", line.title, line.unit);
        for who in &who {
            let _ = write!(text, " {} |", cell(line.of(*who).map(spread)));
        }
        text.push('\n');
    }
    text
}

/// What was to be reached, and whether it was.
fn targets(line: &Line) -> String {
    let all = line.targets.iter().map(|target| {
        let wanted = match target {
            Target::TimesRmcp(times) => format!("≥ {times} × rmcp"),
            Target::OfLimit(part) => format!("≥ {part} × baseline"),
            Target::TimesJsonschema(times) => format!("≥ {times} × jsonschema"),
            Target::AtMost(most) => format!("≤ {}", number(*most)),
        };
        match line.reaches(*target) {
            Some(true) => format!("{wanted}: met"),
            Some(false) => format!("{wanted}: **missed**"),
            None => format!("{wanted}: not measured"),
        }
    });
    all.collect::<Vec<_>>().join("; ")
}

fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

fn spread(spread: Spread) -> String {
    let Spread {
        median,
        least,
        most,
    } = spread;
    match least == most {
        true => number(median),
        false => format!("{} ({}–{})", number(median), number(least), number(most)),
    }
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// Three digits that matter, and thousands apart.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0..10.0 if value.fract() == 0.0 => format!("{value}"),
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => thousands(value.round() as i64),
    }
}

fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Better;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let numbers = [0.0, 3.0, 2.5678, 25.678, 256.78, 25678.0, 2_567_890.4];
        let written: Vec<_> = numbers.into_iter().map(number).collect();
        assert_eq!(
            written,
            ["0", "3", "2.57", "25.7", "257", "25,678", "2,567,890"]
        );
    }

    #[test]
    fn a_line_shows_the_better_rival_and_what_was_missed() {
        let samples = [
            (Who::Ours, vec![10.0]),
            (Who::Rmcp, vec![40.0]),
            (Who::RmcpTuned, vec![20.0]),
            (Who::Limit, vec![5.0]),
        ];
        let line = Line {
            id: "a.b".into(),
            title: "round trip".into(),
            unit: "µs".into(),
            better: Better::Less,
            targets: vec![Target::TimesRmcp(2.0), Target::OfLimit(0.6)],
            samples: samples.into_iter().collect(),
        };
        let table = summary([&line]);
        let row = table.lines().last().unwrap();
        assert_eq!(
            row,
            "| round trip, µs | 10.0 | 20.0 | 5 | 2.00 | 0.50 | \
             ≥ 2 × rmcp: met; ≥ 0.6 × baseline: **missed** |"
        );
    }
}
