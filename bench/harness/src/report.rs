//! The files that people read: `RESULTS.md`, its picture, and the comparison in
//! README.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Failure,
    figure::Target,
    groups::growth,
    plot,
    results::{Line, Results},
    table,
};

const BEGIN: &str = "<!-- What follows is written by `cargo xtask bench`. -->";
const END: &str = "<!-- What `cargo xtask bench` writes ends here. -->";

/// The figures that README always shows, with the titles that it gives them. It
/// also shows every figure that misses a target.
const HIGHLIGHTS: [(&str, &str); 6] = [
    (
        "stdio.one-core.p50",
        "stdio: one call at a time, client and server on one core, median",
    ),
    ("stdio.parallel.rate", "stdio: 64 calls in flight"),
    ("stdio.text-1mb.rate", "stdio: results with 1 MB of text"),
    (
        "http-server.json.64.rate",
        "HTTP server, revision 2026-07-28: 64 connections",
    ),
    (
        "http-memory.session.each",
        "HTTP server, revision 2025-11-25: memory of an idle session with its connection",
    ),
    ("http-client.64.rate", "HTTP client: 64 calls in flight"),
];

/// The group that is drawn, and where.
const GROWTH: &str = "growth";
const PICTURE: &str = "growth.svg";

/// Where everything is.
pub(crate) struct Places {
    root: PathBuf,
}

impl Places {
    /// The repository that this program was built from.
    pub(crate) fn here() -> Self {
        let harness = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = harness.ancestors().nth(2).unwrap_or(harness);
        Self {
            root: root.to_owned(),
        }
    }

    /// The results of a group.
    pub(crate) fn results(&self, group: &str) -> PathBuf {
        self.bench().join("results").join(format!("{group}.json"))
    }

    /// The folder of all benchmarks.
    pub(crate) fn bench(&self) -> PathBuf {
        self.root.join("bench")
    }

    fn tables(&self) -> PathBuf {
        self.bench().join("RESULTS.md")
    }

    fn picture(&self) -> PathBuf {
        self.bench().join(PICTURE)
    }

    fn readme(&self) -> PathBuf {
        self.root.join("README.md")
    }
}

/// Writes all of them from the results that there are.
pub(crate) fn write(places: &Places, all: &[Results]) -> Result<(), Failure> {
    for (path, text) in texts(places, all)? {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Whether they say what the results say.
pub(crate) fn check(places: &Places, all: &[Results]) -> Result<(), Failure> {
    for (path, text) in texts(places, all)? {
        if read(&path)? != text {
            return Err(format!(
                "{} differs from bench/results; `cargo xtask bench report` rewrites it",
                path.display()
            ));
        }
    }
    Ok(())
}

fn texts(places: &Places, all: &[Results]) -> Result<Vec<(PathBuf, String)>, Failure> {
    let readme = read(&places.readme())?;
    let mut texts = vec![
        (places.tables(), results(all)),
        (places.readme(), within(&readme, &comparison(all))?),
    ];
    texts.extend(picture(all).map(|picture| (places.picture(), picture)));
    Ok(texts)
}

/// How costs grow, if that was measured.
fn picture(all: &[Results]) -> Option<String> {
    let grown = all.iter().find(|results| results.group == GROWTH)?;
    let plots = growth::plots(|who, id| {
        let line = grown.figures.iter().find(|line| line.id == id)?;
        Some(line.of(who)?.median)
    });
    Some(plot::svg(&plots))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// All results, for those who want to know.
fn results(all: &[Results]) -> String {
    let mut text = String::from(INTRODUCTION);
    for results in all {
        let Results {
            group,
            about,
            machine,
            figures,
        } = results;
        let _ = write!(text, "\n## {group}\n\n{about}\n\n");
        let rounds = results.rounds();
        let rounds = match rounds {
            1 => "Once".to_owned(),
            _ => format!("{rounds} rounds"),
        };
        let _ = writeln!(
            text,
            "{rounds}, {} cores, {}; others took at most {:.0} % of the processors before a round.\n",
            machine.cores,
            machine.compiler,
            machine.busy * 100.0
        );
        if group == GROWTH {
            let _ = writeln!(text, "![What one costs among many]({PICTURE})\n");
        }
        text.push_str(&table::summary(figures));
        text.push_str("\nAll programs, with the minimum and the maximum of all rounds:\n\n");
        text.push_str(&table::details(results));
    }
    text
}

const INTRODUCTION: &str = "# What things cost\n\n\
    Written by `cargo xtask bench`, from [results](results) as JSON.\n\n\
    **Bowline**: with default settings, as the guides show it. **rmcp**: version 3.8.0, the \
    better of two programs in each line, one as its documentation shows it, one with every \
    setting at its best. **jsonschema**: the crate of that name, version 0.60, without its \
    optional features. **baseline**: the smallest program that does the same work. **bare \
    baseline**: the smallest possible program, which does not do all the work. **target**: the \
    goal that this project sets itself for the figure, if there is one.\n\n\
    All take turns in each round. Figures are medians over the rounds. *× rmcp*, \
    *× jsonschema* and *× baseline* are ratios within each round, always such that more than 1 \
    means that Bowline is better. Times differ between machines and hours; ratios and counts do not.\n";

/// The comparison in README: the highlights, every figure that misses a target,
/// and how many targets are met in all.
fn comparison(all: &[Results]) -> String {
    let shown = all.iter().flat_map(|results| {
        let lines = results.figures.iter();
        lines.filter_map(|line| {
            let title = readme_title(&results.group, line)?;
            let line = line.clone();
            Some(Line { title, ..line })
        })
    });
    let shown: Vec<Line> = shown.collect();
    let lines = all.iter().flat_map(|results| &results.figures);
    let met: Vec<bool> = lines
        .flat_map(|line| line.targets.iter().map(|target| is_met(line, *target)))
        .collect();
    // Not "x of y": that is how README gives the figures of the conformance suite,
    // and a test looks for them.
    format!(
        "{}\nTargets met: {} out of {}. This table is a selection, with every figure that missed its \
         target; [bench/RESULTS.md](bench/RESULTS.md) has them all.\n",
        table::summary(&shown),
        met.iter().filter(|met| **met).count(),
        met.len(),
    )
}

/// The title of a figure in README. `None` if README does not show it.
fn readme_title(group: &str, line: &Line) -> Option<String> {
    let highlight = HIGHLIGHTS.iter().find(|(id, _)| *id == line.id);
    let is_missed = || line.targets.iter().any(|target| !is_met(line, *target));
    match highlight {
        Some((_, title)) => Some((*title).to_owned()),
        None => is_missed().then(|| format!("{group}: {}", line.title)),
    }
}

fn is_met(line: &Line, target: Target) -> bool {
    line.reaches(target) == Some(true)
}

/// Puts the text between the two marks.
fn within(readme: &str, text: &str) -> Result<String, Failure> {
    let parts = readme
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        return Err(format!("README.md has no {BEGIN:?} and {END:?}"));
    };
    Ok(format!("{before}{BEGIN}\n\n{text}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        figure::{Better, Who},
        groups,
    };

    #[test]
    fn readme_shows_the_highlights_and_every_miss() {
        let line = |id: &str, target: f64| Line {
            id: id.to_owned(),
            title: format!("the title of {id}"),
            unit: "µs".into(),
            better: Better::Less,
            targets: vec![Target::AtMost(target)],
            samples: [(Who::Ours, vec![10.0])].into_iter().collect(),
        };
        let (id, title) = HIGHLIGHTS[0];
        let titles = [line(id, 20.0), line("a.b", 5.0), line("a.c", 20.0)]
            .map(|line| readme_title("group", &line));
        let missed = "group: the title of a.b".to_owned();
        assert_eq!(titles, [Some(title.to_owned()), Some(missed), None]);
    }

    #[test]
    fn every_highlight_is_measured() {
        let groups = groups::all();
        for (id, _) in HIGHLIGHTS {
            let mut figures = groups.iter().flat_map(|group| group.figures.iter());
            assert!(figures.any(|figure| figure.id == id), "{id}");
        }
    }

    #[test]
    fn what_stands_around_the_comparison_stays() {
        let readme = format!("before\n\n{BEGIN}\nold\n{END}\nafter\n");
        let new = within(&readme, "new\n").unwrap();
        assert_eq!(new, format!("before\n\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(within(&new, "new\n").unwrap(), new);
        assert!(within("nothing", "new").is_err());
    }
}
