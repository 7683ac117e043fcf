//! Traffic of the kernel's own stack between two namespaces: `ping`, and TCP with every byte checked.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::namespace::Namespace;

/// How long a connection may take; longer than any should, even over a card in Verilator.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that look like nothing else, and are others for each seed.
pub fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Runs `ping`; did it end well, and what did it print? With `-w` and `-c` it ends well when there were so many answers in
/// time. (Without `-w` it waits for the last one only twice as long as the others took.)
pub fn ping(from: &Namespace, arguments: &str) -> JoinHandle<(bool, String)> {
    let arguments = arguments.to_owned();
    from.spawn(move || {
        let output = Command::new("ping")
            .args(arguments.split_whitespace())
            .output();
        let output = output.unwrap_or_else(|e| panic!("ping {arguments}: {e}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    })
}

/// A TCP connection between two namespaces, to an address of the second one. Both ends send `length` bytes at the same
/// time, and check those that they receive.
pub fn bulk(spaces: &[Namespace; 2], to: SocketAddr, length: usize) -> [JoinHandle<()>; 2] {
    let (ready, listening) = channel();
    let server = spaces[1].spawn(move || {
        let listener = TcpListener::bind(to).expect("bind");
        ready.send(()).expect("somebody waits");
        let (stream, _) = listener.accept().expect("accept");
        exchange(stream, 2, 1, length);
    });
    listening.recv().expect("the server listens");
    let client = spaces[0].spawn(move || {
        let stream = TcpStream::connect_timeout(&to, PATIENCE).expect("connect");
        exchange(stream, 1, 2, length);
    });
    [client, server]
}

fn exchange(mut stream: TcpStream, sends: u64, expects: u64, length: usize) {
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    let mut out = stream.try_clone().expect("a file more");
    let sender = thread::spawn(move || {
        out.write_all(&bytes(sends, length)).expect("send");
        out.shutdown(Shutdown::Write).expect("close");
    });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("receive");
    assert!(
        received == bytes(expects, length),
        "the bytes are not the ones sent"
    );
    sender.join().expect("the sender");
}
