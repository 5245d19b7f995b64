//! Calls without a runtime: one thread writes as many as may be in flight, reads
//! what has come, and writes as many again, in one piece.

use std::{
    io::{Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::{Duration, Instant},
};

use super::super::{
    arguments::Plan,
    lines::Lines,
    load::{Client, Load, check},
    start::Start,
    wire::{after, opening},
};
use crate::Failure;

/// What may be on the way at once. If it were more than the pipes hold, both
/// sides could wait for ever until the other reads.
const ON_THE_WAY: usize = 48 * 1024;
/// What a message is longer than its text, at most, on short texts.
const AROUND: usize = 400;

/// How a client writes calls and reads answers.
pub(super) trait Words {
    /// Writes a call behind what is there.
    fn call(&mut self, id: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// Which call is answered, and how long the text is that came back. None
    /// for what is no answer.
    fn answer(&mut self, line: &[u8]) -> Result<Option<(u64, Option<usize>)>, Failure>;
}

/// A connection, and the process at its other end.
pub(super) struct Pipelined<W> {
    words: W,
    child: Child,
    input: ChildStdout,
    /// None when it was stopped.
    output: Option<ChildStdin>,
    lines: Lines,
    out: Vec<u8>,
    next: u64,
}

impl<W: Words> Pipelined<W> {
    /// Connects to the server that it starts.
    pub(super) fn connect(words: W, plan: &Plan, start: &Start) -> Result<Self, Failure> {
        let mut command = start.command();
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let streams = child.stdout.take().zip(child.stdin.take());
        let (input, output) = streams.ok_or("the child has no streams")?;
        let mut connected = Self {
            words,
            child,
            input,
            output: Some(output),
            lines: Lines::new(),
            out: Vec::new(),
            next: 1,
        };
        connected
            .out
            .extend_from_slice(opening(plan.era).as_bytes());
        connected.send()?;
        while connected.lines.next().is_none() {
            connected.receive()?;
        }
        connected.out.extend_from_slice(after(plan.era).as_bytes());
        connected.send()?;
        Ok(connected)
    }

    fn send(&mut self) -> Result<(), Failure> {
        let output = self.output.as_mut().ok_or("it was stopped")?;
        let sent = output.write_all(&self.out);
        self.out.clear();
        sent.map_err(|error| error.to_string())
    }

    fn receive(&mut self) -> Result<(), Failure> {
        let count = self
            .input
            .read(self.lines.room())
            .map_err(|error| error.to_string())?;
        self.lines.filled(count);
        match count {
            0 => Err("the server ended".to_owned()),
            _ => Ok(()),
        }
    }

    fn one_by_one(&mut self, load: &mut Load) -> Result<(), Failure> {
        for _ in 0..load.calls {
            let begun = Instant::now();
            let mut flight = Flight::new(self.next, 1);
            self.next += 1;
            self.words.call(flight.first, &load.text, &mut self.out)?;
            self.send()?;
            while flight.answered == 0 {
                self.receive()?;
                while let Some(line) = self.lines.next() {
                    flight.land(self.words.answer(line)?, &load.text)?;
                }
            }
            load.took(begun);
        }
        Ok(())
    }

    fn side_by_side(&mut self, load: &Load) -> Result<(), Failure> {
        let mut flight = Flight::new(self.next, load.calls);
        self.next += load.calls as u64;
        let mut sent = 0;
        while flight.answered < load.calls {
            let until = load.calls.min(flight.answered + load.width);
            for index in sent..until {
                let id = flight.first + index as u64;
                self.words.call(id, &load.text, &mut self.out)?;
            }
            if until > sent {
                self.send()?;
                sent = until;
            }
            self.receive()?;
            while let Some(line) = self.lines.next() {
                flight.land(self.words.answer(line)?, &load.text)?;
            }
        }
        Ok(())
    }
}

impl<W: Words> Client for Pipelined<W> {
    fn run(&mut self, load: &mut Load) -> Result<(), Failure> {
        if load.width == 1 {
            return self.one_by_one(load);
        }
        match load.width * (load.text.len() + AROUND) > ON_THE_WAY {
            true => Err("so much at once would not fit into the pipes".to_owned()),
            false => self.side_by_side(load),
        }
    }

    fn stop(&mut self) -> Result<(), Failure> {
        drop(self.output.take());
        self.child.wait().map_err(|error| error.to_string())?;
        Ok(())
    }

    fn pause(&mut self, time: Duration) {
        std::thread::park_timeout(time);
    }
}

/// Calls of which each is answered once.
struct Flight {
    /// The id of the first; the others follow.
    first: u64,
    landed: Vec<bool>,
    answered: usize,
}

impl Flight {
    fn new(first: u64, calls: usize) -> Self {
        Self {
            first,
            landed: vec![false; calls],
            answered: 0,
        }
    }

    /// Takes an answer, if it is one.
    fn land(&mut self, answer: Option<(u64, Option<usize>)>, text: &str) -> Result<(), Failure> {
        let Some((id, length)) = answer else {
            return Ok(());
        };
        check(length, text)?;
        let index = id
            .checked_sub(self.first)
            .and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.landed.get_mut(index)) {
            Some(landed @ false) => {
                *landed = true;
                self.answered += 1;
                Ok(())
            }
            _ => Err(format!("nobody waits for answer {id}")),
        }
    }
}
