#!/usr/bin/env python3
"""Checks what ptxas said of every kernel in a dump folder: no spill, no local
memory, no remark, the planned registers. Prints a line a complaint.

Usage: check_assembly.py FOLDER KERNELS
  KERNELS  how many kernels there must be
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

WANTED = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"


def complaints(text, planned_registers):
    if WANTED not in text:
        yield f"expected '{WANTED}'"
    for remark in re.findall(r".*C75\d\d.*", text):
        yield f"remark '{remark.strip()}'"
    used = re.findall(r"Used (\d+) registers", text)
    if used != [planned_registers]:
        yield f"registers {used}: expected {planned_registers}"


def main():
    folder, wanted_count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    files = sorted(folder.glob("*.ptxas.txt"))
    failed = len(files) != wanted_count
    if failed:
        print(f"{len(files)} kernels: expected {wanted_count}")
    for file in files:
        planned_registers = re.search(r"_r(\d+)_", file.name).group(1)
        for complaint in complaints(file.read_text(encoding="utf-8"), planned_registers):
            print(f"{file.name}: {complaint}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
