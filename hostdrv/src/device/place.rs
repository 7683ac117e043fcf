//! Where a device's engine is: in this process, with the card's rings; on the card's processor, with the queues in memory that it shares with the host; or in
//! another process, likewise.

use weft_engine::{Engine, QpId};
use weft_layout::Cqe;

use super::control::Control;
use super::executor::Executor;
use super::lent::Lent;
use super::on_card::OnCard;
use super::second_port::SecondPort;
use super::State;
use crate::card::{Card, Fence, MemoryMap};
use crate::checks;
use crate::error::DeviceError;
use crate::mmio::Mmio;

/// Where it is.
pub(crate) enum Place {
    Here(Box<Here>),
    OnCard(Box<OnCard>),
    Lent(Box<Lent>),
}

/// An engine in this process.
pub(crate) struct Here {
    /// Of a second port. First: nothing of it is left in the card's tables when anything else goes.
    pub(super) second: Option<SecondPort>,
    // Then the card is told to forget its rings.
    pub(crate) card: Card,
    pub(crate) engine: Engine,
    /// The two ends of the command ring and the event ring.
    pub(super) control: Control,
    pub(super) executor: Executor,
}

impl Place {
    /// The engine and its card, if they are here.
    pub(crate) fn here(&mut self) -> Option<(&mut Engine, &mut Card)> {
        match self {
            Place::Here(here) => Some((&mut here.engine, &mut here.card)),
            Place::OnCard(_) | Place::Lent(_) => None,
        }
    }

    /// Registered memory.
    pub(crate) fn memory(&self) -> &MemoryMap {
        match self {
            Place::Here(here) => &here.card.memory,
            Place::OnCard(on_card) => &on_card.memory,
            Place::Lent(lent) => &lent.memory,
        }
    }

    /// The same, to be changed.
    pub(crate) fn memory_mut(&mut self) -> &mut MemoryMap {
        match self {
            Place::Here(here) => &mut here.card.memory,
            Place::OnCard(on_card) => &mut on_card.memory,
            Place::Lent(lent) => &mut lent.memory,
        }
    }

    /// The oldest completion that an engine elsewhere has written.
    pub(super) fn take_completion(&mut self) -> Option<(QpId, Cqe)> {
        match self {
            Place::Here(_) => None,
            Place::OnCard(on_card) => on_card.take_completion(),
            Place::Lent(lent) => lent.take_completion(),
        }
    }

    /// Jobs that the card was given so far, modulo 2^32.
    pub(super) fn jobs_posted(&self) -> u32 {
        match self {
            Place::Here(here) => here.card.jobs_posted(),
            Place::OnCard(on_card) => on_card.jobs_posted(),
            // The lender's fence waits for them.
            Place::Lent(_) => 0,
        }
    }

    /// Is this job, by the count posted with it, done, as far as is known?
    pub(super) fn jobs_done_up_to(&self, posted: u32) -> bool {
        match self {
            Place::Here(here) => here.card.jobs_done_up_to(posted),
            Place::OnCard(on_card) => on_card.jobs_done_up_to(posted),
            Place::Lent(_) => true,
        }
    }

    /// Asks the card how many it has done.
    pub(super) fn refresh_jobs_done(&mut self) {
        match self {
            Place::Here(here) => {
                weft_engine::Port::refresh_jobs_done(&mut here.card);
            }
            Place::OnCard(on_card) => on_card.refresh_jobs_done(),
            Place::Lent(_) => {}
        }
    }

    /// What is known of its fences.
    pub(super) fn fence(&self) -> &Fence {
        match self {
            Place::Here(here) => &here.card.fence,
            Place::OnCard(on_card) => &on_card.fence,
            Place::Lent(lent) => &lent.fence,
        }
    }

    /// There was an interrupt, and nothing that it was for: fails if it was for the end of what should have written it.
    pub(super) fn check_woken(&self) -> Result<(), DeviceError> {
        match self {
            Place::Here(here) => here.card.check_reports(),
            Place::OnCard(on_card) => on_card.check_runs(),
            Place::Lent(lent) => lent.check_lender(),
        }
    }

    /// Fails if the card is gone, cannot report, or its processor has ended.
    pub(super) fn check_presence(&self, mmio: &Mmio) -> Result<(), DeviceError> {
        if !matches!(self, Place::Lent(_)) {
            checks::check_answers(mmio)?;
        }
        self.check_woken()
    }

    /// Why `what` is not to be had, which an engine here has.
    fn without(&self, what: &'static str) -> DeviceError {
        match self {
            Place::Lent(_) => DeviceError::OfLender { what },
            Place::Here(_) => DeviceError::OfFirstPort { what },
            Place::OnCard(_) => DeviceError::OnCard { what },
        }
    }

    /// What is done for what the first port's owner alone may have.
    fn first_port(&mut self) -> Option<(&mut Engine, &mut Card)> {
        match self {
            Place::Here(here) if here.second.is_none() => Some((&mut here.engine, &mut here.card)),
            _ => None,
        }
    }
}

impl State {
    /// The engine and its card, which have to be here, by the card's first port, for `what`.
    pub(crate) fn engine_for(
        &mut self,
        what: &'static str,
    ) -> Result<(&mut Engine, &mut Card), DeviceError> {
        let why = self.place.without(what);
        self.place.first_port().ok_or(why)
    }

    /// Has another process the card?
    pub(crate) fn is_lent(&self) -> bool {
        matches!(self.place, Place::Lent(_))
    }

    /// Fails where `what` is not to be had: with an engine elsewhere, or by the card's second port.
    pub(crate) fn check_here(&self, what: &'static str) -> Result<(), DeviceError> {
        match &self.place {
            Place::Here(here) if here.second.is_none() => Ok(()),
            _ => Err(self.place.without(what)),
        }
    }
}
