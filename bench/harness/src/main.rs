//! Lets the contenders of each group take turns, and writes what came out.
//!
//! - `bench [--quick] [--anyway] [group…]` measures: all groups, or those that
//!   are named. Quickly, to see whether it works, which keeps nothing; or
//!   though something else loads the machine.
//! - `bench core [--record]` counts what the core paths cost, and compares with
//!   the record, or makes it the record.
//! - `bench report [--check]` writes the files that people read anew from the
//!   results that are kept, or looks whether they say what those say.

mod callgrind;
mod core;
mod figure;
mod group;
mod groups;
mod plot;
mod process;
mod program;
mod quiet;
mod report;
mod results;
mod rounds;
mod table;

use std::process::ExitCode;

use group::{Group, Scale};
use report::Places;
use results::Results;

/// What went wrong, in words for the person at the terminal.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let places = Places::here();
    let ended = match arguments[..] {
        ["core"] => core::check(&places),
        ["core", "--record"] => core::record(&places),
        ["report"] => kept(&places).and_then(|all| report::write(&places, &all)),
        ["report", "--check"] => kept(&places).and_then(|all| report::check(&places, &all)),
        _ => measure(&places, &arguments),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn measure(places: &Places, arguments: &[&str]) -> Result<(), Failure> {
    let (options, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|it| it.starts_with("--"));
    let unknown = |it: &&&str| !["--quick", "--anyway"].contains(it);
    if let Some(unknown) = options.iter().find(unknown) {
        return Err(format!(
            "there is no {unknown}; there are --quick and --anyway"
        ));
    }
    let scale = match options.contains(&"--quick") {
        true => Scale::Quick,
        false => Scale::Full,
    };
    for group in chosen(&names)? {
        let results = rounds::measure(&group, scale, options.contains(&"--anyway"))?;
        println!("\n{}\n\n{}", group.name, table::summary(&results.figures));
        if scale == Scale::Full {
            results.write(&places.results(group.name))?;
            report::write(places, &kept(places)?)?;
        }
    }
    if scale == Scale::Quick {
        eprintln!("A quick run: nothing of it is kept.");
    }
    Ok(())
}

/// The groups that are named, or all.
fn chosen(names: &[&str]) -> Result<Vec<Group>, Failure> {
    let mut groups = groups::all();
    if let Some(unknown) = names
        .iter()
        .find(|name| !groups.iter().any(|group| group.name == **name))
    {
        let known: Vec<_> = groups.iter().map(|group| group.name).collect();
        return Err(format!(
            "there is no {unknown}; there are {}",
            known.join(", ")
        ));
    }
    groups.retain(|group| names.is_empty() || names.contains(&group.name));
    Ok(groups)
}

/// The results that there are, in the order of the groups.
fn kept(places: &Places) -> Result<Vec<Results>, Failure> {
    let groups = groups::all();
    let paths = groups.iter().map(|group| places.results(group.name));
    paths
        .filter(|path| path.exists())
        .map(|path| Results::read(&path))
        .collect()
}
