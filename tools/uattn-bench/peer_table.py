#!/usr/bin/env python3
"""Prints uattn beside its peers, from a run's result lines, as markdown: TFLOP/s
by row and peer, then the errors against float64, then what did not run.

A timing whose numbers are wrong (an error of 1e-2 or no number, as in the peers'
report) is marked so and is no peer's best.

Usage: peer_table.py RESULTS.jsonl [--rows=ROW,...]   rows in this order
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import json
import math
import pathlib

LIMIT = 1e-2
COLUMNS = ("cuDNN", "Flex", "uattn", "uattn deterministic")
DIRECTIONS = {"bwd": "Backward", "fwd": "Forward"}


def column_of(record):
    peer, variant = record["peer"], record.get("variant", "")
    if peer == "sdpa":
        return {"cudnn": "cuDNN"}.get(variant, variant)
    if peer == "uattn":
        return COLUMNS[3] if variant.endswith("-deterministic") else COLUMNS[2]
    return "Flex" if peer == "flex" else peer


def is_wrong(errors):
    return any(not (math.isfinite(error) and error < LIMIT) for error in errors.values())


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


class Results:
    def __init__(self, records):
        self.records = records
        self.wrong = {
            (r["row"], r["peer"], r["variant"])
            for r in self.of_kind("numerics") if is_wrong(r["err"])
        }

    def of_kind(self, kind):
        return [r for r in self.records if r["kind"] == kind]

    def is_wrong(self, record):
        return (record["row"], record["peer"], record["variant"]) in self.wrong

    def best(self, row, direction):
        """The fastest timing of each column, right ones before wrong ones."""
        found = collections.defaultdict(list)
        for record in self.of_kind("time"):
            if record["row"] == row and record["dir"] == direction:
                found[column_of(record)].append(record)
        return {
            column: min(records, key=lambda r: (self.is_wrong(r), r["ms"]))
            for column, records in found.items()
        }

    def cell(self, record):
        if record is None:
            return ""
        text = f"{record['tflops']:.0f} ({record['ms']:.3f} ms)"
        if record["peer"] == "flex":
            text += f" {record['variant']}"
        return f"WRONG NUMBERS {text}" if self.is_wrong(record) else text

    def line(self, row, direction):
        best = self.best(row, direction)
        peers = [best[c] for c in COLUMNS[:2] if c in best and not self.is_wrong(best[c])]
        mine = best.get("uattn")
        ratio = ""
        if mine and peers and not self.is_wrong(mine):
            ratio = f"{min(r['ms'] for r in peers) / mine['ms']:.2f}"
        return [row, *(self.cell(best.get(column)) for column in COLUMNS), ratio]

    def print_times(self, rows):
        for direction, title in DIRECTIONS.items():
            lines = [self.line(row, direction) for row in rows]
            lines = [line for line in lines if any(line[1:])]
            if lines:
                print(f"## {title}, TFLOP/s over allowed pairs (median of one call)\n")
                print_table(["row", *COLUMNS, "uattn / best peer"], lines)

    def print_errors(self, rows):
        names = ("out", "dq", "dk", "dv")
        found = sorted(self.of_kind("numerics"), key=lambda r: rows.index(r["row"]))
        print("## Relative errors against float64\n")
        print_table(
            ["row", "peer", *names],
            [
                [r["row"], f"{r['peer']} {r['variant']}",
                 *(f"{r['err'][name]:.2e}" if name in r["err"] else "" for name in names)]
                for r in found
            ],
        )

    def print_rest(self):
        for record in self.of_kind("ceiling"):
            if "tflops" in record:
                print(f"{record['what']}: {record['tflops']} TFLOP/s")
        for record in self.records:
            if record["kind"] in ("error", "skipped"):
                why = record.get("error") or record.get("why")
                # A worker that was stopped does not say what it was at.
                where = record.get("row") or record.get("worker", "")
                print(f"{record['kind']}: {where} {record['peer']} "
                      f"{record.get('variant', '')}: {str(why)[:300]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--rows", default="")
    options = parser.parse_args()
    lines = options.results.read_text(encoding="utf-8").splitlines()
    results = Results([json.loads(line) for line in lines if line.strip()])
    rows = [row for row in options.rows.split(",") if row]
    rows += [r["row"] for r in results.records if r.get("row")]
    rows = list(dict.fromkeys(rows))
    results.print_times(rows)
    results.print_errors(rows)
    results.print_rest()


if __name__ == "__main__":
    main()
