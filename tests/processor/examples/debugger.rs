//! A card whose firmware waits for a debugger, and then asks for a connection: `cargo run -p weft-processor-tests --example debugger -- PORT`, and
//! `gdb-multiarch FIRMWARE -ex 'target remote :PORT'`. `make processor` says how it is built.

#[cfg(not(ibex))]
fn main() {
    eprintln!("built without the processor's core: see `make processor`");
}

#[cfg(ibex)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use weft_processor_tests::firmware_with_engine;
    use weft_sim::fabric::{Fabric, FabricConfig};

    let port = std::env::args()
        .nth(1)
        .map_or(Ok(1234), |port| port.parse())?;
    let _ = firmware_with_engine();
    let fabric = Fabric::new(&FabricConfig {
        seed: 1,
        cards: vec![
            weft_sim::kind::CardKind::Rtl128,
            weft_sim::kind::CardKind::Model,
        ],
        rungs: vec![weft_hostdrv::Rung::Firmware, weft_hostdrv::Rung::Placement],
        ..FabricConfig::default()
    })?;
    let processor = fabric.device(0).processor().ok_or("no processor")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    println!("waiting for a debugger at {}", listener.local_addr()?);
    let (stream, _) = listener.accept()?;
    let session = thread::spawn(move || weft_debug::gdb::serve(&processor, stream));
    let params = weft_hostdrv::cm::ConnParam::default();
    weft_sim::pair::Pair::connect(&fabric, 4791, &params, &params, &[0; 4096], 4096)?;
    println!("connected");
    session.join().map_err(|_| "the session panicked")??;
    Ok(())
}
