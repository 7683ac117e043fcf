//! What is used of lwIP 2.1 as Debian configures it (`/usr/include/lwip`): functions, and of its records the fields that are read or set.
//! `layout` holds all of it against the headers.

use std::ffi::{c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// `err_t`; 0 is success.
pub type Err = i8;
pub const OK: Err = 0;
pub const ERR_MEM: Err = -1;
pub const ERR_VAL: Err = -6;
pub const ERR_ABRT: Err = -13;
pub const ERR_RST: Err = -14;

pub const PBUF_RAW: c_int = 0;
pub const PBUF_RAM: c_int = 0x280;
pub const TCP_WRITE_FLAG_COPY: u8 = 1;
/// `NETIF_FLAG_BROADCAST`, `_ETHARP`, `_ETHERNET`.
pub const NETIF_FLAGS: u8 = 0x02 | 0x08 | 0x10;
/// `TCP_SND_BUF`, and `TCP_WND` too.
pub const BUFFER: usize = 65_535;
pub const IPV6_ADDRESSES: usize = 6;

/// `ip4_addr_t`: octets in the order of the wire.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ip4(pub [u8; 4], pub [u32; 0]);

/// `ip_addr_t`: either kind of address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IpAddr {
    v4: Ip4,
    v6: [u32; 4],
    kind: u8,
}

impl IpAddr {
    pub fn v4(octets: [u8; 4]) -> Self {
        IpAddr {
            v4: Ip4(octets, []),
            v6: [0; 4],
            kind: 0,
        }
    }
}

/// `struct tcp_pcb`, of which nothing is looked at.
pub enum Pcb {}

/// `struct pbuf`, its front.
#[repr(C)]
pub struct Pbuf {
    pub next: *mut Pbuf,
    pub payload: *mut c_void,
    pub tot_len: u16,
}

pub type Input = unsafe extern "C" fn(*mut Pbuf, *mut Netif) -> Err;
pub type Output = unsafe extern "C" fn(*mut Netif, *mut Pbuf, *const Ip4) -> Err;
pub type LinkOutput = unsafe extern "C" fn(*mut Netif, *mut Pbuf) -> Err;
pub type Init = unsafe extern "C" fn(*mut Netif) -> Err;
pub type Accept = unsafe extern "C" fn(*mut c_void, *mut Pcb, Err) -> Err;
pub type Connected = unsafe extern "C" fn(*mut c_void, *mut Pcb, Err) -> Err;
pub type Recv = unsafe extern "C" fn(*mut c_void, *mut Pcb, *mut Pbuf, Err) -> Err;
pub type Sent = unsafe extern "C" fn(*mut c_void, *mut Pcb, u16) -> Err;
pub type Failed = unsafe extern "C" fn(*mut c_void, Err);

/// `struct netif`: all zero, and lwIP fills it in.
#[repr(C)]
pub struct Netif {
    next: *mut Netif,
    addresses: [IpAddr; 3],
    v6_addresses: [IpAddr; IPV6_ADDRESSES],
    v6_states: [u8; IPV6_ADDRESSES],
    v6_lives: [[u32; IPV6_ADDRESSES]; 2],
    pub input: Option<Input>,
    pub output: Option<Output>,
    pub linkoutput: Option<LinkOutput>,
    output_ip6: *const c_void,
    pub state: *mut c_void,
    client_data: [*mut c_void; 2],
    pub mtu: u16,
    mtu6: u16,
    pub hwaddr: [u8; 6],
    pub hwaddr_len: u8,
    pub flags: u8,
    /// The rest, and some to spare.
    rest: [u64; 16],
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// One copy of the library, with variables of its own.
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// The connections that are neither closed nor in TIME-WAIT.
            pub tcp_active_pcbs: *const *const Pcb,
            _library: Library,
        }

        impl Api {
            /// Loads the file.
            ///
            /// # Safety
            /// It is Debian's lwIP 2.1, and no other process writes to it. A file (by inode) is loaded once at a time: else two share their
            /// variables.
            pub unsafe fn load(file: &Path) -> Result<Self, libloading::Error> {
                // SAFETY: the library has no constructors; the types are those of its headers, which `layout` compares. The variable
                // lives as long as the library, which is kept.
                unsafe {
                    let library = Library::open(Some(file), RTLD_NOW | RTLD_LOCAL)?;
                    Ok(Api {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        tcp_active_pcbs: *library.get(b"tcp_active_pcbs\0")?,
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    fn lwip_init();
    fn netif_add(*mut Netif, *const Ip4, *const Ip4, *const Ip4, *mut c_void, Init, Input) -> *mut Netif;
    fn netif_set_default(*mut Netif);
    fn netif_set_up(*mut Netif);
    fn netif_set_link_up(*mut Netif);
    fn ethernet_input(*mut Pbuf, *mut Netif) -> Err;
    fn etharp_output(*mut Netif, *mut Pbuf, *const Ip4) -> Err;
    fn etharp_tmr();
    fn pbuf_alloc(c_int, u16, c_int) -> *mut Pbuf;
    fn pbuf_free(*mut Pbuf) -> u8;
    fn pbuf_take(*mut Pbuf, *const c_void, u16) -> Err;
    fn pbuf_copy_partial(*const Pbuf, *mut c_void, u16, u16) -> u16;
    fn tcp_tmr();
    fn tcp_new() -> *mut Pcb;
    fn tcp_arg(*mut Pcb, *mut c_void);
    fn tcp_recv(*mut Pcb, Option<Recv>);
    fn tcp_sent(*mut Pcb, Option<Sent>);
    fn tcp_err(*mut Pcb, Option<Failed>);
    fn tcp_accept(*mut Pcb, Accept);
    fn tcp_bind(*mut Pcb, *const IpAddr, u16) -> Err;
    fn tcp_connect(*mut Pcb, *const IpAddr, u16, Connected) -> Err;
    fn tcp_listen_with_backlog(*mut Pcb, u8) -> *mut Pcb;
    fn tcp_write(*mut Pcb, *const c_void, u16, u8) -> Err;
    fn tcp_output(*mut Pcb) -> Err;
    fn tcp_recved(*mut Pcb, u16);
    fn tcp_shutdown(*mut Pcb, c_int, c_int) -> Err;
    fn tcp_close(*mut Pcb) -> Err;
    fn tcp_abort(*mut Pcb);
}

#[cfg(test)]
mod layout {
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::mem::{align_of, offset_of, size_of};
    use std::process::{Command, Stdio};

    use super::*;

    /// Declarations that have to agree with the headers', which are said before them.
    const DECLARATIONS: &str = "
        void lwip_init(void);
        struct netif *netif_add(struct netif *, const ip4_addr_t *, const ip4_addr_t *, const ip4_addr_t *, void *,
                                err_t (*)(struct netif *), err_t (*)(struct pbuf *, struct netif *));
        void netif_set_default(struct netif *);
        void netif_set_up(struct netif *);
        void netif_set_link_up(struct netif *);
        err_t ethernet_input(struct pbuf *, struct netif *);
        err_t etharp_output(struct netif *, struct pbuf *, const ip4_addr_t *);
        void etharp_tmr(void);
        struct pbuf *pbuf_alloc(pbuf_layer, u16_t, pbuf_type);
        u8_t pbuf_free(struct pbuf *);
        err_t pbuf_take(struct pbuf *, const void *, u16_t);
        u16_t pbuf_copy_partial(const struct pbuf *, void *, u16_t, u16_t);
        void tcp_tmr(void);
        struct tcp_pcb *tcp_new(void);
        void tcp_arg(struct tcp_pcb *, void *);
        void tcp_recv(struct tcp_pcb *, err_t (*)(void *, struct tcp_pcb *, struct pbuf *, err_t));
        void tcp_sent(struct tcp_pcb *, err_t (*)(void *, struct tcp_pcb *, u16_t));
        void tcp_err(struct tcp_pcb *, void (*)(void *, err_t));
        void tcp_accept(struct tcp_pcb *, err_t (*)(void *, struct tcp_pcb *, err_t));
        err_t tcp_bind(struct tcp_pcb *, const ip_addr_t *, u16_t);
        err_t tcp_connect(struct tcp_pcb *, const ip_addr_t *, u16_t, err_t (*)(void *, struct tcp_pcb *, err_t));
        struct tcp_pcb *tcp_listen_with_backlog(struct tcp_pcb *, u8_t);
        err_t tcp_write(struct tcp_pcb *, const void *, u16_t, u8_t);
        err_t tcp_output(struct tcp_pcb *);
        void tcp_recved(struct tcp_pcb *, u16_t);
        err_t tcp_shutdown(struct tcp_pcb *, int, int);
        err_t tcp_close(struct tcp_pcb *);
        void tcp_abort(struct tcp_pcb *);
        extern struct tcp_pcb *tcp_active_pcbs;
    ";

    /// What gcc says of claims about the headers.
    fn check(claims: &str) -> Result<(), String> {
        let source = format!(
            "#include <stddef.h>\n#include <lwip/init.h>\n#include <lwip/netif.h>\n#include <lwip/etharp.h>\n\
             #include <lwip/priv/tcp_priv.h>\n{claims}"
        );
        let mut gcc = Command::new("gcc")
            .args(["-fsyntax-only", "-I/usr/include/lwip", "-xc", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("gcc: {e}"))?;
        let mut input = gcc.stdin.take().ok_or("no input")?;
        input
            .write_all(source.as_bytes())
            .map_err(|e| e.to_string())?;
        drop(input);
        let output = gcc.wait_with_output().map_err(|e| e.to_string())?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    #[test]
    fn headers_say_the_same() {
        if let Err(why) = crate::library() {
            crate::skipped(&why);
            return;
        }
        let mut claims = DECLARATIONS.to_owned();
        let mut claim = |what: &str, is: i64| {
            writeln!(claims, "_Static_assert(({what}) == {is}, \"\");").unwrap();
        };
        macro_rules! offsets {
            ($record:ident: $($field:ident)*) => {$(
                let name = stringify!($record).to_lowercase();
                claim(
                    &format!("offsetof(struct {name}, {})", stringify!($field)),
                    offset_of!($record, $field) as i64,
                );
            )*};
        }
        offsets!(Netif: next input output linkoutput output_ip6 state client_data mtu mtu6 hwaddr hwaddr_len flags);
        offsets!(Pbuf: next payload tot_len);
        claim("offsetof(ip_addr_t, type)", offset_of!(IpAddr, kind) as i64);
        claim("sizeof(ip_addr_t)", size_of::<IpAddr>() as i64);
        claim("sizeof(ip4_addr_t)", size_of::<Ip4>() as i64);
        claim("_Alignof(ip4_addr_t)", align_of::<Ip4>() as i64);
        claim(
            &format!("sizeof(struct netif) <= {}", size_of::<Netif>()),
            1,
        );
        claim("sizeof(err_t)", size_of::<Err>() as i64);
        claim("(err_t)-1 < 0", 1);
        claim("ERR_OK", OK.into());
        claim("ERR_MEM", ERR_MEM.into());
        claim("ERR_VAL", ERR_VAL.into());
        claim("ERR_ABRT", ERR_ABRT.into());
        claim("ERR_RST", ERR_RST.into());
        claim("PBUF_RAW", PBUF_RAW.into());
        claim("PBUF_RAM", PBUF_RAM.into());
        claim("sizeof(pbuf_layer)", size_of::<c_int>() as i64);
        claim("sizeof(pbuf_type)", size_of::<c_int>() as i64);
        claim("TCP_WRITE_FLAG_COPY", TCP_WRITE_FLAG_COPY.into());
        let flags = "NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET";
        claim(flags, NETIF_FLAGS.into());
        claim("TCP_SND_BUF", BUFFER as i64);
        claim("TCP_WND", BUFFER as i64);
        let version = |number: &str| number.parse().unwrap();
        claim("LWIP_VERSION_MAJOR", version(crate::VERSION.0));
        claim("LWIP_VERSION_MINOR", version(crate::VERSION.1));
        claim("IPADDR_TYPE_V4", IpAddr::v4([0; 4]).kind.into());
        claim("TCP_TMR_INTERVAL", crate::TICK_MS as i64);
        claim(
            "ARP_TMR_INTERVAL",
            (crate::TICK_MS * crate::ARP_TICKS) as i64,
        );
        check(&claims).unwrap();
        // And what is wrong is found.
        for (wrong, said) in [
            ("_Static_assert(ERR_RST == -13, \"\");", "assertion failed"),
            ("err_t tcp_close(int);", "conflicting types"),
        ] {
            let answer = check(wrong).unwrap_err();
            assert!(answer.contains(said), "{answer}");
        }
    }
}
