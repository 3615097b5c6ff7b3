//! S1 in Rust: `writeln!` straight into a `File`, three system calls per record.
//!
//!     s1r unbuffered RECORDS    a bare File
//!     s1r buffered RECORDS      the same through a BufWriter of 8 KiB

use std::fs::File;
use std::io::{BufWriter, Result, Write};

#[inline(never)]
fn emit_record<W: Write>(out: &mut W, n: u64) -> Result<()> {
    writeln!(out, "rec {n}")
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let (Some(variant), Some(records)) = (args.get(1), args.get(2).and_then(|n| n.parse().ok()))
    else {
        eprintln!("usage: s1r unbuffered|buffered RECORDS");
        std::process::exit(2);
    };
    let mut file = File::create("s1r.out")?;
    if variant == "buffered" {
        let mut out = BufWriter::with_capacity(8192, file);
        for n in 0..records {
            emit_record(&mut out, n)?;
        }
        return out.flush();
    }
    for n in 0..records {
        emit_record(&mut file, n)?;
    }
    Ok(())
}
