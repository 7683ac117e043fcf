//! What the card makes of frames from the wire.

use weft_layout::{
    fpdu_verdict, refusal, report_kind, AttachRow, FlowKeyRow, FlowRxRow, FpduReport, FrameReport,
    PlacedReport, ReceiveElement, SegmentReport, StagRow,
};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::tcp::{flag, Options, TcpSegment};

use super::super::ecn;
use super::super::oracle::fpdu::{self, crc32c};
use super::super::oracle::segment::Segment;
use super::{is_attached, Card};

/// Flows that carry octets at a time, and how many each, but for what makes no word.
const CARRIES: usize = 8;
const CARRY_BYTES: usize = 4096;
impl Card {
    /// A frame from the wire.
    pub fn receive(&mut self, frame: &[u8]) {
        if self.is_full() {
            return;
        }
        let Some((ethernet, packet)) = EthernetHeader::parse(frame) else {
            return;
        };
        if ethernet.destination != self.mac && ethernet.destination[0] & 1 == 0 {
            return;
        }
        let packet = match (ethernet.ethertype, Ipv4Packet::parse(packet)) {
            (0x0800, Ok(packet)) => Some(packet),
            (0x0800, Err(_)) => return,
            _ => None,
        };
        if let Some(packet) = packet {
            let own = ethernet.destination == self.mac;
            if packet.protocol == protocol::TCP && !packet.fragment && own {
                let Ok(mut segment) =
                    TcpSegment::parse(packet.source, packet.destination, packet.payload)
                else {
                    return;
                };
                if let Some(flow) = self.lookup(&packet, &segment) {
                    let unread = packet.has_options || options_are_odd(packet.payload);
                    if unread {
                        segment.options = Options::default();
                    }
                    self.flow_segment(flow, &segment, unread, frame);
                    return;
                }
            }
        }
        let report = FrameReport {
            kind: report_kind::FRAME,
            raw_len: frame.len() as u16,
            ..Default::default()
        };
        self.report(report.to_bytes(), Some(frame));
    }

    /// What it was told last of what comes for a flow.
    pub fn rx_row(&self, flow: u16) -> FlowRxRow {
        self.flows[usize::from(flow)].rx
    }

    pub fn epoch_of(&self, flow: u16) -> u8 {
        self.flows[usize::from(flow)].rx.epoch
    }

    fn lookup(&self, packet: &Ipv4Packet<'_>, segment: &TcpSegment<'_>) -> Option<u16> {
        let mut key = Vec::new();
        key.extend_from_slice(&packet.source);
        key.extend_from_slice(&packet.destination);
        key.extend_from_slice(&segment.source_port.to_be_bytes());
        key.extend_from_slice(&segment.destination_port.to_be_bytes());
        // Bit b of the key adds the secret's bits from b on.
        let words = self.secret.0.iter().rev();
        let secret = words.fold(0, |all, word| all << 32 | u128::from(*word));
        let bits = (0..96).filter(|bit| key[bit / 8] >> (bit % 8) & 1 != 0);
        let hash = bits.fold(crc32c(&key), |hash, bit| hash ^ (secret >> bit) as u32);
        let flows = self.flows.len();
        let bucket = |bits: u32| 2 * (bits as usize & (flows / 2 - 1));
        let (low, high) = (bucket(hash), flows + bucket(hash >> 16));
        [low, low + 1, high, high + 1]
            .iter()
            .map(|place| &self.keys[*place])
            .find(|row| {
                row.valid == FlowKeyRow::VALID
                    && row.remote_ip == packet.source
                    && row.local_ip == packet.destination
                    && row.remote_port == segment.source_port.to_be_bytes()
                    && row.local_port == segment.destination_port.to_be_bytes()
            })
            .map(|row| row.flow)
    }

    fn flow_segment(&mut self, flow: u16, segment: &TcpSegment<'_>, unread: bool, frame: &[u8]) {
        let length = segment.payload.len();
        let mut report = SegmentReport {
            kind: report_kind::SEGMENT,
            flow,
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            tcp_flags: segment.flags,
            payload_len: length as u16,
            status: ecn(frame) << SegmentReport::IP_ECN_SHIFT,
            ..Default::default()
        };
        if let Some((value, echo)) = segment.options.timestamps {
            report.flags |= SegmentReport::TIMESTAMPS;
            report.ts_val = value;
            report.ts_ecr = echo;
        }
        let blocks = segment.options.sack.as_slice();
        let at = |n: usize| blocks.get(n).copied().unwrap_or_default();
        report.flags |= (blocks.len().min(3) as u8) << SegmentReport::SACK_COUNT_SHIFT;
        (report.sack0_left, report.sack0_right) = at(0);
        (report.sack1_left, report.sack1_right) = at(1);
        (report.sack2_left, report.sack2_right) = at(2);

        let control = segment.flags & (flag::SYN | flag::RST) != 0;
        let state = self.flows[usize::from(flow)].clone();
        let (mut raw, mut fpdus) = (false, Vec::new());
        if length == 0 {
            raw = control || unread;
        } else if control {
            raw = true;
        } else if segment.flags & flag::ACK == 0 {
            report.status |= refusal::NO_ACK;
        } else if !state.rx.valid() || !is_attached(&state.attach) {
            raw = true;
            self.bump(flow, false);
        } else {
            let s = state.attach.rcv_nxt;
            let ahead = i64::from(segment.seq.wrapping_add(length as u32).wrapping_sub(s) as i32);
            // Behind IP options, or with one of an impossible length, the TCP options are not read: the engine reads them in the raw frame.
            let with_timestamps = state.rx.timestamps() && !unread;
            let ts_old = |value: u32| {
                state.attach.attached & AttachRow::TS_RECENT_VALID != 0
                    && value.wrapping_sub(state.attach.ts_recent) >= 1 << 31
            };
            let timestamp = segment.options.timestamps.map(|(value, _)| value);
            if with_timestamps && timestamp.is_none() {
                report.status |= refusal::NO_TIMESTAMP;
            } else if with_timestamps && timestamp.is_some_and(ts_old) {
                report.status |= refusal::PAWS;
            } else if ahead <= 0 {
                report.flags |= SegmentReport::DUPLICATE;
            } else if state.attach.window > 0 && ahead > i64::from(state.attach.window) {
                report.status |= refusal::WINDOW;
            } else if let Some(good) = self.beyond(flow, segment, unread, &mut fpdus) {
                (report.done_len, raw) = (good.done as u16, good.raw);
                if good.twice {
                    report.flags |= SegmentReport::DUPLICATE;
                }
            } else if segment.seq != s
                || segment.flags & flag::URG != 0
                || unread
                || self.meets_island(flow, segment.seq, length)
            {
                raw = true;
                self.bump(flow, true);
            } else {
                let (done, whole, engine, carried) = self.walk_on(flow, segment, &mut fpdus);
                report.done_len = done as u16;
                let fin = whole && segment.flags & flag::FIN != 0;
                let behind = if carried { length } else { done };
                let mut next = segment.seq.wrapping_add(behind as u32 + u32::from(fin));
                let islands = &mut self.flows[usize::from(flow)].islands;
                let passed = islands.iter().position(|i| i.left == next && whole);
                let passed = passed.map(|at| islands.remove(at));
                let row = &mut self.flows[usize::from(flow)].attach;
                if let Some(island) = passed {
                    next = island.right;
                    island.pass(row);
                }
                row.rcv_nxt = next;
                if let (true, Some(value)) = (with_timestamps, timestamp) {
                    row.ts_recent = value;
                    row.attached |= AttachRow::TS_RECENT_VALID;
                }
                raw = engine || !whole;
                if !whole && !carried {
                    self.bump(flow, true);
                }
            }
        }
        let row = &self.flows[usize::from(flow)].attach;
        report.epoch = self.flows[usize::from(flow)].rx.epoch;
        for (on, bit) in [
            (is_attached(row), SegmentReport::ATTACHED),
            (raw, SegmentReport::RAW),
        ] {
            report.flags |= if on { bit } else { 0 };
        }
        report.raw_len = if raw { frame.len() as u16 } else { 0 };
        // One report for a segment of one FPDU that was placed.
        if let [fpdu] = &fpdus[..] {
            if let Some(both) = PlacedReport::of(fpdu, &report) {
                return self.report(both.to_bytes(), None);
            }
        }
        for fpdu in fpdus {
            self.report(fpdu.to_bytes(), None);
        }
        self.report(report.to_bytes(), raw.then_some(frame));
    }

    pub(super) fn bump(&mut self, flow: u16, detach: bool) {
        let behind = self.raw_tail.wrapping_add(1);
        let row = &mut self.flows[usize::from(flow)].attach;
        row.raw_seen = behind;
        if detach {
            row.attached = 0;
            self.flows[usize::from(flow)].carried.clear();
            self.flows[usize::from(flow)].islands.clear();
        }
    }

    /// The same as [`walk`](Self::walk) of a segment and what is carried to it; and whether what is left is carried on.
    fn walk_on(
        &mut self,
        flow: u16,
        segment: &TcpSegment<'_>,
        reports: &mut Vec<FpduReport>,
    ) -> (usize, bool, bool, bool) {
        let rx = self.flows[usize::from(flow)].rx;
        let mut octets = std::mem::take(&mut self.flows[usize::from(flow)].carried);
        let others = self.flows.iter().filter(|flow| !flow.carried.is_empty());
        let has_place = others.count() < CARRIES;
        let before = octets.len();
        octets.extend_from_slice(segment.payload);
        let joined = TcpSegment {
            seq: segment.seq.wrapping_sub(before as u32),
            payload: &octets,
            ..*segment
        };
        let (stop, whole, engine) = self.walk(flow, &joined, reports);
        for report in &mut *reports {
            report.offset = report.offset.wrapping_sub(before as u16);
        }
        let last = reports.last().map(|report| report.verdict);
        let fin = segment.flags & flag::FIN != 0;
        let rest = &octets[stop..];
        let carried = !whole
            && last != Some(fpdu_verdict::ERROR)
            && rx.carry()
            && !rx.check_only()
            && !fin
            && has_place
            && rest.len() / 4 * 4 <= CARRY_BYTES;
        if carried {
            self.flows[usize::from(flow)].carried = rest.to_vec();
            self.carried += 1;
        }
        (stop.saturating_sub(before), whole, engine, carried)
    }

    /// Bytes done, whether that is all, whether an FPDU is for the engine.
    pub(super) fn walk(
        &mut self,
        flow: u16,
        segment: &TcpSegment<'_>,
        reports: &mut Vec<FpduReport>,
    ) -> (usize, bool, bool) {
        let rx = self.flows[usize::from(flow)].rx;
        let markers = rx.markers().then_some(rx.marker_base);
        let (mut done, mut engine) = (0, false);
        while done < segment.payload.len() {
            let seq = segment.seq.wrapping_add(done as u32);
            let Some(unit) = fpdu::deframe(&segment.payload[done..], seq, markers) else {
                return (done, false, engine);
            };
            let header = Segment::read(&unit.ulpdu);
            let verdict = match header {
                _ if !unit.markers_good => Err(0x2003),
                _ if rx.crc() && !unit.crc_good => Err(0x2002),
                None => Err(0x1000),
                Some(header) => self.place(flow, &rx, &header, &unit.ulpdu[header.len..]),
            };
            let said = header.unwrap_or_default();
            let mut report = FpduReport {
                kind: report_kind::FPDU,
                flow,
                seq,
                epoch: rx.epoch,
                offset: done as u16,
                ulpdu_len: unit.ulpdu.len() as u16,
                ddp_control: said.ddp_control,
                rdmap_control: said.rdmap_control,
                stag_or_qn: said.stag_or_qn,
                msn: said.msn,
                to_or_mo: said.to_or_mo,
                rsvd_ulp: said.rsvd_ulp,
                ..Default::default()
            }
            .with_header_valid(header.is_some());
            if header.is_some() {
                report.payload_len = (unit.ulpdu.len() - said.len) as u32;
            }
            match verdict {
                Ok(for_engine) => {
                    report.verdict = if for_engine {
                        fpdu_verdict::ENGINE
                    } else {
                        fpdu_verdict::PLACED
                    };
                    engine |= for_engine;
                    reports.push(report);
                }
                Err(code) => {
                    report.verdict = fpdu_verdict::ERROR;
                    report.terminate = code;
                    self.errors.push(code);
                    reports.push(report);
                    return (done, false, engine);
                }
            }
            done += unit.octets;
        }
        (done, true, engine)
    }

    /// Checks a segment and places it: true if it is for the engine, else its Terminate code.
    fn place(
        &mut self,
        flow: u16,
        rx: &FlowRxRow,
        header: &Segment,
        payload: &[u8],
    ) -> Result<bool, u16> {
        header.check()?;
        if rx.check_only() {
            return Ok(true);
        }
        if header.tagged {
            if !payload.is_empty() {
                let access = if header.opcode() == 0 {
                    StagRow::REMOTE_WRITE
                } else {
                    StagRow::READ_SINK
                };
                let (stag, to) = (header.stag_or_qn, header.to_or_mo);
                let iova = self.check(rx.pd, stag, to, payload.len() as u64, access)?;
                self.put(iova, payload)?;
            }
            return Ok(false);
        }
        if header.stag_or_qn > 0 {
            return Ok(true);
        }
        self.place_send(flow, rx, header, payload)?;
        Ok(false)
    }

    fn place_send(
        &mut self,
        flow: u16,
        rx: &FlowRxRow,
        header: &Segment,
        payload: &[u8],
    ) -> Result<(), u16> {
        let (msn, mo) = (header.msn, header.to_or_mo);
        let state = &self.flows[usize::from(flow)];
        if msn != state.attach.msn {
            return Err(0x1203);
        }
        if mo != u64::from(state.attach.mo) {
            return Err(0x1204);
        }
        if (state.rq_tail.wrapping_sub(msn) as i32) < 0 {
            return Err(0x1202);
        }
        let slot = msn.wrapping_sub(1) & ((1 << rx.rq_log2) - 1);
        let at = rx.rq_base + 64 * u64::from(slot);
        let bytes: [u8; 64] = self.bytes(at, 64).ok_or(0x1000u16)?.try_into().unwrap();
        let e = ReceiveElement::from_bytes(&bytes);
        let sges = [
            (e.sge0_stag, e.sge0_to, e.sge0_length),
            (e.sge1_stag, e.sge1_to, e.sge1_length),
            (e.sge2_stag, e.sge2_to, e.sge2_length),
            (e.sge3_stag, e.sge3_to, e.sge3_length),
        ];
        let total: u64 = sges
            .iter()
            .take_while(|sge| sge.2 > 0)
            .map(|sge| u64::from(sge.2))
            .sum();
        if mo + payload.len() as u64 > total {
            return Err(0x1205);
        }
        let mut skip = mo;
        let mut rest = payload;
        for (stag, to, length) in sges.into_iter().take_while(|sge| sge.2 > 0) {
            let skipped = skip.min(u64::from(length));
            skip -= skipped;
            let count = rest.len().min((u64::from(length) - skipped) as usize);
            if count > 0 {
                let iova = self
                    .check(
                        rx.pd,
                        stag,
                        to + skipped,
                        count as u64,
                        StagRow::LOCAL_WRITE,
                    )
                    .map_err(|_| 0x1000u16)?;
                self.put(iova, &rest[..count])?;
                rest = &rest[count..];
            }
        }
        let row = &mut self.flows[usize::from(flow)].attach;
        if header.is_last() {
            row.msn = row.msn.wrapping_add(1);
            row.mo = 0;
        } else {
            row.mo += payload.len() as u32;
        }
        Ok(())
    }

    fn check(&self, pd: u32, stag: u32, to: u64, length: u64, access: u8) -> Result<u64, u16> {
        let row = self
            .stags
            .get((stag >> 8) as usize)
            .filter(|row| row.valid == StagRow::VALID && row.key == stag as u8)
            .ok_or(0x1100u16)?;
        to.checked_add(length - 1).ok_or(0x1103u16)?;
        if row.pd != pd {
            return Err(0x1102);
        }
        if row.access & access == 0 {
            return Err(0x0102);
        }
        if to < row.base
            || u128::from(to) + u128::from(length) > u128::from(row.base) + u128::from(row.length)
        {
            return Err(0x1101);
        }
        Ok(row.iova + (to - row.base))
    }

    fn put(&mut self, iova: u64, payload: &[u8]) -> Result<(), u16> {
        self.placed += payload.len() as u64;
        self.bytes(iova, payload.len())
            .ok_or(0x1000u16)?
            .copy_from_slice(payload);
        Ok(())
    }
}

/// Has one of a segment's options a length below 2, or beyond the header?
fn options_are_odd(segment: &[u8]) -> bool {
    let end = usize::from(segment[12] >> 4) * 4;
    let mut at = 20;
    while at < end && segment[at] != 0 {
        at += match segment[at] {
            1 => 1,
            _ if at + 1 == end => return true,
            _ if segment[at + 1] < 2 => return true,
            _ => usize::from(segment[at + 1]),
        };
    }
    at > end
}
