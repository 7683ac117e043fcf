//! Established connections of Linux out of its stack and into it again: two namespaces, whose frames go through this process and wait
//! when it says so. The peer is a plain socket, and notices nothing.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::sockopt::TcpUlp;
use rustix::net::{ipproto, send, socket, AddressFamily, SendFlags, SocketType};
use rustix::thread::{capabilities, set_capabilities, CapabilitySet};
use weft_hostdrv::socket::{put_back, ConnectionState, Frozen, Refusal};
use weft_hostdrv::unstable::{state_of_stream, stream_of};
use weft_tests::namespace::{skipped, Joined, Namespace};
use weft_tests::traffic::bytes;
use weft_tools::tap::{Tap, TapConfig};
use weft_wire::ethernet::{ethertype, EthernetHeader};
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::tcp::{flag, TcpSegment};

const PATIENCE: Duration = Duration::from_secs(60);
const PORT: u16 = 4711;

/// Two namespaces, and the wire between them.
struct Wire {
    spaces: [Namespace; 2],
    taps: [Tap; 2],
    /// Segments seen with one of these flags.
    resets: u32,
    fins: u32,
}

impl Wire {
    /// `None`: skipped.
    fn new() -> Option<Self> {
        let spaces = [Namespace::new()?, Namespace::new()?];
        let tap = |index: usize| {
            spaces[index].run(move || {
                let config = TapConfig {
                    ip: Some((address(index), 24)),
                    ..TapConfig::default()
                };
                Tap::open("wire0", &config).expect("a TAP")
            })
        };
        Some(Self {
            taps: [tap(0), tap(1)],
            spaces,
            resets: 0,
            fins: 0,
        })
    }

    /// Moves what there is, one way; of every `lost` frames the last is lost.
    fn one_way(&mut self, from: usize, lost: usize) -> usize {
        let mut moved = 0;
        while let Some(frame) = self.taps[from].read_frame().expect("a frame") {
            moved += 1;
            let flags = flags(&frame);
            self.resets += u32::from(flags & flag::RST != 0);
            self.fins += u32::from(flags & flag::FIN != 0);
            if moved % lost != 0 {
                self.taps[1 - from].write_frame(&frame).expect("a frame");
            }
        }
        moved
    }

    fn pump(&mut self) {
        if self.one_way(0, usize::MAX) + self.one_way(1, usize::MAX) == 0 {
            thread::sleep(Duration::from_micros(100));
        }
    }

    fn put_back(&self, state: ConnectionState) -> Result<TcpStream, Refusal> {
        self.spaces[0].run(move || put_back(&state))
    }
}

impl Joined for Wire {
    fn spaces(&self) -> &[Namespace; 2] {
        &self.spaces
    }

    fn until<T>(&mut self, what: &str, mut found: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            self.pump();
            if let Some(found) = found() {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{what}");
        }
    }
}

/// Where the peer listens.
fn peer() -> SocketAddr {
    (address(1), PORT).into()
}

fn address(index: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 1 + index as u8)
}

fn flags(frame: &[u8]) -> u8 {
    let Some((ethernet, packet)) = EthernetHeader::parse(frame) else {
        return 0;
    };
    let packet = Ipv4Packet::parse(packet).ok();
    let packet = packet
        .filter(|packet| ethernet.ethertype == ethertype::IPV4 && packet.protocol == protocol::TCP);
    packet.map_or(0, |packet| {
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload);
        segment.map_or(0, |segment| segment.flags)
    })
}

/// Writes as much as there is room for.
fn write(mut stream: &TcpStream, mut data: &[u8]) -> usize {
    let mut all = 0;
    while !data.is_empty() {
        match stream.write(data) {
            Ok(count) => (all, data) = (all + count, &data[count..]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    all
}

fn refusal(socket: &impl AsFd) -> String {
    match Frozen::new(socket) {
        Ok(_) => "it was taken".into(),
        Err(refusal) => refusal.to_string(),
    }
}

/// Bytes that nobody has read, bytes under way, bytes that were never sent: all of them in the state, all of them in the socket made of
/// it, whose state is the same; and the stream goes on in both directions.
#[test]
fn a_connection_out_of_the_stack_and_back_is_whole() {
    let Some(mut wire) = Wire::new() else { return };
    let [mine, mut peer] = wire.connect(peer());
    let (out, inbound) = (bytes(1, 400_000), bytes(2, 60_000));
    assert_eq!(write(&peer, &inbound[..5000]), 5000);
    wire.until("unread bytes", || {
        let mut seen = [0; 5000];
        matches!(mine.peek(&mut seen), Ok(5000)).then_some(())
    });
    wire.pump();
    // From here on all of it stays this side of the wire.
    let written = write(&mine, &out);
    let frozen = Frozen::new(&mine).expect("it stands");
    let state = frozen.state().clone();
    let tcp = &stream_of(&state).tcp;
    assert_eq!(tcp.unread, inbound[..5000]);
    let differs = tcp
        .unacknowledged
        .iter()
        .zip(&out)
        .position(|(a, b)| a != b);
    assert_eq!((tcp.unacknowledged.len(), differs), (written, None));
    // All of it only if a timer of the kernel's came between: see `Numbers::unsent`.
    assert!(tcp.flight() > 0 && tcp.flight() as usize <= written);
    assert!(tcp.sack && tcp.scales.is_some() && !tcp.ecn && !tcp.peer_closed);
    assert_eq!(tcp.mss, 1500 - 40 - 12);
    assert!(tcp.timestamps.is_some_and(|clock| clock.recent.is_none()));
    assert_eq!(state.remote(), SocketAddrV4::new(address(1), PORT));
    let (sent, unsent) = state.unacknowledged();
    assert_eq!(
        (sent.len() as u32, [sent, unsent].concat()),
        (tcp.flight(), tcp.unacknowledged.clone())
    );
    assert_eq!(
        (state.unread(), state.peer_closed()),
        (&tcp.unread[..], false)
    );
    frozen.leave().expect("it leaves");
    // Of what was under way a part is lost; nothing was said of the connection's end.
    assert!(wire.one_way(0, 3) > 3);
    let mut rest = [0; 1];
    let after = (&mine).read(&mut rest).expect_err("it is gone");
    assert_eq!(after.kind(), ErrorKind::ConnectionAborted);
    drop(mine);

    let mine = wire.put_back(state.clone()).expect("a socket");
    let again = Frozen::new(&mine).expect("it stands again");
    let found = again.state();
    let still = |state: &ConnectionState| {
        let mut stream = stream_of(state).clone();
        stream.tcp.timestamps = None;
        stream
    };
    assert!(still(found) == still(&state), "another state");
    let clock = |state| stream_of(state).tcp.timestamps.map(|clock| clock.now);
    let ahead = clock(found)
        .zip(clock(&state))
        .map(|(a, b)| a.wrapping_sub(b));
    assert!(ahead.is_some_and(|ms| ms < 60_000), "{ahead:?}");
    drop(again);

    let mut mine = mine;
    mine.set_nonblocking(true).expect("set");
    let mut sent = written;
    assert_eq!(write(&peer, &inbound[5000..]), inbound.len() - 5000);
    let mut received = Vec::new();
    while received.len() < out.len() {
        sent += write(&mine, &out[sent..]);
        let length = sent.min(received.len() + 20_000) - received.len();
        received.extend(wire.read(&mut peer, length));
    }
    assert!(received == out, "other bytes arrived");
    let back = wire.read(&mut mine, inbound.len());
    assert!(back == inbound, "other bytes came back");
    assert_eq!((wire.resets, wire.fins), (0, 0));
    mine.shutdown(Shutdown::Write).expect("close");
    wire.until("the end", || {
        matches!(peer.read(&mut [0]), Ok(0)).then_some(())
    });
    assert_eq!(wire.resets, 0);
}

/// Somebody looks at the state and thinks better of it.
#[test]
fn a_socket_that_was_only_looked_at_goes_on() {
    let Some(mut wire) = Wire::new() else { return };
    let [mine, mut peer] = wire.connect(peer());
    for seed in 1..=5 {
        let data = bytes(seed, 3000);
        assert_eq!(write(&mine, &data), data.len());
        let frozen = Frozen::new(&mine).expect("it stands");
        let (sent, unsent) = frozen.state().unacknowledged();
        assert!([sent, unsent].concat() == data);
        drop(frozen);
        assert!(wire.read(&mut peer, data.len()) == data);
        wire.pump();
    }
    assert_eq!((wire.resets, wire.fins), (0, 0));
}

#[test]
fn what_cannot_be_taken_is_refused_with_a_reason_and_goes_on() {
    let Some(mut wire) = Wire::new() else { return };
    let udp = UdpSocket::bind("127.0.0.1:0").expect("bind");
    assert!(refusal(&udp).contains("not a socket of TCP over IPv4"));
    let multi = socket(
        AddressFamily::INET,
        SocketType::STREAM,
        Some(ipproto::MPTCP),
    );
    assert!(multi.is_ok_and(|multi| refusal(&multi).contains("not a socket of TCP over IPv4")));
    let six = TcpListener::bind("[::1]:0");
    assert!(six.is_ok_and(|six| refusal(&six).contains("not a socket of TCP over IPv4")));
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    assert!(refusal(&listener).contains("not established"));

    let [mine, mut peer] = wire.connect(peer());
    // The peer's urgent byte, then more; it is at the mark, behind it, and gone.
    assert_eq!(write(&peer, b"ab"), 2);
    assert_eq!(send(&peer, b"!", SendFlags::OOB), Ok(1));
    assert_eq!(write(&peer, b"cd"), 2);
    wire.until("urgent data", || {
        refusal(&mine).contains("urgent data").then_some(())
    });
    let mut mine = mine;
    assert_eq!(wire.read(&mut mine, 2), b"ab");
    assert!(refusal(&mine).contains("urgent data"));
    assert_eq!(wire.read(&mut mine, 2), b"cd");
    let frozen = Frozen::new(&mine).expect("urgent data that were passed are none");
    let mut state = stream_of(frozen.state()).clone();
    drop(frozen);

    // A thread without the right.
    let may_not = wire.spaces[0].spawn({
        let mine = mine.try_clone().expect("a file more");
        move || {
            let mut sets = capabilities(None).expect("get");
            sets.effective.remove(CapabilitySet::NET_ADMIN);
            set_capabilities(None, sets).expect("set");
            refusal(&mine)
        }
    });
    let said = may_not.join().expect("the thread");
    assert!(said.contains("CAP_NET_ADMIN"), "{said}");

    // What Linux cannot put back.
    let put_back = |state: &_| wire.put_back(state_of_stream(Clone::clone(state)));
    state.tcp.ecn = true;
    assert!(matches!(put_back(&state), Err(Refusal::Ecn)));
    state.tcp.peer_closed = true;
    assert!(matches!(put_back(&state), Err(Refusal::PeerClosed)));
    (state.tcp.ecn, state.tcp.peer_closed, state.tcp.mss) = (false, false, 0);
    assert!(matches!(put_back(&state), Err(Refusal::Impossible(_))));

    // It goes on all the same, until this side closes.
    assert_eq!(write(&mine, b"still here"), 10);
    assert_eq!(wire.read(&mut peer, 10), b"still here");
    mine.shutdown(Shutdown::Write).expect("close");
    assert!(refusal(&mine).contains("not established"));
    wire.until("the end", || {
        matches!(peer.read(&mut [0]), Ok(0)).then_some(())
    });
    let frozen = Frozen::new(&peer).expect("one that the peer has closed can be taken");
    assert!(frozen.state().peer_closed());
    drop(frozen);
    assert_eq!(wire.resets, 0);
}

/// With kTLS on it, what lies in the queues is not what the program wrote.
#[test]
fn tls_in_the_kernel_is_refused() {
    let Some(mut wire) = Wire::new() else { return };
    let [mine, _peer] = wire.connect(peer());
    if let Err(error) = nix::sys::socket::setsockopt(&mine, TcpUlp::default(), b"tls") {
        return skipped(&format!("the kernel has no TLS: {error}"));
    }
    let said = refusal(&mine);
    assert!(said.contains("tls is attached"), "{said}");
}
