//! FPDUs that share segments: short Writes one behind the other to a line of some rate, read from the MAC with weft-wire. All come, in order and
//! whole, no segment is longer than it may be, and packing takes octets off the line without taking longer.

use super::reference::{Job, Row, MESSAGE};
use super::{Host, AREA, RING};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::fpdu::{self, Markers};
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::TcpSegment;

/// Bytes of a Write; Writes in a run.
const WRITE: u32 = 64;
const WRITES: u32 = 512;
/// What a frame takes on the line beside its octets.
const AROUND: i64 = 24;
const SEQ: u32 = 0xffff_f000;

/// A run: octets of the line in 16 cycles, whether Writes are in their slots, most octets of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub line: i64,
    pub inline: bool,
    pub pack: u16,
    pub markers: bool,
}

/// What it took, for each Write: cycles, and octets of the line. Frames.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    pub cycles: f64,
    pub octets: f64,
    pub frames: usize,
}

pub fn row(setting: Setting) -> Row {
    Row {
        crc: true,
        valid: true,
        timestamps: true,
        markers: setting.markers,
        ttl: 64,
        ends: [7; 24],
        marker_base: SEQ,
        pack: setting.pack,
        ..Row::default()
    }
}

pub fn host(setting: Setting) -> Host {
    let mut host = Host {
        ring: vec![],
        area: (0..WRITE * WRITES).map(|at| (at / WRITE) as u8).collect(),
        bad: vec![],
    };
    let mut seq = SEQ;
    for number in 0..WRITES {
        let payload = vec![number as u8; WRITE as usize];
        let job = Job {
            kind: MESSAGE,
            tagged: true,
            last: true,
            inline: setting.inline,
            flow: 3,
            seq,
            ack: number,
            tcp_flags: 0x18,
            ts: (number, 7),
            length: WRITE,
            fpdu_payload: WRITE as u16,
            rdmap_control: 0x40,
            sge_count: u8::from(!setting.inline),
            sges: match setting.inline {
                true => vec![],
                false => vec![(AREA + u64::from(number * WRITE), WRITE)],
            },
            payload,
            to_or_mo: number.into(),
            ..Job::default()
        };
        let markers = Markers(setting.markers.then_some(SEQ));
        seq = seq.wrapping_add(markers.fpdu_length(seq, 14 + WRITE as usize) as u32);
        host.ring.extend(job.bytes());
    }
    host
}

/// Reads a frame: FPDUs in it. `seq`, `write`: what comes next.
pub fn read(
    frame: &[u8],
    setting: Setting,
    seq: &mut u32,
    write: &mut u32,
) -> Result<usize, String> {
    let (_, packet) = EthernetHeader::parse(frame).ok_or("no Ethernet")?;
    let packet = Ipv4Packet::parse(packet).map_err(|e| format!("{e:?}"))?;
    let segment =
        TcpSegment::parse([7; 4], [7; 4], packet.payload).map_err(|e| format!("{e:?}"))?;
    let markers = Markers(setting.markers.then_some(SEQ));
    let (mut left, mut fpdus) = (segment.payload, 0);
    if segment.seq != *seq {
        return Err(format!("{:#x} comes, not {seq:#x}", segment.seq));
    }
    while !left.is_empty() {
        let mut ulpdu = [0; 256];
        let found =
            fpdu::decode(left, *seq, markers, true, &mut ulpdu).map_err(|e| format!("{e:?}"))?;
        let to = u64::from_be_bytes(ulpdu[6..14].try_into().map_err(|_| "short")?);
        let whole = found.ulpdu_length == 14 + WRITE as usize;
        if to != u64::from(*write)
            || !whole
            || ulpdu[14..14 + WRITE as usize] != [*write as u8; WRITE as usize]
        {
            return Err(format!(
                "Write {to} comes, or other bytes than those of {write}"
            ));
        }
        left = &left[found.wire_length..];
        *seq = seq.wrapping_add(found.wire_length as u32);
        (*write, fpdus) = (*write + 1, fpdus + 1);
    }
    let newest = *write - 1;
    if segment.ack != newest || segment.options.timestamps != Some((newest, 7)) {
        return Err("not acknowledgment and timestamps of the last FPDU".into());
    }
    if fpdus == 0
        || fpdus > 16
        || fpdus > 1 && segment.payload.len() > usize::from(setting.pack.min(2048))
    {
        return Err(format!("{fpdus} FPDUs, {} octets", segment.payload.len()));
    }
    Ok(fpdus)
}

macro_rules! packed_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;
            use rtl_sim::axi::{MemorySlave, Timing};
            use rtl_sim::axis::Sink;
            use rtl_sim::{replay, Run, Sim, Stall};
            use std::error::Error;
            use weft_module_tests::$design;

            /// The block with its job ring, behind a reset.
            fn with_its_ring(run: &Run) -> Sim<$design::Model> {
                let mut sim = run.sim::<$design::Model>();
                sim.inputs.enable = true;
                sim.inputs.job_base = RING;
                sim.inputs.job_log2 = 9;
                sim.inputs.rpt_ready = true;
                sim.reset(3);
                sim
            }

            fn run(run: &Run, setting: Setting) -> Result<Took, Box<dyn Error>> {
                let mut sim = with_its_ring(run);
                let mut memory = MemorySlave::<$bytes>::new(Timing::latency(100), run.seed);
                let mut sink = Sink::<$bytes>::new(Stall::Never, run.seed);
                let mut host = host(setting);
                (
                    sim.inputs.tbl_req_valid,
                    sim.inputs.tbl_write,
                    sim.inputs.tbl_index,
                ) = (true, true, 3);
                sim.inputs.tbl_row = row(setting).bytes();
                let (mut seq, mut write, mut room, mut octets, mut frames, mut packed) =
                    (SEQ, 0, 0, 0, 0, 0);
                let (mut first, mut begun) = (None, false);
                let mut now = 0;
                while write < WRITES || !sim.outputs.idle {
                    sim.step();
                    now = sim.cycle();
                    let (i, o) = (&mut sim.inputs, &sim.outputs);
                    if now > 100_000 {
                        return Err(format!("stuck behind {write} Writes").into());
                    }
                    if o.tbl_rsp_valid {
                        i.job_tail = WRITES;
                    }
                    if o.tbl_req_ready {
                        i.tbl_req_valid = false;
                    }
                    if begun && !o.mac_tx.valid {
                        return Err("a bubble inside a frame".into());
                    }
                    let beat = o.mac_tx.valid && i.mac_tx.ready;
                    begun = o.mac_tx.valid && !(beat && o.mac_tx.last);
                    packed += u64::from(u16::from_le_bytes([
                        o.cnt_inc[2 * 92],
                        o.cnt_inc[2 * 92 + 1],
                    ]));
                    memory.cycle(now, &mut i.m_axi, &o.m_axi, &mut host);
                    sink.cycle(now, &mut i.mac_tx, &o.mac_tx);
                    if beat {
                        let size = i64::from(o.mac_tx.keep.count_ones())
                            + if o.mac_tx.last { AROUND } else { 0 };
                        room -= 16 * size;
                        octets += size;
                    }
                    room = (room + setting.line).min(0);
                    i.mac_tx.ready = room + setting.line >= 0;
                    while let Some(frame) = sink.pop() {
                        read(&frame.data, setting, &mut seq, &mut write)?;
                        if write >= WRITES / 4 && first.is_none() {
                            (first, octets) = (Some((now, write)), 0);
                        }
                        frames += 1;
                        if write == WRITES {
                            let (from, before) = first.unwrap_or_default();
                            let writes = f64::from(WRITES - before);
                            let took = Took {
                                cycles: (now - from) as f64 / writes,
                                octets: octets as f64 / writes,
                                frames,
                            };
                            println!("{} bits, {setting:?}: {took:?}", $bytes * 8);
                            if packed != u64::from(WRITES) - frames as u64 {
                                // The counter is a cycle or two late.
                                sim.inputs.mac_tx.ready = true;
                                (0..4).for_each(|_| {
                                    sim.step();
                                    let inc = &sim.outputs.cnt_inc;
                                    packed += u64::from(u16::from_le_bytes([
                                        inc[2 * 92],
                                        inc[2 * 92 + 1],
                                    ]));
                                });
                            }
                            if packed != u64::from(WRITES) - frames as u64 {
                                return Err(format!("{packed} counted").into());
                            }
                            return Ok(took);
                        }
                    }
                }
                Err(format!("idle in cycle {now}").into())
            }

            /// The next station is another one for what is posted behind the change, and for nothing before it, though all of it waits together.
            #[test]
            fn frames_by_two_rows_share_nothing() {
                replay(concat!("weft_tx_packed_rows_", $bytes), 0..4, |run| {
                    const BEFORE: u32 = 12;
                    let setting = Setting {
                        line: 0,
                        inline: true,
                        pack: 1448,
                        markers: false,
                    };
                    let mut sim = with_its_ring(run);
                    let mut memory = MemorySlave::<$bytes>::new(Timing::latency(20), run.seed);
                    let mut sink = Sink::<$bytes>::new(Stall::Never, run.seed);
                    let mut host = host(setting);
                    let (mut seq, mut write, mut shared) = (SEQ, 0, 0);
                    for cycle in 0..8000u32 {
                        sim.step();
                        let now = sim.cycle();
                        let (i, o) = (&mut sim.inputs, &sim.outputs);
                        memory.cycle(now, &mut i.m_axi, &o.m_axi, &mut host);
                        sink.cycle(now, &mut i.mac_tx, &o.mac_tx);
                        i.mac_tx.ready = cycle > 3000;
                        i.tbl_req_valid &= !o.tbl_req_ready;
                        if let 100 | 1500 = cycle {
                            (i.tbl_req_valid, i.tbl_write, i.tbl_index) = (true, true, 3);
                            i.tbl_row = row(setting).bytes();
                            i.tbl_row[4..10].fill(if cycle == 100 { 1 } else { 2 });
                        }
                        i.job_tail = match cycle {
                            0..200 => 0,
                            200..1600 => BEFORE,
                            _ => 2 * BEFORE,
                        };
                        while let Some(frame) = sink.pop() {
                            let first = write;
                            shared += read(&frame.data, setting, &mut seq, &mut write)? - 1;
                            let station = if first < BEFORE { 1 } else { 2 };
                            if frame.data[..6] != [station; 6]
                                || (first < BEFORE) != (write <= BEFORE)
                            {
                                return Err(format!(
                                    "Writes {first} to {write} to {:?}",
                                    &frame.data[..6]
                                )
                                .into());
                            }
                        }
                    }
                    if write != 2 * BEFORE || shared == 0 {
                        return Err(format!("{write} Writes, {shared} packed").into());
                    }
                    Ok(())
                });
            }

            #[test]
            fn short_writes_share_segments_where_the_line_is_slow() {
                replay(concat!("weft_tx_packed_", $bytes), 0..1, |seed| {
                    for (line, markers) in [
                        ($bytes, false),
                        ($bytes * 25 / 32, false),
                        ($bytes * 5 / 16, false),
                        ($bytes * 5 / 16, true),
                    ] {
                        for inline in [true, false] {
                            let setting = Setting {
                                line: 16 * line,
                                inline,
                                pack: 0,
                                markers,
                            };
                            let alone = run(seed, setting)?;
                            assert!(alone.frames == WRITES as usize);
                            for pack in [100, 1448, 2048] {
                                let packed = run(seed, Setting { pack, ..setting })?;
                                assert!(
                                    packed.cycles < alone.cycles + 0.1
                                        && packed.octets <= alone.octets
                                );
                                assert!(pack > 100 || packed.frames == alone.frames);
                                assert!(
                                    pack < 1000
                                        || line > $bytes / 2
                                        || packed.octets < 0.6 * alone.octets
                                );
                            }
                        }
                    }
                    Ok(())
                });
            }
        }
    };
}

packed_tests!(bits_128, weft_tx_128, 16);
packed_tests!(bits_512, weft_tx_512, 64);
