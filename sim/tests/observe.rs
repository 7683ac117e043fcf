//! What watches the card, through the driver: trace ring, MAC loopback.

use std::sync::Arc;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::trace::{DropReason, JobEnd, Trace, TraceKind, TraceReader, Verdict};
use weft_hostdrv::transport::{Bar, Transport};
use weft_layout::{doorbell, reg, trace_kind};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::pair::{Operation, Pair};
use weft_sim::transport::SimTransport;

fn fabric(kind: CardKind) -> Fabric {
    let config = FabricConfig {
        cards: vec![kind; 2],
        ..FabricConfig::default()
    };
    Fabric::new(&config).unwrap_or_else(|e| panic!("{kind}: {e}"))
}

fn position(trace: &Trace, what: &str, wanted: impl Fn(&TraceKind) -> bool) -> usize {
    let found = trace.events.iter().position(|e| wanted(&e.kind));
    found.unwrap_or_else(|| {
        let all: Vec<String> = trace.events.iter().map(ToString::to_string).collect();
        panic!("no {what} in:\n{}", all.join("\n"))
    })
}

#[test]
fn the_trace_tells_the_life_of_a_send() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let source = vec![7; 4096];
        let quiet = ConnParam::default();
        let mut pair = Pair::connect(&fabric, 7471, &quiet, &quiet, &source, 4096).unwrap();
        pair.established().unwrap();
        let mut readers = [0, 1].map(|n| fabric.device(n).trace().unwrap());
        for reader in &mut readers {
            let trace = reader.poll().unwrap();
            assert!(
                !trace.events.is_empty() && trace.lost == 0,
                "{kind}: {trace:?}"
            );
        }
        pair.transfer(Operation::Send, 0, 0, 0, 100).unwrap();
        fabric.run_for(10_000).unwrap();
        let [sender, receiver] = readers.map(|mut r| r.poll().unwrap());
        for trace in [&sender, &receiver] {
            assert_eq!((trace.missed, trace.lost), (0, 0), "{kind}");
            assert!(trace.events.windows(2).all(|w| w[0].time <= w[1].time));
            assert!(trace.events.iter().all(|e| e.time <= trace.now), "{kind}");
        }
        let job = |k: &TraceKind| matches!(k, TraceKind::JobBegin { kind: 3, .. });
        let rung = |k: &TraceKind| matches!(k, TraceKind::Doorbell { offset, .. } if u32::from(*offset) == doorbell::JOB_TAIL);
        let out = |k: &TraceKind| {
            matches!(
                k,
                TraceKind::FrameOut {
                    fpdu: true,
                    looped: false,
                    ..
                }
            )
        };
        let done = |k: &TraceKind| {
            matches!(
                k,
                TraceKind::JobDone {
                    end: JobEnd::Done,
                    ..
                }
            )
        };
        let order = [
            position(&sender, "doorbell", rung),
            position(&sender, "job", job),
            position(&sender, "job done", done),
            position(&sender, "frame out", out),
        ];
        assert!(
            order[0] < order[1] && order[1] < order[2],
            "{kind}: {order:?}"
        );
        assert!(order[1] < order[3], "{kind}: {order:?}");
        // The wire is between the two: what one sent with a number came to the other with it.
        let TraceKind::FrameOut {
            length,
            seq: Some(seq),
            ..
        } = sender.events[order[3]].kind
        else {
            panic!("{kind}: no sequence number");
        };
        let came = position(&receiver, "frame in", |k| {
            *k == TraceKind::FrameIn {
                length,
                seq: Some(seq),
            }
        });
        let placed = position(
            &receiver,
            "verdict",
            |k| matches!(k, TraceKind::Verdict { verdict: Verdict::Placed, seq: s, .. } if *s == seq),
        );
        let report = position(&receiver, "report", |k| {
            matches!(k, TraceKind::Report { .. })
        });
        assert!(
            came < placed && came < report,
            "{kind}: {came} {placed} {report}"
        );
        let text = receiver.events[placed].to_string();
        assert!(
            text.contains("placed") && text.contains(&seq.to_string()),
            "{text}"
        );
    }
}

#[test]
fn a_card_whose_dma_is_broken_still_tells_why() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let card: Arc<dyn Transport> = Arc::new(SimTransport::new(fabric.world(), 0));
        // No driver from here on: a report ring where no memory is, and a frame that wants a report.
        for (register, value) in [
            (reg::REPORT_BASE_LO, 0x1000),
            (reg::REPORT_BASE_HI, 0),
            (reg::REPORT_LOG2, 4),
        ] {
            card.write32(Bar::Registers, register, value).unwrap();
        }
        let mut frame = vec![0xff; 60];
        frame[12..14].copy_from_slice(&[0x88, 0xb5]);
        let mut other = frame.clone();
        other[0] = 2;
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            world.deliver(0, frame, false);
            world.deliver(0, other, false);
            world.run_cycles(2000).unwrap();
            world.iommu(0).take_faults();
        }
        let mut reader = TraceReader::open(Arc::clone(&card)).unwrap();
        let trace = reader.snapshot().unwrap();
        let is = |wanted: TraceKind| move |k: &TraceKind| *k == wanted;
        let dma = position(
            &trace,
            "DMA error",
            is(TraceKind::DmaError {
                read: None,
                write: true,
            }),
        );
        let report = position(&trace, "report", |k| {
            matches!(k, TraceKind::Report { number: 0, .. })
        });
        position(
            &trace,
            "drop",
            is(TraceKind::FrameDropped {
                reason: DropReason::Mac,
                length: 60,
                flow: None,
            }),
        );
        position(
            &trace,
            "register",
            is(TraceKind::Register {
                offset: reg::REPORT_BASE_LO as u16,
                value: 0x1000,
            }),
        );
        assert!(report < dma, "{kind}");
        assert_eq!(
            card.read32(Bar::Registers, reg::STATUS).unwrap() & 4,
            4,
            "{kind}"
        );
        // Reading it again gives the same: nothing was disturbed.
        assert_eq!(reader.snapshot().unwrap().events, trace.events, "{kind}");

        // What is not wanted is not recorded, and nothing while it is frozen.
        reader.clear().unwrap();
        reader.only(&[trace_kind::REGISTER]).unwrap();
        card.write32(Bar::Registers, reg::SCRATCH, 1).unwrap();
        card.write32(Bar::Doorbells, doorbell::RAW_HEAD, 1).unwrap();
        reader.freeze(true).unwrap();
        card.write32(Bar::Registers, reg::SCRATCH, 2).unwrap();
        reader.freeze(false).unwrap();
        reader.everything().unwrap();
        card.write32(Bar::Doorbells, doorbell::RAW_HEAD, 1).unwrap();
        let texts: Vec<String> = reader
            .poll()
            .unwrap()
            .events
            .iter()
            .map(|e| e.kind.to_string())
            .collect();
        assert_eq!(
            texts,
            ["register SCRATCH written: 0x1", "doorbell RAW_HEAD: 1"],
            "{kind}"
        );
    }
}

#[test]
fn mac_loopback_keeps_the_errors_that_turning_it_on_clears() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let device = fabric.device(0);
        device.set_mac_loopback(true).unwrap();
        let ctrl = |card: &SimTransport| card.read32(Bar::Registers, reg::CTRL).unwrap();
        let card = SimTransport::new(fabric.world(), 0);
        assert_eq!(ctrl(&card), 7, "{kind}");
        device.set_mac_loopback(false).unwrap();
        assert_eq!(ctrl(&card), 3, "{kind}");
        card.write32(Bar::Registers, reg::REPORT_BASE_LO, 0x1000)
            .unwrap();
        card.write32(Bar::Registers, reg::REPORT_BASE_HI, 0)
            .unwrap();
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            world.deliver(0, vec![0xff; 60], false);
            world.run_cycles(2000).unwrap();
        }
        device.set_mac_loopback(true).unwrap();
        assert_eq!(
            card.read32(Bar::Registers, reg::STATUS).unwrap() & 6,
            0,
            "{kind}"
        );
        assert!(device.health().unwrap().dma_write_error, "{kind}");
    }
}
