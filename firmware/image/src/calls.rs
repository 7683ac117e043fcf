//! The engine's calls, each a function of its own with a name that the linked image keeps. Arguments come from where the compiler cannot see.

use core::hint::black_box;

use weft_engine::{
    AcceptParams, Access, ConnId, ConnectParams, Engine, EngineConfig, Full, MemoryError, PdId,
    Port, QpConfig, QpId, RecvWr, SendWr,
};
use weft_layout::{AttachRow, Job, ReceiveElement};

/// A card of which nothing is known, and that costs nothing.
struct Card;

impl Port for Card {
    fn post_job(&mut self, slot: &[u8; Job::SIZE]) -> Result<u32, Full> {
        black_box(slot);
        black_box(Ok(0))
    }

    fn send_frame(&mut self, frame: &[u8]) -> Result<(), Full> {
        black_box(frame);
        black_box(Ok(()))
    }

    fn jobs_done(&self) -> u32 {
        black_box(0)
    }

    fn refresh_jobs_done(&mut self) -> u32 {
        black_box(0)
    }

    fn write_table(&mut self, table: u8, index: u32, row: &[u8; 64]) {
        black_box((table, index, row));
    }

    fn read_table(&mut self, table: u8, index: u32) -> [u8; 64] {
        black_box((table, index));
        black_box([0; 64])
    }

    fn raw_seen(&self) -> u32 {
        black_box(0)
    }

    fn attach(&mut self, flow: u16, row: &AttachRow) -> bool {
        black_box((flow, row));
        black_box(true)
    }

    fn write_element(&mut self, flow: u16, slot: u32, element: &ReceiveElement) {
        black_box((flow, slot, element));
    }

    fn rq_tail(&mut self, flow: u16, posted: u32) {
        black_box((flow, posted));
    }

    fn rq_memory(&mut self, flow: u16, log2: u8) -> Option<u64> {
        black_box((flow, log2));
        black_box(Some(0))
    }

    fn send_memory(&mut self, flow: u16, bytes: u32) -> Option<u64> {
        black_box((flow, bytes));
        black_box(Some(0))
    }

    fn copy_in(&mut self, iova: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        black_box((iova, bytes));
        black_box(Ok(()))
    }

    fn copy_out(&mut self, iova: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        black_box((iova, bytes));
        black_box(Ok(()))
    }
}

/// Functions `call_NAME` of the engine and some arguments.
macro_rules! calls {
    ($($name:ident($engine:ident, $($argument:ident: $type:ty),*) $body:expr;)*) => {
        $(
            #[no_mangle]
            #[inline(never)]
            fn $name($engine: &mut Engine, $($argument: $type),*) {
                let _ = black_box($body);
            }
        )*
    };
}

calls! {
    call_on_report(engine, now: u64, report: &[u8; 64], raw: Option<&[u8]>) engine.on_report(now, report, raw, &mut Card);
    call_on_timer(engine, now: u64) engine.on_timer(now, &mut Card);
    call_acknowledge(engine, now: u64, flow: u16) engine.acknowledge(now, flow, &mut Card);
    call_next_deadline(engine,) engine.next_deadline();
    call_poll_event(engine,) engine.poll_event();
    call_poll_completion(engine,) engine.poll_completion();
    call_post_send(engine, now: u64, qp: QpId, wr: &SendWr<'_>) engine.post_send(now, qp, wr, &mut Card);
    call_post_recv(engine, now: u64, qp: QpId, wr: &RecvWr<'_>) engine.post_recv(now, qp, wr, &mut Card);
    call_listen(engine, port: u16, backlog: usize) engine.listen(port, backlog);
    call_unlisten(engine, now: u64, port: u16) engine.unlisten(now, port, &mut Card);
    call_connect(engine, now: u64, qp: QpId, params: &ConnectParams<'_>) engine.connect(now, qp, params, &mut Card);
    call_accept(engine, now: u64, conn: ConnId, qp: QpId, params: &AcceptParams<'_>) engine.accept(now, conn, qp, params, &mut Card);
    call_reject(engine, now: u64, conn: ConnId, data: &[u8]) engine.reject(now, conn, data, &mut Card);
    call_disconnect(engine, now: u64, conn: ConnId) engine.disconnect(now, conn, &mut Card);
    call_abort(engine, now: u64, conn: ConnId) engine.abort(now, conn, &mut Card);
    call_alloc_pd(engine,) engine.alloc_pd();
    call_dealloc_pd(engine, pd: PdId) engine.dealloc_pd(pd);
    call_register(engine, pd: PdId, iova: u64, length: u64, access: Access) engine.register(pd, iova, iova, length, access, &mut Card);
    call_deregister(engine, now: u64, stag: u32) engine.deregister(now, stag, &mut Card);
    call_create_qp(engine, config: &QpConfig) engine.create_qp(config, &mut Card);
    call_destroy_qp(engine, now: u64, qp: QpId) engine.destroy_qp(now, qp, &mut Card);
    call_set_qp_error(engine, now: u64, qp: QpId) engine.set_qp_error(now, qp, &mut Card);
}

#[no_mangle]
#[inline(never)]
fn call_new(config: EngineConfig) -> Engine {
    Engine::new(config)
}

/// A value out of nowhere: the image is linked, not run.
fn any<T>() -> T {
    loop {
        if let Some(value) = black_box(None) {
            return value;
        }
    }
}

#[no_mangle]
extern "C" fn _start() -> ! {
    let engine = &mut call_new(EngineConfig::default());
    loop {
        call_on_report(engine, any(), any(), any());
        call_on_timer(engine, any());
        call_acknowledge(engine, any(), any());
        call_next_deadline(engine);
        call_poll_event(engine);
        call_poll_completion(engine);
        call_post_send(engine, any(), any(), any());
        call_post_recv(engine, any(), any(), any());
        call_listen(engine, any(), any());
        call_unlisten(engine, any(), any());
        call_connect(engine, any(), any(), any());
        call_accept(engine, any(), any(), any(), any());
        call_reject(engine, any(), any(), any());
        call_disconnect(engine, any(), any());
        call_abort(engine, any(), any());
        call_alloc_pd(engine);
        call_dealloc_pd(engine, any());
        call_register(engine, any(), any(), any(), any());
        call_deregister(engine, any(), any());
        call_create_qp(engine, any());
        call_destroy_qp(engine, any(), any());
        call_set_qp_error(engine, any(), any());
    }
}
