//! The command under test.

use std::process::{Command, Output, Stdio};

/// It, with these arguments, and nothing that the environment says of cards.
pub fn weft(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("RUST_LOG")
        .env_remove("WEFT_DEVICE")
        .env_remove("WEFT_RUNG");
    command
}

/// What it says, and how it ends.
pub fn run(arguments: &[&str]) -> Output {
    let weft = weft(arguments);
    // Whatever is wrong with the arguments, it ends.
    let mut limited = Command::new("timeout");
    limited
        .arg("60")
        .arg(weft.get_program())
        .args(weft.get_args());
    for (name, value) in weft.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let output = limited.stdin(Stdio::null()).output().expect("weft starts");
    assert_ne!(
        output.status.code(),
        Some(124),
        "{arguments:?} does not end"
    );
    output
}

/// Of an output.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
