#!/usr/bin/env python3
"""Checks what ptxas said of every kernel in a dump folder: no spill, no local
memory, no remark, the planned registers. Prints a line a complaint.

Usage: check_assembly.py FOLDER KERNELS [KERNEL=BYTES]...
  KERNELS       how many kernels there must be
  KERNEL=BYTES  a kernel of this name, or of this pattern, may spill to a frame of
                so many bytes
SPDX-License-Identifier: Apache-2.0
"""

import fnmatch
import pathlib
import re
import sys

WANTED = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
# Kernels of a backward whose registers are not those of the products.
OTHER_REGISTERS = {"_bwd_(rows|dtemp)_": "64", "_bwd_dqsum_": "64", "_bwd_dqsum_.*_ranker": "128"}
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, \d+ bytes spill loads")


def complaints(text, planned_registers, spill_limit):
    found = SPILLS.search(text)
    if spill_limit and (not found or max(map(int, found.groups())) > spill_limit):
        yield f"expected spills of at most {spill_limit} bytes"
    if not spill_limit and WANTED not in text:
        yield f"expected '{WANTED}'"
    for remark in re.findall(r".*C75\d\d.*", text):
        yield f"remark '{remark.strip()}'"
    used = re.findall(r"Used (\d+) registers", text)
    if used != [planned_registers]:
        yield f"registers {used}: expected {planned_registers}"


def main():
    folder, wanted_count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    spill_limits = dict(argument.split("=") for argument in sys.argv[3:])
    files = sorted(folder.glob("*.ptxas.txt"))
    failed = len(files) != wanted_count
    if failed:
        print(f"{len(files)} kernels: expected {wanted_count}")
    for file in files:
        # The kernel's name, warpgroups x keys x stages, registers at entry.
        kernel, planned_registers = re.match(r"(.*)_\d+x\d+x\d+_r(\d+)_", file.name).groups()
        for pattern, registers in OTHER_REGISTERS.items():
            if re.search(pattern, kernel):
                planned_registers = registers
        limits = [n for name, n in spill_limits.items() if fnmatch.fnmatch(kernel, name)]
        spill_limit = max(map(int, limits), default=0)
        text = file.read_text(encoding="utf-8")
        for complaint in complaints(text, planned_registers, spill_limit):
            print(f"{file.name}: {complaint}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
