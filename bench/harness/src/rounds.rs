//! Letting contenders take turns.

use std::{collections::HashSet, process::Command, thread};

use crate::{
    Failure,
    figure::Who,
    group::{Group, Measured, Scale},
    quiet,
    results::{Line, Machine, Results},
};

/// Measures a group. All take turns, so that what disturbs one disturbs all.
///
/// # Errors
///
/// Where a contender fails, or something else loads the machine and nobody
/// said that it does not matter.
pub(crate) fn measure(group: &Group, scale: Scale, anyway: bool) -> Result<Results, Failure> {
    let mut results = Results {
        group: group.name.to_owned(),
        about: group.about.to_owned(),
        machine: Machine {
            cores: thread::available_parallelism().map_or(1, usize::from),
            compiler: compiler(),
            busy: 0.0,
        },
        figures: group.figures.iter().map(Line::new).collect(),
    };
    let rounds = if group.once { 1 } else { scale.rounds() };
    for round in 1..=rounds {
        eprintln!("{}: round {round} of {rounds}", group.name);
        let busy = match anyway || scale == Scale::Quick {
            true => quiet::busy(),
            false => quiet::wait()?,
        };
        results.machine.busy = results.machine.busy.max(busy);
        for contender in &group.contenders {
            let measured = (contender.measure)(scale)
                .map_err(|why| format!("{}, {}: {why}", group.name, contender.who.name()))?;
            note(&mut results, contender.who, measured)?;
        }
    }
    results.figures.retain(|line| !line.samples.is_empty());
    Ok(results)
}

fn note(results: &mut Results, who: Who, measured: Measured) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for (id, value) in measured {
        let line = results.figures.iter_mut().find(|line| line.id == id);
        // Programs print all that they see; not everything is a figure.
        let Some(line) = line else { continue };
        if !seen.insert(id) {
            return Err(format!("{} twice in one round", line.id));
        }
        line.samples.entry(who).or_default().push(value);
    }
    Ok(())
}

fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // Without its date and hash.
    let text = text.unwrap_or_default();
    text.split(" (").next().unwrap_or_default().to_owned()
}
