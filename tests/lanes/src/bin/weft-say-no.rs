//! Runs in the guest: listens with the kernel's connection manager (`/dev/infiniband/rdma_cm`, no library), tells what private data
//! a connection request has, and rejects it with private data of its own: weft-say-no ADDRESS PORT TEXT.

use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;

/// Commands and events of `rdma/rdma_user_cm.h`.
const CREATE_ID: u32 = 0;
const BIND_IP: u32 = 2;
const LISTEN: u32 = 7;
const REJECT: u32 = 9;
const GET_EVENT: u32 = 12;
const CONNECT_REQUEST: u32 = 4;
/// RDMA_PS_TCP, IB_QPT_RC.
const PORT_SPACE_TCP: u16 = 0x0106;
const QUEUE_PAIR_RC: u8 = 2;
/// `struct rdma_ucm_event_resp`: where things are in it. Private data begin behind QP number and key.
const EVENT_ID: usize = 8;
const EVENT_KIND: usize = 12;
const EVENT_DATA: usize = 20 + 8;
const PRIVATE: usize = 256;

/// What the kernel writes its answers to. It knows its address from the command.
type Answer = [u8; 512];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weft-say-no: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("weft-say-no ADDRESS PORT TEXT");
    let address: Ipv4Addr = next()?.parse()?;
    let port: u16 = next()?.parse()?;
    let text = next()?;
    let device = "/dev/infiniband/rdma_cm";
    let mut device = File::options().read(true).write(true).open(device)?;
    let mut answer = Box::new([0; 512]);

    let mut command = 1u64.to_ne_bytes().to_vec();
    command.extend(place(&mut answer));
    command.extend(PORT_SPACE_TCP.to_ne_bytes());
    command.extend([QUEUE_PAIR_RC, 0, 0, 0, 0, 0]);
    say(&mut device, CREATE_ID, &command, 4)?;
    let listener = word(&answer, 0);

    let mut command = place(&mut answer).to_vec();
    command.extend(2u16.to_ne_bytes());
    command.extend(port.to_be_bytes());
    command.extend(address.octets());
    command.resize(8 + 28, 0);
    command.extend(listener.to_ne_bytes());
    say(&mut device, BIND_IP, &command, 0)?;
    say(&mut device, LISTEN, &words([listener, 4]), 0)?;
    println!("listening");
    loop {
        let command = place(&mut answer);
        say(&mut device, GET_EVENT, &command, answer.len())?;
        if word(&answer, EVENT_KIND) != CONNECT_REQUEST {
            continue;
        }
        let length = usize::from(answer[EVENT_DATA + PRIVATE]).min(PRIVATE);
        let data = &answer[EVENT_DATA..EVENT_DATA + length];
        println!("a request with \"{}\"", data.escape_ascii());
        let no = &text.as_bytes()[..text.len().min(PRIVATE)];
        let mut command = word(&answer, EVENT_ID).to_ne_bytes().to_vec();
        command.extend([no.len() as u8, 0, 0, 0]);
        command.extend(no);
        command.resize(8 + PRIVATE, 0);
        say(&mut device, REJECT, &command, 0)?;
    }
}

fn place(answer: &mut Box<Answer>) -> [u8; 8] {
    (answer.as_mut_ptr() as u64).to_ne_bytes()
}

fn words(words: [u32; 2]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

fn word(answer: &Answer, at: usize) -> u32 {
    // The kernel has written there meanwhile.
    let answer = std::hint::black_box(answer);
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&answer[at..at + 4]);
    u32::from_ne_bytes(bytes)
}

/// One command: its header, then itself.
fn say(device: &mut File, command: u32, body: &[u8], out: usize) -> io::Result<()> {
    let mut message = command.to_ne_bytes().to_vec();
    message.extend((body.len() as u16).to_ne_bytes());
    message.extend((out as u16).to_ne_bytes());
    message.extend(body);
    device.write_all(&message)
}
