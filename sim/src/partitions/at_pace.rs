//! A load on hosts whose software takes time: each does something when its core is free.

use weft_hostdrv::verbs::{Wc, WcOpcode};

use super::connection::Connection;
use super::run::Work;
use super::PartitionsError;
use crate::fabric::FabricError;
use crate::host::{Done, Hosts};
use crate::pair::LIMIT;

/// What a program does with a completion of an end, beside what the device counts.
fn taking(end: usize, wc: &Wc, echo: bool) -> Done {
    let received = wc.opcode == WcOpcode::Recv;
    Done {
        polls: 1,
        receives: received.into(),
        sends: (received && end == 1 && echo).into(),
        ..Done::default()
    }
}

impl Work<'_> {
    /// All messages.
    pub(super) fn all_at_pace(
        &mut self,
        connections: &mut [Connection<'_>],
        hosts: &mut Hosts<'_>,
    ) -> Result<(), PartitionsError> {
        let mut end = self.fabric.now() + LIMIT;
        while self.done < self.load.messages {
            let mut any = false;
            for number in [0, 1] {
                for thread in 0..hosts.threads() {
                    if hosts.is_program_free(number, thread) {
                        any |= self.act(connections, hosts, (number, thread))?;
                    }
                }
            }
            if any {
                end = self.fabric.now() + LIMIT;
            }
            any |= hosts.turns()?;
            if any {
                continue;
            }
            let now = self.fabric.now();
            if now >= end {
                let what = "a completion".to_owned();
                let limit = LIMIT;
                return Err(FabricError::TimedOut { what, limit, now }.into());
            }
            hosts.rest(end)?;
        }
        Ok(())
    }

    /// What a thread of an end's program does next for its connections, if there is anything: the first end posts while there is room, and both
    /// take completions.
    fn act(
        &mut self,
        connections: &mut [Connection<'_>],
        hosts: &mut Hosts<'_>,
        (end, thread): (usize, usize),
    ) -> Result<bool, PartitionsError> {
        let load = self.load;
        let threads = hosts.threads();
        let all = 0..connections.len();
        // In turn: else the first connections would leave the others nothing.
        let in_turn = |first: usize| {
            let turns = all.clone().map(move |n| (first + n) % load.connections);
            turns.filter(move |n| n % threads == thread)
        };
        if end == 0 && self.posted < load.messages {
            let mut posting = in_turn(self.next[0]);
            if let Some(n) = posting.find(|n| connections[*n].has_room(load.depth)) {
                self.next[0] = n + 1;
                let (operation, length) = self.draw();
                hosts.program(end, thread, || {
                    connections[n].post(self, operation, length)?;
                    let done = Done {
                        sends: 1,
                        ..Done::default()
                    };
                    Ok::<_, PartitionsError>(((), done))
                })?;
                self.posted += 1;
                return Ok(true);
            }
        }
        for n in in_turn(self.next[1 + end]) {
            let cq = &connections[n].pair.ends[end].cq;
            let looks = self.fabric.looks();
            let Some(wc) = looks.look(|| cq.poll_there(), Option::is_none) else {
                continue;
            };
            self.next[1 + end] = n + 1;
            hosts.program(end, thread, || {
                connections[n].take(self, end, &wc)?;
                Ok::<_, PartitionsError>(((), taking(end, &wc, load.echo)))
            })?;
            return Ok(true);
        }
        Ok(false)
    }
}
