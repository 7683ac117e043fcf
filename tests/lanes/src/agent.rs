//! What the host and the agent inside the guest say to each other over a serial line: a length, then the message.

use std::io::{self, Read, Write};

use serde::{de::DeserializeOwned, Deserialize, Serialize};

/// From the host to the agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Run this by the shell, in a process group of its own.
    Start {
        /// The host's name for it.
        id: u32,
        /// What `sh -c` gets.
        command: String,
    },
    /// Send a signal to everything a command started (its process group).
    Signal {
        /// The command.
        id: u32,
        /// The signal's number.
        signal: i32,
    },
}

/// From the agent to the host.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    /// The guest is up.
    Hello,
    /// A command wrote this.
    Output {
        /// The command.
        id: u32,
        /// To standard error, not to standard output.
        stderr: bool,
        /// What it wrote.
        bytes: Vec<u8>,
    },
    /// A command ended. All of its output has been sent.
    Exit {
        /// The command.
        id: u32,
        /// How.
        status: Status,
    },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Status {
    /// Exit code 0.
    pub fn success(self) -> bool {
        self == Status::Code(0)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Status::Code(code) => write!(f, "exit status {code}"),
            Status::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

/// The longest message: output is cut into much shorter ones.
const LONGEST: u32 = 1 << 20;

/// Writes one message.
pub fn send(line: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let body = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend(body);
    line.write_all(&frame)?;
    line.flush()
}

/// Reads one message.
pub fn receive<M: DeserializeOwned>(line: &mut impl Read) -> io::Result<M> {
    let mut length = [0; 4];
    line.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::other(format!(
            "a message of {length} bytes: the line is out of step"
        )));
    }
    let mut body = vec![0; length as usize];
    line.read_exact(&mut body)?;
    postcard::from_bytes(&body).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_as_it_was_sent() {
        let mut line = Vec::new();
        let bytes = (0..=255).collect::<Vec<u8>>();
        send(
            &mut line,
            &Event::Output {
                id: 7,
                stderr: true,
                bytes: bytes.clone(),
            },
        )
        .unwrap();
        send(
            &mut line,
            &Event::Exit {
                id: 7,
                status: Status::Signal(9),
            },
        )
        .unwrap();
        let mut line = line.as_slice();
        assert!(
            matches!(receive(&mut line).unwrap(), Event::Output { id: 7, stderr: true, bytes: b } if b == bytes)
        );
        assert!(matches!(
            receive(&mut line).unwrap(),
            Event::Exit {
                id: 7,
                status: Status::Signal(9)
            }
        ));
        assert!(receive::<Event>(&mut line).is_err(), "nothing is left");
    }

    #[test]
    fn noise_is_refused() {
        assert!(receive::<Event>(&mut &b"[    0.0] Linux"[..]).is_err());
    }
}
