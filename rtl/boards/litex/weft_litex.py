#!/usr/bin/env python3
"""The card in LiteX: AXI for host memory, AXI-Lite for registers, two streams of frames, an event.

    card = WeftCard(platform, data_width=128, clock_khz=int(sys_clk_freq / 1000))
    soc.submodules.weft = card
    soc.bus.add_slave("weft", card.registers, SoCRegion(origin=0x4000_0000, size=0x20000, cached=False))
    soc.irq.add("weft", use_loc_if_exists=True)

`card.memory` goes to what is host memory, by a port or a bridge that keeps byte strobes: docs/integrating.md. BAR0 is the lower 64 KiB of `registers`, BAR2 the upper. There is no push window. `frames_out` has no gap inside a frame, `frames_in` has no ready.
Run as a program it elaborates a module with the card in it to Verilog, for data widths 128 and 512, and has Verilator read the result.

LiteX: `pip install litex migen`. Its own PCIe slave ignores byte strobes (docs/boards.md), and cannot carry this card.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, stream
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceProcess
from migen import ClockDomain, ClockSignal, Constant, Instance, Signal

RTL = pathlib.Path(__file__).resolve().parents[2]


def sources() -> list[pathlib.Path]:
    """The card's files, packages first."""
    lines = [line.strip() for line in (RTL / "weft_card.f").read_text().split("\n")]
    return [RTL / line for line in lines if line and not line.startswith("#")]


def frame_layout(data_width: int) -> list:
    """Of `frames_out`: byte 0 in data[7:0], `keep` contiguous and all ones before `last`."""
    return [("data", data_width), ("keep", data_width // 8)]


class WeftCard(LiteXModule):
    """weft_card with one port, in the clock domain sys."""

    def __init__(self, platform=None, data_width=128, flows=64, stags=256, clock_khz=100_000):
        self.registers = registers = axi.AXILiteInterface(data_width=32, address_width=17)
        self.memory = memory = axi.AXIInterface(data_width=data_width, address_width=64, id_width=2, aw_user_width=1)
        self.frames_out = frames_out = stream.Endpoint(frame_layout(data_width))
        self.frames_in = frames_in = stream.Endpoint([*frame_layout(data_width), ("error", 1)])
        # A function-level reset, held until it is done; nothing in flight.
        self.reset_req, self.reset_done, self.quiescent = Signal(), Signal(), Signal()

        # A request of the card becomes an event, which is cleared by software.
        self.ev = EventManager()
        self.ev.report = EventSourceProcess(edge="rising")
        self.ev.finalize()
        asked = Signal()
        self.comb += self.ev.report.trigger.eq(asked)

        time = Signal(64)
        self.sync += time.eq(time + 1)
        # Sys is reset synchronously; the card's reset comes from a register of it, and holds before the first edge.
        released = Signal()
        self.sync += released.eq(1)

        connections = {
            "i_clk_i": ClockSignal(), "i_rst_ni": released, "i_reset_req_i": self.reset_req, "o_reset_done_o": self.reset_done,
            "i_push_valid_i": 0, "i_push_addr_i": Constant(0, 12), "i_push_data_i": Constant(0, data_width), "i_push_strb_i": Constant(0, data_width // 8),
            "o_msix_valid_o": asked, "i_msix_ready_i": 1, "o_msix_vector_o": Signal(5),
            "i_port1_off_i": 0, "i_time_i": time, "o_quiescent_o": self.quiescent,
            # Registers.
            "i_s_axil_awaddr": registers.aw.addr, "i_s_axil_awvalid": registers.aw.valid, "o_s_axil_awready": registers.aw.ready,
            "i_s_axil_wdata": registers.w.data, "i_s_axil_wstrb": registers.w.strb,
            "i_s_axil_wvalid": registers.w.valid, "o_s_axil_wready": registers.w.ready,
            "o_s_axil_bresp": registers.b.resp, "o_s_axil_bvalid": registers.b.valid, "i_s_axil_bready": registers.b.ready,
            "i_s_axil_araddr": registers.ar.addr, "i_s_axil_arvalid": registers.ar.valid, "o_s_axil_arready": registers.ar.ready,
            "o_s_axil_rdata": registers.r.data, "o_s_axil_rresp": registers.r.resp,
            "o_s_axil_rvalid": registers.r.valid, "i_s_axil_rready": registers.r.ready,
            # Frames.
            "o_mac_tx_tdata": frames_out.data, "o_mac_tx_tkeep": frames_out.keep, "o_mac_tx_tlast": frames_out.last,
            "o_mac_tx_tvalid": frames_out.valid, "i_mac_tx_tready": frames_out.ready,
            "i_mac_rx_tdata": frames_in.data, "i_mac_rx_tkeep": frames_in.keep, "i_mac_rx_tlast": frames_in.last, "i_mac_rx_tuser": frames_in.error,
            "i_mac_rx_tvalid": frames_in.valid, "o_mac_rx_tready": frames_in.ready,
        }
        for channel, signals in {"aw": "id addr len size burst cache prot user", "ar": "id addr len size burst cache prot"}.items():
            bus = getattr(memory, channel)
            connections |= {f"o_m_axi_{channel}{name}": getattr(bus, name) for name in [*signals.split(), "valid"]}
            connections[f"i_m_axi_{channel}ready"] = bus.ready
        connections |= {"o_m_axi_wdata": memory.w.data, "o_m_axi_wstrb": memory.w.strb, "o_m_axi_wlast": memory.w.last, "o_m_axi_wvalid": memory.w.valid,
                        "i_m_axi_wready": memory.w.ready}
        connections |= {"i_m_axi_bid": memory.b.id, "i_m_axi_bresp": memory.b.resp, "i_m_axi_bvalid": memory.b.valid, "o_m_axi_bready": memory.b.ready}
        connections |= {f"i_m_axi_r{name}": getattr(memory.r, name) for name in ("id", "data", "resp", "last", "valid")}
        connections["o_m_axi_rready"] = memory.r.ready
        self.specials += Instance("weft_card", p_DATA_W=data_width, p_NUM_FLOWS=flows, p_NUM_STAGS=stags, p_PUSH_SLOTS=0, p_CLOCK_KHZ=clock_khz,
                                  **connections)
        if platform is not None:
            platform.add_verilog_include_path(str(RTL / "prim"))
            for file in sources():
                platform.add_source(str(file))


def elaborate(data_width: int, out: pathlib.Path) -> str:
    """A module with the card to Verilog, read by Verilator with the card's sources; complaints."""
    from litex.gen.fhdl import verilog

    top = LiteXModule()
    top.cd_sys = ClockDomain("sys")
    top.card = card = WeftCard(data_width=data_width)
    channels = [getattr(bus, name) for bus in (card.registers, card.memory) for name in ("aw", "w", "b", "ar", "r")]
    buses = {signal for channel in [*channels, card.frames_out, card.frames_in] for signal in channel.flatten()}
    ios = {*buses, card.reset_req, card.reset_done, card.quiescent, card.ev.irq, top.cd_sys.clk, top.cd_sys.rst}
    text = verilog.convert(top, ios=ios, name=f"litex_{data_width}")
    file = out / f"litex_{data_width}.v"
    file.write_text(str(text))
    verilator = shutil.which("verilator")
    if not verilator:
        return "verilator is not installed: apt-get install verilator"
    # What LiteX writes has a style of its own: what counts here is the card's instance, its names and widths.
    command = [verilator, "--lint-only", "-sv", "-Wno-fatal", "-Wno-lint", "-Wwarn-PINMISSING", "-Wwarn-WIDTH", "-Wno-TIMESCALEMOD",
               f"-I{RTL / 'prim'}", "--top-module", f"litex_{data_width}", str(RTL / "syn/lint.vlt"), *map(str, sources()), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    pins = [line for line in said.split("\n") if re.search(rf"Warning-(PINMISSING|WIDTH): \S*{file.name}", line)]
    return said if done.returncode else "\n".join([*pins, ""] if pins else [])


def main() -> int:
    parser = argparse.ArgumentParser(description="Elaborate the card in LiteX.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/integrate"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    bad = 0
    for data_width in (128, 512):
        complaints = elaborate(data_width, out)
        print(f"LiteX, {data_width} bits: {'FAILED' if complaints else 'elaborates, and Verilator reads it'}")
        print(complaints, end="")
        bad += bool(complaints)
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
