//! Ranges beyond a gap that the card has placed.

use weft_layout::{AttachRow, FpduReport};
use weft_wire::tcp::{flag, TcpSegment};

use super::super::oracle::fpdu;
use super::super::oracle::segment::Segment;
use super::Card;

/// Those that a flow has at a time.
const ISLANDS: usize = 8;

/// `a` is before `b`.
fn lt(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) >= 1 << 31
}

/// Message and offset of a first Send, and what follows the last one.
type Sends = ((u32, u32), (u32, u32));

/// A range beyond a gap that was placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Island {
    pub(super) left: u32,
    pub(super) right: u32,
    sends: Option<Sends>,
    /// Its Sends are not those of one stream.
    torn: bool,
}

impl Island {
    /// The stream has come to it: what is expected behind it.
    pub(super) fn pass(&self, row: &mut AttachRow) {
        if let Some((first, (msn, mo))) = self.sends {
            let fits = !self.torn && first == (row.msn, row.mo);
            // Else nothing will do.
            let far = if fits { 0 } else { 1 << 30 };
            (row.msn, row.mo) = (msn.wrapping_add(far), mo);
        }
    }
}

/// What the card has made of a segment beyond a gap.
pub(super) struct Beyond {
    pub(super) done: usize,
    pub(super) raw: bool,
    pub(super) twice: bool,
}

impl Card {
    pub(super) fn meets_island(&self, flow: u16, seq: u32, length: usize) -> bool {
        let end = seq.wrapping_add(length as u32);
        let islands = &self.flows[usize::from(flow)].islands;
        islands.iter().any(|i| lt(seq, i.right) && lt(i.left, end))
    }

    /// A segment beyond a gap that may have to do with an island.
    pub(super) fn beyond(
        &mut self,
        flow: u16,
        segment: &TcpSegment<'_>,
        unread: bool,
        reports: &mut Vec<FpduReport>,
    ) -> Option<Beyond> {
        let state = &self.flows[usize::from(flow)];
        let rx = state.rx;
        let (left, length) = (segment.seq, segment.payload.len());
        let right = left.wrapping_add(length as u32);
        let may = rx.beyond() && !rx.carry() && !rx.check_only();
        let odd = unread || segment.flags & (flag::URG | flag::FIN) != 0;
        if !may || odd || !lt(state.attach.rcv_nxt, left) {
            return None;
        }
        let islands = &state.islands;
        let inside = |i: &Island| !lt(left, i.left) && !lt(i.right, right);
        if islands.iter().any(inside) {
            return Some(Beyond {
                done: 0,
                raw: false,
                twice: true,
            });
        }
        let apart = islands.iter().all(|i| i.right != left && i.left != right);
        if self.meets_island(flow, left, length) || islands.len() == ISLANDS && apart {
            return None;
        }
        let (early, first) = self.early_octets(flow, segment);
        let part = TcpSegment {
            payload: &segment.payload[..early],
            ..*segment
        };
        let f = usize::from(flow);
        let stands = self.flows[f].attach;
        if let Some((msn, mo)) = first {
            (self.flows[f].attach.msn, self.flows[f].attach.mo) = (msn, mo);
        }
        let (done, ..) = self.walk(flow, &part, reports);
        let behind = self.flows[f].attach;
        self.flows[f].attach = stands;
        let raw = done < length;
        if raw {
            self.bump(flow, true);
        } else {
            let sends = first.map(|first| (first, (behind.msn, behind.mo)));
            self.join(flow, left, right, sends);
            self.beyond += 1;
        }
        Some(Beyond {
            done,
            raw,
            twice: false,
        })
    }

    /// A segment is an island, one with its neighbours.
    fn join(&mut self, flow: u16, left: u32, right: u32, sends: Option<Sends>) {
        let islands = &mut self.flows[usize::from(flow)].islands;
        let mut take = |touches: &dyn Fn(&Island) -> bool| {
            let at = islands.iter().position(touches)?;
            Some(islands.remove(at))
        };
        let parts = [
            take(&|i| i.right == left),
            Some(Island {
                left,
                right,
                sends,
                torn: false,
            }),
            take(&|i| i.left == right),
        ];
        let parts: Vec<Island> = parts.into_iter().flatten().collect();
        let edges: Vec<Sends> = parts.iter().filter_map(|part| part.sends).collect();
        let fit = edges.windows(2).all(|two| two[0].1 == two[1].0);
        islands.push(Island {
            left: parts[0].left,
            right: parts[parts.len() - 1].right,
            sends: edges.first().map(|edge| (edge.0, edges[edges.len() - 1].1)),
            torn: !fit || parts.iter().any(|part| part.torn),
        });
    }

    /// Octets of what may be placed beyond a gap, whole FPDUs from the segment's front on, of which the first has a marker or begins where an island ends.
    /// Without markers the two ends have agreed that it is an FPDU. And where the first Send of it belongs.
    fn early_octets(&self, flow: u16, segment: &TcpSegment<'_>) -> (usize, Option<(u32, u32)>) {
        let state = &self.flows[usize::from(flow)];
        let rx = state.rx;
        let behind = state.islands.iter().find(|i| i.right == segment.seq);
        let is_certain = behind.is_some() || !rx.markers();
        let mut goes_on = behind.and_then(|island| island.sends).map(|sends| sends.1);
        let (mut at, mut first) = (0, None);
        while at < segment.payload.len() {
            let seq = segment.seq.wrapping_add(at as u32);
            let markers = rx.markers().then_some(rx.marker_base);
            let Some(unit) = fpdu::deframe(&segment.payload[at..], seq, markers) else {
                break;
            };
            let marked = (rx.marker_base.wrapping_sub(seq) % 512) < unit.octets as u32;
            let Some(h) = Segment::read(&unit.ulpdu) else {
                break;
            };
            if at == 0 && !marked && !is_certain {
                break;
            }
            if h.tagged {
                if ![0, 2].contains(&h.opcode()) {
                    break;
                }
            } else {
                let here = (h.msn, h.to_or_mo as u32);
                let complete = (h.msn.wrapping_sub(state.attach.msn) as i32) < 0;
                let last = |msn: u32| (state.rq_tail.wrapping_sub(msn) as i32) >= 0;
                let posted = last(h.msn) && last(state.attach.msn);
                let fits = goes_on.is_none_or(|next| next == here) && !complete && posted;
                if h.check().is_err() || h.stag_or_qn != 0 || !fits {
                    break;
                }
                first = first.or(Some(here));
                let length = (unit.ulpdu.len() - h.len) as u32;
                goes_on = Some(match h.is_last() {
                    true => (here.0.wrapping_add(1), 0),
                    false => (here.0, here.1.wrapping_add(length)),
                });
            }
            at += unit.octets;
        }
        (at, first)
    }
}
