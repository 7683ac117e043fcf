//! A debugger at the processor, by GDB's remote protocol over TCP, while its engine asks for a connection.
#![cfg(ibex)]

use std::error::Error;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use weft_debug::{gdb, Symbols};
use weft_hostdrv::{Device, DeviceConfig, Rung};
use weft_processor_tests::connection::connect;
use weft_processor_tests::{firmware_with_engine, functions_with_engine};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::SimTransport;
use weft_sim::world::World;

const PORT: u16 = 4791;
/// Nothing may take longer, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// A debugger, as far as the protocol goes.
struct Client {
    stream: TcpStream,
    from: BufReader<TcpStream>,
}

impl Client {
    fn new(stream: TcpStream) -> Result<Self, Box<dyn Error>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let from = BufReader::new(stream.try_clone()?);
        Ok(Self { stream, from })
    }

    fn byte(&mut self) -> Result<u8, Box<dyn Error>> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn say(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        let sum = text.bytes().fold(0_u8, u8::wrapping_add);
        write!(self.stream, "${text}#{sum:02x}")?;
        assert_eq!(self.byte()?, b'+', "{text} was not taken");
        Ok(())
    }

    fn hear(&mut self) -> Result<String, Box<dyn Error>> {
        assert_eq!(self.byte()?, b'$');
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                b'#' => break,
                byte => text.push(byte),
            }
        }
        let sum = text.iter().copied().fold(0_u8, u8::wrapping_add);
        let told = [self.byte()?, self.byte()?];
        assert_eq!(u8::from_str_radix(std::str::from_utf8(&told)?, 16)?, sum);
        self.stream.write_all(b"+")?;
        Ok(String::from_utf8(text)?)
    }

    fn ask(&mut self, text: &str) -> Result<String, Box<dyn Error>> {
        self.say(text)?;
        self.hear()
    }

    /// A register, by its number.
    fn register(&mut self, number: usize) -> Result<u32, Box<dyn Error>> {
        let all = self.ask("g")?;
        assert_eq!(all.len(), 33 * 8, "{all}");
        let word = u32::from_str_radix(&all[8 * number..][..8], 16)?;
        Ok(word.swap_bytes())
    }
}

const PC: usize = 32;
const RA: usize = 1;

/// Where the code of a function is, by its name in the firmware's file.
fn symbol(symbols: &Symbols, part: &str) -> Result<u32, Box<dyn Error>> {
    let found = symbols.functions().find(|(name, _)| name.contains(part));
    Ok(found.ok_or_else(|| format!("no function {part}"))?.1)
}

#[test]
fn a_debugger_breaks_steps_looks_and_lets_it_connect() -> Result<(), Box<dyn Error>> {
    let mut world = World::new(41);
    for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
        world.add_card(kind.build(41, number as u32));
    }
    world.join(0, 1, LinkConfig::default());
    let world = Arc::new(Mutex::new(world));
    let config = |number| {
        DeviceConfig::new(mac(number), ip(number))
            .seed(41)
            .keepalive(None)
    };
    let peer = Device::open(Arc::new(SimTransport::new(&world, 1)), config(1))?;
    let image = Arc::new(firmware_with_engine());
    let on_card = config(0).rung(Rung::Firmware).firmware(image);
    let device = Device::open(Arc::new(SimTransport::new(&world, 0)), on_card)?;
    let processor = device.processor().ok_or("no processor")?;

    let listener = TcpListener::bind("127.0.0.1:0")?;
    let to = listener.local_addr()?;
    let stub = thread::spawn(move || {
        let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
        gdb::serve(&processor, stream).map_err(|error| error.to_string())
    });
    let mut client = Client::new(TcpStream::connect(to)?)?;

    // Halted as it is attached: asleep, between two turns.
    assert_eq!(client.ask("?")?, "S05");
    let says = client.ask("qSupported:swbreak+")?;
    assert!(says.contains("qXfer:features:read+"), "{says}");
    let words = client.ask("qXfer:features:read:target.xml:0,fff")?;
    assert!(
        words.starts_with('l') && words.contains("riscv:rv32"),
        "{words}"
    );
    // Memory: what the firmware says of itself, from the middle of a word on too.
    let magic = client.ask("m100,4")?;
    assert_eq!(client.ask("m102,2")?, magic[4..]);
    assert_eq!(client.ask("mffffff00,4")?, "E02", "memory of nowhere");

    let execute = symbol(&functions_with_engine(), "take_commands")?;
    assert_eq!(client.ask(&format!("Z0,{execute:x},2"))?, "OK");
    client.say("c")?;

    // The host asks for a connection, and drives the world while the debugger thinks.
    let (done, ended) = channel();
    let driver = thread::spawn(move || {
        let ends = connect(&[&device, &peer], [&device, &peer], PORT, 64);
        ends.map_err(|error| error.to_string())
            .map(|_| done.send(()))
    });
    assert_eq!(client.hear()?, "S05", "no break at take_commands");
    assert_eq!(client.register(PC)?, execute);
    let caller = client.register(RA)?;
    assert!((0x300..0x4_0000).contains(&caller), "return to {caller:#x}");
    still_waits(&ended)?;

    // A step is one instruction: 2 or 4 bytes, as the first one has.
    assert_eq!(client.ask(&format!("z0,{execute:x},2"))?, "OK");
    let first = u16::from_str_radix(&client.ask(&format!("m{execute:x},2"))?, 16)?.swap_bytes();
    let length = if first & 3 == 3 { 4 } else { 2 };
    assert_ne!(first, 0x9002, "the breakpoint is still there");
    assert_eq!(client.ask("s")?, "S05");
    assert_eq!(client.register(PC)?, execute + length);
    // A register that is changed and changed back; memory too.
    let t6 = client.register(31)?;
    assert_eq!(client.ask("P1f=78563412")?, "OK");
    assert_eq!(client.register(31)?, 0x1234_5678);
    assert_eq!(client.ask(&format!("P1f={:08x}", t6.swap_bytes()))?, "OK");
    let sp = client.register(2)?;
    let below = client.ask(&format!("m{:x},4", sp - 64))?;
    assert_eq!(client.ask(&format!("M{:x},3:a1b2c3", sp - 64))?, "OK");
    let now = client.ask(&format!("m{:x},4", sp - 64))?;
    assert_eq!(now, format!("a1b2c3{}", &below[6..]));
    assert_eq!(client.ask(&format!("M{:x},4:{below}", sp - 64))?, "OK");
    for _ in 0..20 {
        assert_eq!(client.ask("s")?, "S05");
    }

    // Goes on by Ctrl-C, too, and then to the end of the connect.
    client.say("c")?;
    client.stream.write_all(&[3])?;
    assert_eq!(client.hear()?, "S02");
    assert_eq!(client.ask("D")?, "OK");
    stub.join().map_err(|_| "the stub panicked")??;
    ended.recv_timeout(PATIENCE)?;
    let _ = driver.join().map_err(|_| "the host panicked")??;
    Ok(())
}

/// The connection cannot stand while the processor is halted.
fn still_waits(ended: &Receiver<()>) -> Result<(), Box<dyn Error>> {
    match ended.try_recv() {
        Ok(()) => Err("it connected meanwhile".into()),
        Err(_) => Ok(()),
    }
}
