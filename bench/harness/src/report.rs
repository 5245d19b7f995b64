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
        text.push_str("\nEverybody's, with the least and the greatest of all rounds:\n\n");
        text.push_str(&table::details(results));
    }
    text
}

const INTRODUCTION: &str = "# What things cost\n\n\
    Written by `cargo xtask bench`, from [results](results) as JSON.\n\n\
    **Bowline**: with default settings, as the guides show it. **rmcp**: version 3.8.0, the \
    better of two programs in each line, one as its documentation shows it, one with every \
    setting at its best. **baseline**: the smallest program that does the same work. **bare \
    baseline**: the smallest possible program, which does not do all the work.\n\n\
    All take turns in each round. Figures are medians over the rounds. *× rmcp* and \
    *× baseline* are ratios within each round, always such that more than 1 means that Bowline \
    is better. Times differ between machines and hours; ratios and counts do not.\n";

/// The lines that README shows: those that have a target.
fn comparison(all: &[Results]) -> String {
    let lines = all.iter().flat_map(|results| {
        let wanted = results
            .figures
            .iter()
            .filter(|line| !line.targets.is_empty());
        wanted.map(|line| Line {
            title: format!("{}: {}", results.group, line.title),
            ..line.clone()
        })
    });
    let lines: Vec<Line> = lines.collect();
    let targets = || {
        lines
            .iter()
            .flat_map(|line| line.targets.iter().map(move |it| (line, *it)))
    };
    let missed = |(line, target): &(&Line, Target)| line.reaches(*target) != Some(true);
    let (all, missed) = (targets().count(), targets().filter(missed).count());
    format!(
        "{}\nTargets met: {} out of {all}.\n",
        table::summary(&lines),
        all - missed
    )
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

    #[test]
    fn what_stands_around_the_comparison_stays() {
        let readme = format!("before\n\n{BEGIN}\nold\n{END}\nafter\n");
        let new = within(&readme, "new\n").unwrap();
        assert_eq!(new, format!("before\n\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(within(&new, "new\n").unwrap(), new);
        assert!(within("nothing", "new").is_err());
    }
}
