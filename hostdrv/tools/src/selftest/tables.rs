//! The tables behind TABLE_CMD.

use weft_layout::{
    reg::TableCmd, registers, table, AttachRow, FlowKeyRow, FlowRxRow, FlowTxRow, StagRow,
    TableOperation,
};

use super::{Context, Failure};
use weft_card_transport::RegisterAccess;

/// Runs a table access; answers whether it was refused.
fn access(c: &Context, operation: TableOperation, number: u8, index: u32) -> Result<bool, Failure> {
    let command = TableCmd::default()
        .with_operation(operation)
        .with_table(number)
        .with_index(index);
    c.transport.write(registers::TABLE_CMD, command)?;
    Ok(c.transport.read(registers::TABLE_CMD)?.refused())
}

fn write(c: &Context, number: u8, index: u32, row: &[u8; 64]) -> Result<bool, Failure> {
    for (register, bytes) in registers::TABLE_DATA.words().zip(row.chunks_exact(4)) {
        let value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        c.transport.write(register, value)?;
    }
    access(c, TableOperation::Write, number, index)
}

fn read(c: &Context, number: u8, index: u32) -> Result<Option<[u8; 64]>, Failure> {
    // What was written last must not pass for what is read.
    for register in registers::TABLE_DATA.words() {
        c.transport.write(register, 0xdead_beef)?;
    }
    if access(c, TableOperation::Read, number, index)? {
        return Ok(None);
    }
    let mut row = [0; 64];
    for (register, bytes) in registers::TABLE_DATA.words().zip(row.chunks_exact_mut(4)) {
        let value = c.transport.read(register)?;
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    Ok(Some(row))
}

/// A row of which every field has a value that it may have.
fn sample(c: &mut Context, number: u8) -> [u8; 64] {
    let r = &mut c.random;
    match number {
        table::FLOW_KEY => FlowKeyRow {
            valid: r.next() as u8 & FlowKeyRow::VALID,
            flow: (r.next() as u32 % c.caps.flows) as u16,
            remote_ip: (r.next() as u32).to_be_bytes(),
            local_ip: (r.next() as u32).to_be_bytes(),
            remote_port: (r.next() as u16).to_be_bytes(),
            local_port: (r.next() as u16).to_be_bytes(),
        }
        .to_bytes(),
        table::FLOW_RX => FlowRxRow {
            flags: r.next() as u8
                & (FlowRxRow::MARKERS | FlowRxRow::CRC | FlowRxRow::VALID | FlowRxRow::TIMESTAMPS),
            rq_log2: r.next() as u8 & 15,
            epoch: r.next() as u8,
            pd: r.next() as u32,
            marker_base: r.next() as u32,
            rq_base: r.next() & !63,
        }
        .to_bytes(),
        table::ATTACH => AttachRow {
            // Not attached: the card takes such a row always.
            attached: r.next() as u8 & 2,
            rcv_nxt: r.next() as u32,
            msn: r.next() as u32,
            mo: r.next() as u32,
            ts_recent: r.next() as u32,
            window: r.next() as u32,
            // The card's own.
            raw_seen: 0,
        }
        .to_bytes(),
        table::FLOW_TX => FlowTxRow {
            flags: r.next() as u8
                & (FlowTxRow::MARKERS | FlowTxRow::CRC | FlowTxRow::VALID | FlowTxRow::TIMESTAMPS),
            ttl: r.next() as u8,
            tos: r.next() as u8,
            remote_mac: r.next().to_le_bytes()[..6].try_into().unwrap_or_default(),
            local_mac: r.next().to_le_bytes()[..6].try_into().unwrap_or_default(),
            local_ip: (r.next() as u32).to_be_bytes(),
            remote_ip: (r.next() as u32).to_be_bytes(),
            local_port: (r.next() as u16).to_be_bytes(),
            remote_port: (r.next() as u16).to_be_bytes(),
            marker_base: r.next() as u32,
            pack: r.next() as u16,
        }
        .to_bytes(),
        _ => StagRow {
            valid: r.next() as u8 & StagRow::VALID,
            key: r.next() as u8,
            access: r.next() as u8
                & (StagRow::LOCAL_WRITE
                    | StagRow::REMOTE_READ
                    | StagRow::REMOTE_WRITE
                    | StagRow::READ_SINK),
            pd: r.next() as u32,
            base: r.next() >> 1,
            length: r.next() >> 1,
            iova: r.next(),
        }
        .to_bytes(),
    }
}

/// Indexes that between them use every address line, and some more.
fn indexes(c: &mut Context, rows: u32) -> Vec<u32> {
    let mut list: Vec<u32> = (0..rows.min(16))
        .chain(rows.saturating_sub(8)..rows)
        .collect();
    for bit in 0..rows.ilog2() {
        let power = 1 << bit;
        list.extend([power, power - 1, power + 1, rows - 1 - power]);
    }
    list.extend((0..32).map(|_| c.random.next() as u32 % rows));
    list.retain(|index| *index < rows);
    list.sort_unstable();
    list.dedup();
    list
}

pub(super) fn rows(c: &mut Context) -> Result<(), Failure> {
    c.transport.reset()?;
    let caps = c.caps;
    let tables = [
        ("FLOW_KEY", table::FLOW_KEY, 2 * caps.flows),
        ("FLOW_RX", table::FLOW_RX, caps.flows),
        ("ATTACH", table::ATTACH, caps.flows),
        ("FLOW_TX", table::FLOW_TX, caps.flows),
        ("STAG", table::STAG, caps.stags),
    ];
    let mut written = Vec::new();
    // All tables first: none is part of another.
    for (name, number, rows) in tables {
        for index in indexes(c, rows) {
            let row = sample(c, number);
            let refused = write(c, number, index, &row)?;
            c.equal(0, u8::from(refused), || {
                format!("{name} row {index} was written: refused")
            })?;
            written.push((name, number, index, row));
        }
    }
    for (name, number, index, row) in &written {
        let got = read(c, *number, *index)?.unwrap_or([0; 64]);
        let count = written.len();
        c.same_bytes(row, &got, || {
            format!("{name} row {index} after {count} rows were written")
        })?;
    }
    for (name, number, index, _) in &written {
        let refused = write(c, *number, *index, &[0; 64])?;
        c.equal(0, u8::from(refused), || {
            format!("{name} row {index} was cleared: refused")
        })?;
    }
    let beyond = tables.map(|(_, number, rows)| (number, rows));
    for (number, index) in beyond.into_iter().chain([(0, 0), (6, 0), (15, 0)]) {
        let refused = access(c, TableOperation::Read, number, index)?;
        c.equal(1, u8::from(refused), || {
            format!("table {number} row {index}, which does not exist, was read: refused")
        })?;
    }
    Ok(())
}
