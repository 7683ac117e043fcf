//! `weft firmware --gdb`, as a debugger meets it. It takes a card with a processor: `make processor`.
#![cfg(feature = "sim")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Nothing takes longer, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// Says a packet of GDB's protocol, and hears the answer.
fn ask(stream: &mut TcpStream, text: &str) -> String {
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    write!(stream, "${text}#{sum:02x}").expect("it listens");
    let mut byte = || {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("it answers");
        byte[0]
    };
    assert_eq!([byte(), byte()], *b"+$", "{text}");
    let mut answer = Vec::new();
    loop {
        match byte() {
            b'#' => break,
            other => answer.push(other),
        }
    }
    let _ = (byte(), byte());
    stream.write_all(b"+").expect("it listens");
    String::from_utf8(answer).expect("letters")
}

/// The firmware is halted, ends where it is let go, is looked at there, and left: then the command tells of the end.
#[test]
fn a_debugger_sees_the_firmware_end() {
    let (Some(_), Ok(image)) = (option_env!("WEFT_IBEX"), std::env::var("WEFT_FIRMWARE")) else {
        eprintln!("left out: no simulated card has a processor here");
        return;
    };
    let mut weft = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["firmware", "--device", "sim:card=rtl128", "--load", &image])
        .args(["--gdb", "0", "--crash", "assert"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(weft.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where");
    let port = line.trim().rsplit(':').next();
    let port: Option<u16> = port.and_then(|text| text.trim_end_matches('\'').parse().ok());
    let mut stream = TcpStream::connect(("127.0.0.1", port.expect(&line))).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("possible");

    assert_eq!(ask(&mut stream, "?"), "S05");
    // The version, in its memory.
    assert_eq!(ask(&mut stream, "m108,5"), "302e312e30");
    // It goes on, and panics.
    assert_eq!(ask(&mut stream, "c"), "S05");
    assert_eq!(ask(&mut stream, "D"), "OK");
    drop(stream);
    let output = weft.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    for part in ["an assertion failed", "asked for", "rust_begin_unwind"] {
        assert!(told.contains(part), "{part} is not in: {told}");
    }
}
