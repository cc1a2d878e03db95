"""Runs an InfiniBand fabric in ibsim, with a subnet manager and the diagnostics on it."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outside_tools import tool

PRELOAD = "umad2sim/libumad2sim.so"
"""Library that puts ibsim in the place of the InfiniBand devices of the kernel."""
Port = tuple[str, int]
"""Node and port number."""
Wire = frozenset[Port]
"""The two ports that a link joins."""


class Simulation:
    """A running fabric: ``folder`` is for whatever its programs write."""

    def __init__(self, folder: Path, preload: Path, name: str) -> None:
        self.folder = folder
        # A cache of its own: neighbours remembered from another fabric would be errors in this one.
        own = {"OSM_CACHE_DIR": str(folder), "OSM_TMP_DIR": str(folder), "IBSIM_SOCKNAME": name}
        self.environment = {**os.environ, **own, "LD_PRELOAD": str(preload)}

    def run(self, *command: str) -> str:
        """What a program says of the fabric; the test fails where the program does."""
        done = subprocess.run(
            [tool(command[0]), *command[1:]], env=self.environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr or done.stdout
        return done.stdout

    def routed(self) -> str:
        """What opensm logs when it routes the fabric once as a fat-tree. Its dumps go to the folder."""
        log = self.folder / "opensm.log"
        self.run("opensm", "-R", "ftree", "-o", "-D", "0x43", "-f", str(log))
        return log.read_text(encoding="utf-8")

    def discovered(self) -> set[Wire]:
        """The links that ibnetdiscover finds."""
        wires = set()
        # Nodes have numbers there; the line that opens a node tells its name too.
        text = self.run("ibnetdiscover")
        names = dict(re.findall(r'^(?:Switch|Ca)\t\d+ "([^"]+)"\t+# "([^"]+)"', text, re.MULTILINE))
        here = ""
        for line in text.splitlines():
            if head := re.match(r'(?:Switch|Ca)\t\d+ "([^"]+)"', line):
                here = names[head[1]]
            elif found := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]', line):
                wires.add(frozenset({(here, int(found[1])), (names[found[2]], int(found[3]))}))
        return wires

    def listed(self) -> set[Wire]:
        """The links that iblinkinfo lists."""
        wires = set()
        here = ""
        for line in self.run("iblinkinfo").splitlines():
            if head := re.match(r"(?:CA|Switch): (?:0x\w+ )?(.+):$", line):
                here = head[1]
            elif found := re.search(r'(\d+)\[  \] ==\(.*Active/.*\)==>\s+\d+\s+(\d+)\[  \] "([^"]+)"', line):
                wires.add(frozenset({(here, int(found[1])), (found[3], int(found[2]))}))
        return wires

    def tables(self) -> tuple[dict[str, dict[int, int]], dict[int, str]]:
        """The routing tables that opensm made: out port by LID for every switch; and the host at every LID."""
        tables: dict[str, dict[int, int]] = {}
        hosts: dict[int, str] = {}
        table: dict[int, int] = {}
        for line in (self.folder / "opensm-lfts.dump").read_text(encoding="utf-8").splitlines():
            if head := re.match(r"Unicast lids .* of switch .* \('(.+)'\)", line):
                table = tables[head[1]] = {}
            elif found := re.match(r"0x(\w+) (\d+) # (\w+) .*: '(.+)'", line):
                table[int(found[1], 16)] = int(found[2])
                if found[3] == "Channel":
                    hosts[int(found[1], 16)] = found[4]
        return tables, hosts


@contextmanager
def simulated(net: Path, folder: Path) -> Iterator[Simulation]:
    """The fabric of a net file, running until the end. Its own first lines say how ibsim is to be called."""
    command = next(line for line in net.read_text(encoding="utf-8").splitlines() if line.startswith("# ibsim"))
    options = command.removeprefix("# ibsim").removesuffix(net.name).split()
    ibsim = tool("ibsim")
    (preload,) = Path("/usr/lib").glob(f"*/{PRELOAD}")
    simulation = Simulation(folder, preload, f"gpunet-{os.getpid()}-{folder.name}")
    with (folder / "ibsim.log").open("w+", encoding="utf-8") as log:
        plain = {name: text for name, text in simulation.environment.items() if name != "LD_PRELOAD"}
        process = subprocess.Popen(
            [ibsim, "-n", *options, str(net)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=plain
        )
        try:
            _wait(process, folder / "ibsim.log")
            yield simulation
        finally:
            process.terminate()
            process.wait(10)


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the fabric is up."""
    for _ in range(200):
        text = log.read_text(encoding="utf-8")
        assert process.poll() is None, text
        if "parsed" in text:
            return
        time.sleep(0.05)
    raise AssertionError(f"ibsim does not start: {log.read_text(encoding='utf-8')}")
