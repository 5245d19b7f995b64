//! The gate: what the core paths cost must not grow unseen.
//!
//! CI counts what each costs, and compares with `bench/core/recorded.json`. A
//! change that makes one dearer by more than a twentieth has to change the
//! record too, in the same commit, where people see it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use serde::{Deserialize, Serialize};

use crate::{Failure, callgrind, program, report::Places, table::number};

/// How much dearer a path may get without anybody saying so.
const LEEWAY: f64 = 0.05;

/// Each path, and how often it is run.
const PATHS: &[(&str, usize)] = &[
    ("envelope", 1000),
    ("client-call", 1000),
    ("client-call-large", 20),
    ("stream-call", 1000),
    ("server-call", 1000),
    ("server-call-large", 20),
    ("server-call-stateless", 1000),
    ("server-question", 200),
    ("http-request", 1000),
    ("list-decode", 4),
    ("list-serve", 10),
];

/// What one of something costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Cost {
    instructions: f64,
    allocations: f64,
}

type Costs = BTreeMap<String, Cost>;

/// Counts, and compares with the record.
///
/// # Errors
///
/// Where something got dearer.
pub(crate) fn check(places: &Places) -> Result<(), Failure> {
    let recorded = read(places)?;
    let counted = count()?;
    print!("{}", compare(&recorded, &counted));
    match dearer(&recorded, &counted)[..] {
        [] => Ok(()),
        ref dearer => Err(format!(
            "dearer than recorded by more than {:.0} %, or not recorded: {}. If that is meant, \
             `cargo xtask bench core --record`, and commit the record with the change",
            LEEWAY * 100.0,
            dearer.join(", ")
        )),
    }
}

/// Counts, and makes it the record.
pub(crate) fn record(places: &Places) -> Result<(), Failure> {
    let counted = count()?;
    if let Ok(recorded) = read(places) {
        print!("{}", compare(&recorded, &counted));
    }
    let text = serde_json::to_string_pretty(&counted).map_err(|error| error.to_string())?;
    let path = path(places);
    fs::write(&path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

fn path(places: &Places) -> PathBuf {
    places.bench().join("core").join("recorded.json")
}

fn read(places: &Places) -> Result<Costs, Failure> {
    let path = path(places);
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Counts all paths, as many at once as there are cores.
fn count() -> Result<Costs, Failure> {
    callgrind::present()?;
    let program = program::sibling("core-paths")?;
    let paths = Mutex::new(PATHS.iter());
    let next = || paths.lock().expect("not poisoned").next();
    let count_some = || {
        let mut costs = Costs::new();
        while let Some((name, times)) = next() {
            costs.insert((*name).to_owned(), count_one(&program, name, *times)?);
        }
        Ok(costs)
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, Into::into);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(count_some)).collect();
        let mut all = Costs::new();
        for thread in threads {
            let counted: Result<Costs, Failure> = thread.join().expect("it does not panic");
            all.extend(counted?);
        }
        Ok(all)
    })
}

fn count_one(program: &Path, name: &str, times: usize) -> Result<Cost, Failure> {
    let (instructions, allocations) = callgrind::each(times, |found, times| {
        let mut command = Command::new(program);
        command.args([name, times.to_string().as_str()]);
        callgrind::run(found, &command)
    })?;
    Ok(Cost {
        instructions: instructions.round(),
        allocations: (allocations * 10.0).round() / 10.0,
    })
}

fn dearer(recorded: &Costs, counted: &Costs) -> Vec<String> {
    let dearer = counted.iter().filter(|(name, now)| {
        recorded.get(*name).is_none_or(|then| {
            let most = 1.0 + LEEWAY;
            // A tenth of an allocation is a table that grew at another time.
            now.instructions > then.instructions * most
                || now.allocations > then.allocations * most + 0.1
        })
    });
    dearer.map(|(name, _)| name.clone()).collect()
}

fn compare(recorded: &Costs, counted: &Costs) -> String {
    let mut text = format!(
        "{:<24}{:>14}{:>14}{:>9}{:>13}{:>10}\n",
        "path", "instructions", "recorded", "", "allocations", "recorded"
    );
    for (name, now) in counted {
        let (then, change) = match recorded.get(name) {
            Some(then) => (Some(then), now.instructions / then.instructions - 1.0),
            None => (None, 0.0),
        };
        let old =
            |cost: fn(&Cost) -> f64| then.map_or_else(|| "–".to_owned(), |it| number(cost(it)));
        text += &format!(
            "{name:<24}{:>14}{:>14}{:>+8.1}%{:>13}{:>10}\n",
            number(now.instructions),
            old(|cost| cost.instructions),
            change * 100.0,
            number(now.allocations),
            old(|cost| cost.allocations),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(costs: &[(&str, f64, f64)]) -> Costs {
        let costs = costs.iter().map(|(name, instructions, allocations)| {
            let cost = Cost {
                instructions: *instructions,
                allocations: *allocations,
            };
            ((*name).to_owned(), cost)
        });
        costs.collect()
    }

    #[test]
    fn only_what_got_dearer_than_the_leeway_or_is_new_is_told() {
        let recorded = costs(&[
            ("a", 1000.0, 7.0),
            ("b", 1000.0, 7.0),
            ("c", 1000.0, 7.0),
            ("d", 1000.0, 7.0),
        ]);
        let counted = costs(&[
            ("a", 1049.0, 7.1),
            ("b", 1051.0, 7.0),
            ("c", 500.0, 8.0),
            ("d", 500.0, 0.0),
            ("e", 1.0, 0.0),
        ]);
        assert_eq!(dearer(&recorded, &counted), ["b", "c", "e"]);
    }
}
