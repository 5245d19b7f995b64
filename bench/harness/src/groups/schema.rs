//! What schemas cost: to check arguments, and to compile and print tools.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Failure,
    figure::{Better, Figure, Target, Who},
    group::{Contender, Group, Measured, Scale},
    program::{measured, sibling},
};

/// Schemas, compared with the crate jsonschema.
pub(crate) fn group() -> Group {
    Group {
        name: "schema",
        about: "Arguments are checked against schemas as tools publish them: four flat members; \
                an object with arrays of objects; and an array of tagged alternatives beside a \
                pattern. A value is a `serde_json::Value`, and the answer is yes or no. From \
                JSON: as a server does it, which knows already that the text is JSON, so ours \
                does not check that again; ours checks all three schemas on the text, and makes \
                a value of what it does not accept there, as jsonschema does of all. Wrong JSON: \
                with the messages; ours also name what was expected and what was probably meant. Compile \
                and print 1,000 tools: the validator, the check on text, the shape, and the types \
                in TypeScript and Rust, the signature and the list of members in Markdown, of \
                schemas that are values already; compile: the validators, ours with the check on \
                text. Tools are \
                generated, in the size that published ones have, or are those of 15 published \
                servers, repeated, if `cargo xtask peers` has asked for them. Crates: all that \
                are built, with the crate itself.",
        figures: FIGURES,
        contenders: vec![
            contender(Who::Ours, "ours", "bowline-schema"),
            contender(Who::Jsonschema, "jsonschema", "jsonschema"),
        ],
        once: false,
    }
}

const AS_FAST: &[Target] = &[Target::TimesJsonschema(1.0)];

/// Four figures for each case, and the others.
macro_rules! figures {
    ($($case:literal, $title:literal;)* $(+ $id:literal, $other:literal, $unit:literal, $targets:expr;)*) => {
        &[$(
            figure(concat!("schema.", $case, ".text.valid"), concat!($title, ": check JSON"), "ns", AS_FAST),
            figure(concat!("schema.", $case, ".text.invalid"), concat!($title, ": explain wrong JSON"), "ns", AS_FAST),
            figure(concat!("schema.", $case, ".value.valid"), concat!($title, ": check a value"), "ns", AS_FAST),
            figure(concat!("schema.", $case, ".value.invalid"), concat!($title, ": reject a value"), "ns", AS_FAST),
        )* $(figure(concat!("schema.", $id), $other, $unit, $targets),)*]
    };
}

const fn figure(
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    targets: &'static [Target],
) -> Figure {
    Figure {
        id,
        title,
        unit,
        better: Better::Less,
        targets,
    }
}

const FIGURES: &[Figure] = figures! {
    "flat", "flat";
    "nested", "nested";
    "union", "alternatives";
    + "generated.compile", "compile 1,000 generated tools", "ms", AS_FAST;
    + "published.compile", "compile 1,000 published tools", "ms", AS_FAST;
    + "generated.print", "compile and print 1,000 generated tools", "ms", &[Target::AtMost(200.0)];
    + "published.print", "compile and print 1,000 published tools", "ms", &[Target::AtMost(200.0)];
    + "crates", "crates", "crates", &[];
};

/// How often each checks all arguments.
const CHECKS: usize = 100_000;

/// How often each compiles and prints all tools.
const TOOLS: usize = 10;

fn contender(who: Who, name: &'static str, package: &'static str) -> Contender {
    let program = move |what: &str, times: usize| {
        let mut command = Command::new(sibling("schema")?);
        command.args([what, name, &times.to_string()]);
        measured(command)
    };
    Contender {
        who,
        measure: Box::new(move |scale: Scale| {
            let mut figures: Measured = program("check", scale.of(CHECKS))?;
            figures.extend(program("tools", scale.of(TOOLS))?);
            figures.push(("schema.crates".to_owned(), crates(package)?));
            Ok(figures)
        }),
    }
}

/// How many crates are built for a package.
fn crates(package: &str) -> Result<f64, Failure> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/Cargo.toml");
    let cargo = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
    let mut tree = Command::new(cargo);
    tree.args([
        "tree",
        "--locked",
        "--prefix",
        "none",
        "--edges",
        "normal,build",
    ])
    .args(["--package", package, "--manifest-path"])
    .arg(manifest);
    let output = tree
        .output()
        .map_err(|error| format!("{tree:?}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{tree:?}: {said}"));
    }
    Ok(count(&String::from_utf8_lossy(&output.stdout)) as f64)
}

/// Each crate has a line for every time that it is needed.
fn count(tree: &str) -> usize {
    let names = tree.lines().map(|line| {
        let mut words = line.split(' ');
        (words.next(), words.next())
    });
    let names: BTreeSet<_> = names.filter(|(_, version)| version.is_some()).collect();
    names.len()
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn a_crate_counts_once() {
        let tree = "one v1.0.0 (/somewhere)\ntwo v0.1.0\nthree v2.0.0 (proc-macro)\ntwo v0.1.0 (*)\ntwo v0.2.0\n";
        assert_eq!(count(tree), 4);
    }
}
