//! The server as a process: blocking, over its standard streams.

use std::io::{self, BufRead as _, BufReader, Write as _};

use bowline_bench::server::answer;

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        if answer(&line, &mut out) {
            out.push(b'\n');
        }
        line.clear();
        // As long as another request is here already, its answer can go along.
        if !input.buffer().contains(&b'\n') {
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
        }
    }
    Ok(())
}
