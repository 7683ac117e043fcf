//! The worked examples of RFC 5044 §4.4: their bytes, markers and CRCs come out of every kind of card, and go in.

use weft_layout::{
    doorbell, fpdu_verdict, job_kind, AttachRow, FlowRxRow, FlowTxRow, FpduReport, Job,
    ReceiveElement, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::ethernet;

const FLOW: u16 = 5;
const PD: u32 = 3;
const STAG: u32 = 0x0000_0142;
/// Where the stream begins, and with it the markers.
const SEQ: u32 = 0xffff_ff80;
/// Markers, CRC, the row is valid.
const FLAGS: u8 = FlowRxRow::MARKERS | FlowRxRow::CRC | FlowRxRow::VALID;
/// Where the second example begins in the stream: its first FPDU has 492 octets.
const SECOND: u32 = 492;

/// Figure 5: the first FPDU of a stream; a Send of 24 zeroes.
const FIGURE_5: [u8; 52] = {
    let mut b = [0; 52];
    b[5] = 0x2a;
    b[6] = 0x41;
    b[7] = 0x43;
    b[0x13] = 1;
    (b[0x30], b[0x31], b[0x32], b[0x33]) = (0x52, 0x23, 0x99, 0x83);
    b
};

/// Figure 6: the second FPDU, with the marker that falls between its header and its data.
const FIGURE_6: [u8; 52] = {
    let mut b = [0; 52];
    b[1] = 0x2a;
    b[2] = 0x41;
    b[3] = 0x43;
    b[0x0f] = 2;
    b[0x17] = 0x14;
    (b[0x30], b[0x31], b[0x32], b[0x33]) = (0x84, 0x92, 0x58, 0x98);
    b
};

struct Setup {
    bench: Bench,
    memory: Region,
    ends: Ends,
    _rq: Region,
}

fn setup(kind: CardKind) -> Setup {
    let mut bench =
        Bench::new(kind.build(1, 0), 1, LinkConfig::default(), Rings::default()).unwrap();
    let (memory, rq) = (bench.region(8192), bench.region(4096));
    let ends = Ends::of(FLOW);
    let stag = StagRow {
        valid: StagRow::VALID,
        key: 0x42,
        access: StagRow::LOCAL_WRITE,
        pd: PD,
        base: 0,
        length: 8192,
        iova: memory.iova,
    };
    bench.stag(STAG, &stag).unwrap();
    for slot in 0..2u16 {
        let element = ReceiveElement {
            sge0_to: 4096 + 1024 * u64::from(slot),
            sge0_length: 1000,
            sge0_stag: STAG,
            ..ReceiveElement::default()
        };
        rq.write(64 * usize::from(slot), &element.to_bytes())
            .unwrap();
    }
    let rx = FlowRxRow {
        flags: FLAGS,
        rq_log2: 1,
        pd: PD,
        marker_base: SEQ,
        rq_base: rq.iova,
        ..FlowRxRow::default()
    };
    let attach = AttachRow {
        attached: AttachRow::ATTACHED,
        rcv_nxt: SEQ,
        msn: 1,
        ..AttachRow::default()
    };
    bench
        .flow(FLOW, &ends, &rx, &ends.tx(FLAGS, SEQ), &attach)
        .unwrap();
    bench.ring(doorbell::RQ_TAIL + 4 * u32::from(FLOW), 2);
    bench.sent();
    Setup {
        bench,
        memory,
        ends,
        _rq: rq,
    }
}

impl Setup {
    /// The TCP payloads of Sends of zeroes: stream offset, MSN, bytes.
    fn send(&mut self, messages: &[(u32, u32, u32)]) -> Vec<Vec<u8>> {
        for (offset, msn, length) in messages {
            let job = Job {
                kind: job_kind::MESSAGE,
                flags: Job::LAST,
                flow: FLOW,
                seq: SEQ.wrapping_add(*offset),
                tcp_flags: 0x18,
                sge_count: 1,
                length: *length,
                fpdu_payload: 1000,
                rdmap_control: 0x43,
                msn: *msn,
                sge0_iova: self.memory.iova + 1,
                sge0_length: *length,
                ..Job::default()
            };
            self.bench.post(&job, &[]);
        }
        self.bench.ring_jobs();
        self.bench.settle(100_000).unwrap();
        let sent = self.bench.sent();
        sent.iter().map(|s| s.frame[54..].to_vec()).collect()
    }

    /// Delivers a segment and answers its FPDUs' reports.
    fn deliver(&mut self, offset: u32, payload: &[u8]) -> Vec<FpduReport> {
        let row = self.ends.peer_tx(FlowTxRow::VALID, 0);
        let seq = SEQ.wrapping_add(offset);
        self.bench.inject(ethernet::segment(
            &row,
            &Job::default(),
            seq,
            0x10,
            9,
            payload,
        ));
        self.bench.settle(100_000).unwrap();
        let mut reports = self.bench.reports();
        assert_eq!(reports.pop().expect("a segment report").0[0], 1);
        reports
            .iter()
            .map(|(r, _)| FpduReport::from_bytes(r))
            .collect()
    }
}

#[test]
fn they_come_out() {
    for kind in CardKind::available() {
        assert_eq!(setup(kind).send(&[(0, 1, 24)]), [FIGURE_5], "{kind}");
        let stream = setup(kind).send(&[(0, 1, 464), (SECOND, 2, 24)]);
        assert_eq!(stream[0].len(), SECOND as usize, "{kind}");
        assert_eq!(stream[1], FIGURE_6, "{kind}");
    }
}

#[test]
fn they_go_in() {
    for kind in CardKind::available() {
        let mut card = setup(kind);
        card.memory.write(4096, &[0xff; 2048]).unwrap();
        let fpdus = card.deliver(0, &FIGURE_5);
        assert_eq!(
            (fpdus.len(), fpdus[0].verdict, fpdus[0].msn),
            (1, fpdu_verdict::PLACED, 1),
            "{kind}: {fpdus:?}"
        );
        assert_eq!(
            card.memory.read(4096, 25).unwrap(),
            [&[0; 24][..], &[0xff]].concat()
        );

        let mut card = setup(kind);
        let first = card.send(&[(0, 1, 464)]).remove(0);
        card.memory.write(4096, &[0xff; 2048]).unwrap();
        assert_eq!(
            card.deliver(0, &first)[0].verdict,
            fpdu_verdict::PLACED,
            "{kind}"
        );
        let fpdus = card.deliver(SECOND, &FIGURE_6);
        assert_eq!(
            (fpdus.len(), fpdus[0].verdict, fpdus[0].msn),
            (1, fpdu_verdict::PLACED, 2),
            "{kind}: {fpdus:?}"
        );
        assert_eq!(
            card.memory.read(5120, 25).unwrap(),
            [&[0; 24][..], &[0xff]].concat()
        );
    }
}

#[test]
fn a_wrong_byte_anywhere_is_refused() {
    for kind in CardKind::available() {
        for at in 0..FIGURE_5.len() {
            let mut card = setup(kind);
            card.memory.write(4096, &[0xff; 1000]).unwrap();
            let mut bytes = FIGURE_5;
            bytes[at] ^= 0x40;
            let fpdus = card.deliver(0, &bytes);
            assert!(
                fpdus.iter().all(|f| f.verdict == fpdu_verdict::ERROR),
                "{kind}, byte {at}: {fpdus:?}"
            );
            assert_eq!(
                card.memory.read(4096, 1000).unwrap(),
                [0xff; 1000],
                "{kind}, byte {at}"
            );
        }
    }
}
