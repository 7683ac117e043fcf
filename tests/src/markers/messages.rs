//! DDP and RDMAP headers (RFC 5041 §4, RFC 5040 §4): versions, opcodes, MSN, MO and TO in sequence, Read Responses, the RTR.

use std::collections::VecDeque;

use super::framing::{Fpdu, Walk};
use super::rule::Rule;
use super::start_up::StartUp;
use super::streams::Stream;
use super::{Direction, Rules};

/// RDMAP opcodes that this file asks for by name.
mod op {
    pub const WRITE: u8 = 0;
    pub const READ_REQUEST: u8 = 1;
    pub const READ_RESPONSE: u8 = 2;
    pub const SEND: u8 = 3;
    pub const TERMINATE: u8 = 7;
}

/// A Read Request, or what answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sink {
    stag: u32,
    to: u64,
    length: u64,
}

/// A message with segments to come.
#[derive(Clone, Copy)]
struct Open {
    opcode: u8,
    stag: u32,
    start: u64,
    next: u64,
}

#[derive(Default)]
struct Queue {
    finished: u32,
    open: Option<Open>,
}

#[derive(Default)]
struct Reader {
    queues: [Queue; 4],
    tagged: Option<Open>,
    /// Read Requests with where they are; Read Responses likewise.
    requests: Vec<Sink>,
    responses: Vec<(Sink, u64)>,
    terminated: bool,
}

/// Judges the FPDUs of both directions, and each against the other.
pub fn judge(
    stream: &Stream,
    start_up: &StartUp,
    walks: [Walk; 2],
    rules: &Rules,
) -> [Direction; 2] {
    let mut walks = walks;
    let version = u8::from(!start_up.rev0());
    let mut readers = [Reader::default(), Reader::default()];
    for end in [0, 1] {
        let ours = rules.ours.contains(stream.directions[end].from.ip());
        let fpdus = std::mem::take(&mut walks[end].fpdus);
        for fpdu in &fpdus {
            let direction = &mut walks[end].direction;
            let read = readers[end].read(fpdu, version, ours, direction);
            if let Err(rule) = read {
                walks[end].direction.violation = None; // Framing goes further than this.
                walks[end].violate(&stream.directions[end], fpdu.at, rule);
                break;
            }
        }
        walks[end].fpdus = fpdus;
    }
    rtr(stream, start_up, &mut walks[0]);
    responder_first(stream, &mut walks, rules);
    for end in [0, 1] {
        if walks[1 - end].direction.violation.is_some() || walks[1 - end].direction.unverified > 0 {
            continue; // Not all requests are known.
        }
        let requests = readers[1 - end].requests.iter().copied().collect();
        let wrong = read_responses(requests, &readers[end].responses);
        if let Some((offset, rule)) = wrong {
            walks[end].violate(&stream.directions[end], offset, rule);
        }
    }
    walks.map(|walk| walk.direction)
}

impl Reader {
    fn read(
        &mut self,
        fpdu: &Fpdu,
        version: u8,
        ours: bool,
        direction: &mut Direction,
    ) -> Result<(), Rule> {
        let ulpdu = &fpdu.ulpdu;
        let (ddp, rdmap) = (ulpdu[0], ulpdu[1]);
        let (tagged, last) = (ddp & 0x80 != 0, ddp & 0x40 != 0);
        for (layer, found) in [("DDP", ddp & 3), ("RDMAP", rdmap >> 6)] {
            if found != version {
                return Err(Rule::Version {
                    layer,
                    expected: version,
                    found,
                });
            }
        }
        if self.terminated && ours {
            return Err(Rule::AfterTerminate);
        }
        let opcode = rdmap & 15;
        let done = if tagged {
            self.tagged(ulpdu, opcode, last, fpdu.at)?
        } else {
            self.untagged(ulpdu, opcode, last)?
        };
        let messages = &mut direction.messages;
        if done {
            match opcode {
                op::WRITE => messages.writes += 1,
                op::READ_REQUEST => messages.read_requests += 1,
                op::READ_RESPONSE => messages.read_responses += 1,
                op::SEND..=6 => messages.sends += 1,
                op::TERMINATE => messages
                    .terminates
                    .push([ulpdu[18], ulpdu[19], ulpdu[20], ulpdu[21]]),
                _ => messages.others += 1,
            }
        }
        Ok(())
    }

    /// True if the message is complete with this segment.
    fn tagged(&mut self, ulpdu: &[u8], opcode: u8, last: bool, at: u64) -> Result<bool, Rule> {
        if opcode != op::WRITE && opcode != op::READ_RESPONSE {
            return Err(Rule::Opcode {
                opcode,
                place: "a tagged segment".into(),
            });
        }
        let (stag, to) = (be32(&ulpdu[2..]), be64(&ulpdu[6..]));
        let length = ulpdu.len() as u64 - 14;
        let open = self.tagged.take().unwrap_or(Open {
            opcode,
            stag,
            start: to,
            next: to,
        });
        if open.opcode != opcode {
            return Err(Rule::Interleaved {
                expected: open.opcode,
                found: opcode,
            });
        }
        if (stag, to) != (open.stag, open.next) {
            return Err(Rule::Tagged {
                stag,
                to,
                expected_stag: open.stag,
                expected_to: open.next,
            });
        }
        let next = to.wrapping_add(length);
        if !last {
            self.tagged = Some(Open { next, ..open });
            return Ok(false);
        }
        if opcode == op::READ_RESPONSE {
            let sink = Sink {
                stag,
                to: open.start,
                length: next.wrapping_sub(open.start),
            };
            self.responses.push((sink, at));
        }
        Ok(true)
    }

    fn untagged(&mut self, ulpdu: &[u8], opcode: u8, last: bool) -> Result<bool, Rule> {
        if ulpdu.len() < 18 {
            return Err(Rule::Length {
                length: ulpdu.len() as u16,
            });
        }
        let [queue, msn, mo] = [6, 10, 14].map(|at| be32(&ulpdu[at..]));
        let right = match opcode {
            op::SEND..=6 | 8 | 9 => 0,
            op::READ_REQUEST | 10 => 1,
            op::TERMINATE => 2,
            11 => 3,
            _ => u32::MAX,
        };
        if queue != right {
            return Err(Rule::Opcode {
                opcode,
                place: format!("queue {queue}"),
            });
        }
        let state = &mut self.queues[queue as usize];
        let expected = state.finished.wrapping_add(1);
        if msn != expected {
            return Err(Rule::Msn {
                queue,
                expected,
                found: msn,
            });
        }
        let open = state.open.take().unwrap_or(Open {
            opcode,
            stag: 0,
            start: 0,
            next: 0,
        });
        if open.opcode != opcode {
            return Err(Rule::Interleaved {
                expected: open.opcode,
                found: opcode,
            });
        }
        if u64::from(mo) != open.next {
            return Err(Rule::Mo {
                queue,
                expected: open.next as u32,
                found: mo,
            });
        }
        let payload = &ulpdu[18..];
        let length = open.next + payload.len() as u64;
        let fits = match opcode {
            op::READ_REQUEST => last && length == 28,
            op::TERMINATE => last && length >= 4,
            8 | 9 => last && length == 8,
            10 => last && length == 52,
            11 => last && length == 12,
            _ => true,
        };
        if !fits {
            return Err(Rule::MessageLength { opcode, length });
        }
        if !last {
            state.open = Some(Open {
                next: length,
                ..open
            });
            return Ok(false);
        }
        state.finished = msn;
        self.terminated |= opcode == op::TERMINATE;
        if opcode == op::READ_REQUEST {
            self.requests.push(Sink {
                stag: be32(payload),
                to: be64(&payload[4..]),
                length: u64::from(be32(&payload[12..])),
            });
        }
        Ok(true)
    }
}

/// RFC 5040 §5.2.1: a response is to where the request said, as long as it said, in the order of the requests.
fn read_responses(mut requests: VecDeque<Sink>, responses: &[(Sink, u64)]) -> Option<(u64, Rule)> {
    for (response, at) in responses {
        let why = match requests.pop_front() {
            Some(request) if request == *response => continue,
            Some(request) => format!(
                "the request says {} octets to STag {:#010x}, TO {:#x}",
                request.length, request.stag, request.to
            ),
            None => "nobody asked for it".into(),
        };
        let Sink { stag, to, length } = *response;
        let rule = Rule::ReadResponse {
            stag,
            to,
            length,
            why,
        };
        return Some((*at, rule));
    }
    None
}

/// RFC 6581 §9.2: exactly one of the kinds in both frames, before everything else.
fn rtr(stream: &Stream, start_up: &StartUp, walk: &mut Walk) {
    let (Some([send, write, read]), Some(first)) = (start_up.rtr(), walk.fpdus.first()) else {
        return;
    };
    let ulpdu = &first.ulpdu;
    let (opcode, at) = (ulpdu[1] & 15, first.at);
    let agreed = match opcode {
        op::SEND => send && ulpdu.len() == 18,
        op::WRITE => write && ulpdu.len() == 14,
        op::READ_REQUEST => read && ulpdu.len() == 46 && ulpdu[30..34] == [0; 4],
        // No kind in common.
        op::TERMINATE => true,
        _ => false,
    };
    if !agreed {
        let what = format!("opcode {opcode}, ULPDU of {} octets", ulpdu.len());
        walk.violate(&stream.directions[0], at, Rule::Rtr { what });
    }
}

/// RFC 5044 §7.1.2. Linux siw without peer-to-peer does not wait, so it is asked of ours alone.
fn responder_first(stream: &Stream, walks: &mut [Walk; 2], rules: &Rules) {
    if !rules.ours.contains(stream.directions[1].from.ip()) {
        return;
    }
    let [initiator, responder] = walks;
    let Some(first) = responder.fpdus.first() else {
        return;
    };
    let (frame, at) = (first.frame, first.at);
    if initiator.fpdus.first().is_none_or(|f| f.frame > frame) {
        responder.violate(&stream.directions[1], at, Rule::ResponderFirst);
    }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn be64(bytes: &[u8]) -> u64 {
    u64::from(be32(bytes)) << 32 | u64::from(be32(&bytes[4..]))
}
