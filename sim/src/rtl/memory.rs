//! Host memory behind the card's AXI4 port: what the IOMMU refuses is a decode error, what it has not got yet waits.

use rtl_sim::axi::{Fault, Memory};

use crate::iommu::{self, HostMemory, Refusal};

/// Host memory as the bus model wants it.
pub struct Behind<'a>(pub &'a mut dyn HostMemory);

fn fault(fault: iommu::Fault) -> Fault {
    match fault.why {
        Refusal::NotYet => Fault::NotYet,
        Refusal::Broken => Fault::Slave,
        _ => Fault::Decode,
    }
}

impl Memory for Behind<'_> {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        self.0.read(addr, bytes).map_err(fault)
    }

    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault> {
        // Runs of enabled lanes; nearly always there is one.
        let mut lane = 0;
        while lane < bytes.len() {
            let rest = strobe >> lane;
            if rest == 0 {
                break;
            }
            lane += rest.trailing_zeros() as usize;
            let run =
                ((strobe >> lane).trailing_ones() as usize).min(bytes.len().saturating_sub(lane));
            if run == 0 {
                break;
            }
            self.0
                .write(addr + lane as u64, &bytes[lane..lane + run])
                .map_err(fault)?;
            lane += run;
        }
        Ok(())
    }
}
