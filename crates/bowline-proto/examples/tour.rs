//! A tour of the protocol core: a client machine and a server machine in one
//! thread, with no sockets between them and a clock that is a number.
//!
//! ```sh
//! cargo run -p bowline-proto --example tour
//! ```
//!
//! Each line is something that a machine put out: a frame with its direction, or
//! what it told its host. Nothing is invented but the crash.

#![expect(clippy::print_stdout, reason = "a tour that says nothing is none")]

use std::time::Duration;

use bowline_proto::{
    Instant,
    client::{self, CallOptions, ConnectionErrorKind, ProgressMode, Request},
    model::{CallToolParams, CallToolResult, ResourcesCapability, ToolsCapability},
    server::{self, Reply, RequestContext, RequestKey, encode_result},
};

const NOTES: &str = "file:///notes.md";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tour = Tour::new();

    tour.chapter("The client asks which era the server speaks, and opens");
    tour.client.start(tour.now);
    tour.run();

    tour.chapter("It subscribes to a resource, which then changes");
    tour.client
        .subscribe(tour.now, NOTES, CallOptions::default());
    tour.run();
    tour.server.resource_updated(NOTES);
    tour.run();

    tour.chapter("It calls a tool, which reports progress and answers");
    tour.call("count")?;
    let (request, context) = tour.asked()?;
    for step in 1..=2 {
        tour.pass(Duration::from_millis(200));
        tour.server
            .progress(request, step, Some(2.into()), Some("counting"));
        tour.run();
    }
    let result = encode_result(&context, CallToolResult::text("two sheep"))?;
    tour.server
        .respond(tour.now, request, Reply::Result(result));
    tour.run();

    tour.chapter("The server dies in the middle of the next call");
    tour.call("count")?;
    tour.pass(Duration::from_millis(50));
    tour.crash();

    tour.chapter("The client backs off, dials again and restores its subscription");
    while tour.client.state() != client::ConnectionState::Ready {
        tour.sleep();
    }
    tour.server.resource_updated(NOTES);
    tour.run();

    tour.chapter("It stops");
    tour.client.stop(tour.now);
    tour.run();
    println!("\nThe client holds: {:?}", tour.client.stats());
    println!("The server holds: {:?}", tour.server.stats());
    Ok(())
}

/// Both machines, the link between them, and the clock.
struct Tour {
    client: client::Connection,
    server: server::Connection,
    now: Instant,
    link: Option<client::LinkId>,
    /// When the client wants to be woken.
    deadline: Option<Instant>,
    asked: Option<(RequestKey, Box<RequestContext>)>,
}

impl Tour {
    fn new() -> Self {
        Self {
            client: client::Connection::new(client::Config::new("tourist", "1.0.0"), 42),
            server: new_server(),
            now: Instant::ORIGIN,
            link: None,
            deadline: None,
            asked: None,
        }
    }

    fn call(&mut self, tool: &str) -> Result<(), Box<dyn std::error::Error>> {
        let request = Request::new(CallToolParams::new(tool))?;
        let options = CallOptions {
            progress: ProgressMode::Report,
            ..CallOptions::default()
        };
        self.client.call(self.now, request, options);
        self.run();
        Ok(())
    }

    /// The request that the server has to answer.
    fn asked(&mut self) -> Result<(RequestKey, Box<RequestContext>), &'static str> {
        self.asked.take().ok_or("the server was not asked")
    }

    /// Carries frames between the machines until neither has more to say.
    fn run(&mut self) {
        while self.drain_client() | self.drain_server() {}
    }

    fn drain_client(&mut self) -> bool {
        let mut spoke = false;
        loop {
            match self.client.poll_output() {
                client::Output::Idle(deadline) => {
                    self.deadline = deadline;
                    return spoke;
                }
                client::Output::Dial { link, attempt, .. } => {
                    self.say("client", &format!("dials (attempt {attempt})"));
                    self.link = Some(link);
                    self.server = new_server();
                    self.client.handle(self.now, client::Input::Up { link });
                }
                client::Output::Send { frame, .. } => {
                    self.say("  --> ", &String::from_utf8_lossy(&frame));
                    self.server.handle(self.now, server::Input::Frame(frame));
                }
                client::Output::Close { link } => {
                    self.say("client", "hangs up");
                    self.server.handle(self.now, server::Input::Closed);
                    let cause = ConnectionErrorKind::Exited {
                        code: Some(0),
                        signal: None,
                    }
                    .into();
                    self.client
                        .handle(self.now, client::Input::Down { link, cause });
                }
                client::Output::CallDone { outcome, .. } => {
                    let how = match outcome {
                        client::Outcome::Result(_) => "with a result".to_owned(),
                        client::Outcome::Error(error) => error.to_string(),
                        client::Outcome::Failed(why) => why.to_string(),
                    };
                    self.say("client", &format!("call ended: {how}"));
                }
                client::Output::Event(event) => self.say("client", &format!("{event:?}")),
                _ => {}
            }
            spoke = true;
        }
    }

    fn drain_server(&mut self) -> bool {
        let mut spoke = false;
        loop {
            match self.server.poll_output() {
                server::Output::Idle(_) => return spoke,
                server::Output::Send { frame, .. } => {
                    self.say("  <-- ", &String::from_utf8_lossy(&frame));
                    if let Some(link) = self.link {
                        self.client
                            .handle(self.now, client::Input::Frame { link, frame });
                    }
                }
                server::Output::Event(server::Event::Request {
                    request,
                    method,
                    context,
                    ..
                }) => {
                    self.say("server", &format!("is asked: {method}"));
                    self.asked = Some((request, context));
                }
                server::Output::Event(event) => self.say("server", &format!("{event:?}")),
                _ => {}
            }
            spoke = true;
        }
    }

    /// The server's process dies, and the link with it.
    fn crash(&mut self) {
        self.server.handle(self.now, server::Input::Closed);
        let cause = client::ConnectionError::new(ConnectionErrorKind::Exited {
            code: Some(137),
            signal: None,
        });
        if let Some(link) = self.link.take() {
            let cause = cause.with_detail("out of memory");
            self.client
                .handle(self.now, client::Input::Down { link, cause });
        }
        self.run();
    }

    fn pass(&mut self, wait: Duration) {
        self.now = self.now + wait;
    }

    /// Lets time pass until the client wants to do something.
    fn sleep(&mut self) {
        if let Some(deadline) = self.deadline {
            self.now = self.now.max(deadline);
        }
        self.client.handle(self.now, client::Input::Tick);
        self.run();
    }

    fn chapter(&self, title: &str) {
        println!("\n== {title}");
    }

    fn say(&self, who: &str, what: &str) {
        println!(
            "{:>9.3}s {who} {what}",
            self.now.since_origin().as_secs_f64()
        );
    }
}

fn new_server() -> server::Connection {
    let mut config = server::Config::new("shepherd", "1.0.0");
    config.capabilities.tools = Some(ToolsCapability::default());
    let mut resources = ResourcesCapability::default();
    resources.subscribe = Some(true);
    config.capabilities.resources = Some(resources);
    server::Connection::new(config)
}
