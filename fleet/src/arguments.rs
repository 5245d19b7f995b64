//! The command line.

use std::{
    env,
    ffi::OsString,
    io::{self, Write as _},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use bowline_fleet::{
    FaultPlan, FleetOptions, effects,
    node::{self, NodeOptions},
    process,
    run::{self, RunOptions},
    scenario,
};
use clap::{Args, Parser, Subcommand};

/// Nodes, a Redis and clients, under faults.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a fleet under faults and judges what happened
    Run(RunArguments),
    /// Is a node
    #[command(hide = true)]
    Node(NodeArguments),
    /// Is the process that writes down effects
    #[command(hide = true)]
    Effects {
        #[arg(long, default_value_t = 0)]
        port: u16,
        #[arg(long)]
        log: PathBuf,
    },
    /// Becomes another program, which ends with its parent
    #[command(hide = true)]
    Tied {
        #[arg(long)]
        parent: u32,
        #[arg(last = true)]
        program: Vec<OsString>,
    },
}

#[derive(Args)]
struct RunArguments {
    /// The number of calls with a Redis that writes everything to disk
    #[arg(long, default_value_t = 2_000)]
    conversations: usize,
    /// The number of calls with a Redis that forgets everything when it is restarted
    #[arg(long, default_value_t = 500)]
    forgetful: usize,
    /// The number of clients
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Repeats the random decisions of another run, though not its timing
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The lease, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    lease: u64,
    /// The mean time between two kills of a node, in milliseconds
    #[arg(long, default_value_t = 1_500)]
    kill_every: u64,
    /// The mean time between two pauses of a node, in milliseconds
    #[arg(long, default_value_t = 2_500)]
    pause_every: u64,
    /// The mean time between two restarts of Redis, in milliseconds
    #[arg(long, default_value_t = 10_000)]
    redis_every: u64,
    /// How often to measure how long it takes until a task is taken over
    #[arg(long, default_value_t = 0)]
    takeovers: usize,
}

#[derive(Args)]
struct NodeArguments {
    #[arg(long)]
    redis: String,
    #[arg(long)]
    effects: SocketAddr,
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[arg(long)]
    name: String,
    #[arg(long)]
    secret: String,
    #[arg(long)]
    lease: u64,
    #[arg(long, hide = true)]
    unguarded: bool,
}

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> io::Result<bool> {
    let runtime = |threads: usize| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
    };
    match command {
        Command::Tied { parent, program } => process::become_program(parent, &program)?,
        Command::Effects { port, log } => runtime(1)?.block_on(effects::serve(port, &log))?,
        Command::Node(arguments) => runtime(2)?.block_on(node::serve(arguments.into()))?,
        Command::Run(arguments) => return runtime(2)?.block_on(arguments.run()),
    }
    Ok(true)
}

impl From<NodeArguments> for NodeOptions {
    fn from(arguments: NodeArguments) -> Self {
        Self {
            redis: arguments.redis,
            effects: arguments.effects,
            port: arguments.port,
            name: arguments.name,
            secret: arguments.secret,
            lease: Duration::from_millis(arguments.lease),
            is_unguarded: arguments.unguarded,
        }
    }
}

impl RunArguments {
    /// Runs both phases. Returns whether all promises were kept.
    async fn run(self) -> io::Result<bool> {
        let mut is_fine = true;
        for (is_durable, conversations) in [(true, self.conversations), (false, self.forgetful)] {
            if conversations == 0 {
                continue;
            }
            let what = match is_durable {
                true => "Redis writes everything to disk",
                false => "Redis forgets everything when it is restarted",
            };
            writeln!(io::stdout(), "{what}, seed {}:", self.seed)?;
            let findings = run::run(self.options(is_durable, conversations)?).await?;
            writeln!(io::stdout(), "{findings}\n")?;
            is_fine &= findings.violations.is_empty();
        }
        if self.takeovers > 0 {
            self.measure_takeovers().await?;
        }
        Ok(is_fine)
    }

    async fn measure_takeovers(&self) -> io::Result<()> {
        let options = self.options(true, 0)?;
        let mut times = scenario::measure_takeovers(options.fleet, self.takeovers).await?;
        times.sort();
        writeln!(
            io::stdout(),
            "{} tasks taken over after their node was killed, with a lease of {} ms: after \
             {:?} at least, {:?} in the median, {:?} at most",
            times.len(),
            self.lease,
            times[0],
            times[times.len() / 2],
            times[times.len() - 1],
        )
    }

    fn options(&self, is_durable: bool, conversations: usize) -> io::Result<RunOptions> {
        let lease = Duration::from_millis(self.lease);
        Ok(RunOptions {
            fleet: FleetOptions {
                program: env::current_exe()?.into(),
                folder: run::new_folder(if is_durable { "durable" } else { "forgetful" }),
                lease,
                is_durable,
                is_unguarded: false,
                seed: self.seed,
            },
            conversations,
            clients: self.clients,
            faults: FaultPlan {
                kill_every: Duration::from_millis(self.kill_every),
                pause_every: Duration::from_millis(self.pause_every),
                longest_pause: lease * 5 / 2,
                redis_every: Duration::from_millis(self.redis_every),
            },
        })
    }
}
