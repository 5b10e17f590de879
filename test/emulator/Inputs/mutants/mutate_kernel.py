#!/usr/bin/env python3
"""Breaks a compiled kernel in every way that leaves out one act of order, and
says what the emulator finds.

    mutate_kernel.py RUN ARTIFACT HARMLESS [--only=TEXT] [--schedules=20] [--jobs=2]
                     [-- options of uattn-run [/ other options]...]

RUN is uattn-run, ARTIFACT a file of uattn-compile --ptxas=none with one kernel.
A mutant lacks one barrier, fence, arrival, wait, commit or setmaxnreg, or has
one of them wrong: half the announced bytes, the other parity, a slot released
before its reader is done, a warpgroup that makes one step less.

Inputs decide which parts of a kernel run: between slashes stand the options of
several runs, the next one where those before found nothing.

Every mutant must be reported with a finding, or be listed in HARMLESS with the
reason: lines "NAME: reason", NAME as printed. A mutant that is listed and
reported is an error too, so that the list stays true.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

TIME_LIMIT = 300  # seconds a mutant
CHECKSUM_AT = 24

# What orders one thing before another. A wait is its loop of two lines.
ORDERING = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?"
    r"(mbarrier\.(?:init|arrive(?:\.expect_tx)?|try_wait)|bar\.(?:sync|arrive|warp\.sync)"
    r"|fence[.\w:]*|wgmma\.(?:fence|commit_group|wait_group)"
    r"|cp\.async\.bulk\.(?:commit_group|wait_group)|setmaxnreg\.(?:inc|dec))[.\w:]*\b"
)

Mutant = collections.namedtuple("Mutant", "name lines")


# ---- The artifact ------------------------------------------------------------


def checksum(data):
    """FNV-1a over all bytes but the checksum's own."""
    value = 0xCBF29CE484222325
    for byte in data[:CHECKSUM_AT] + data[CHECKSUM_AT + 8 :]:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def find_text(data):
    """Where the only PTX text begins and ends."""
    begin = data.index(b"//\n// Generated") if b"//\n// Generated" in data else data.index(b".version")
    end = data.index(b"\0", begin) if b"\0" in data[begin:] else len(data)
    end = data.rindex(b"}", begin, end) + 1
    if data.find(b".version", data.index(b".version", begin) + 1, end) >= 0:
        sys.exit("mutate_kernel: several PTX texts: expected one kernel")
    return begin, end


def fit(lines, size):
    """The text in `size` bytes: comments go first, so that line numbers stay."""
    lines = list(lines)
    excess = sum(len(line) + 1 for line in lines) - 1 - size
    for i, line in enumerate(lines):
        if excess <= 0:
            break
        if line.strip().startswith("//"):
            excess -= len(line)
            lines[i] = ""
    text = "\n".join(lines).encode()
    if len(text) > size:
        sys.exit("mutate_kernel: the text has no comments to spare for a mutant")
    return text + b" " * (size - len(text))


def with_text(data, begin, end, lines):
    data = data[:begin] + fit(lines, end - begin) + data[end:]
    return data[:CHECKSUM_AT] + checksum(data).to_bytes(8, "little") + data[CHECKSUM_AT + 8 :]


# ---- Mutants -----------------------------------------------------------------


def replaced(lines, changes):
    lines = list(lines)
    for number, text in changes.items():
        lines[number] = text
    return lines


def last_operand(line):
    return re.search(r"([%\w]+)\s*;\s*$", line).group(1)


def with_operand(line, code, register):
    """The line after `code`, its last operand being `register` of a scope."""
    operand = last_operand(line)
    changed = re.sub(re.escape(operand) + r"\s*;\s*$", register + ";", line.strip())
    return f"{{.reg .b32 {register}; {code.format(operand)} {changed}}}"


def omissions(lines):
    """Each ordering instruction, left out."""
    counts = collections.Counter()
    for number, line in enumerate(lines):
        match = ORDERING.match(line)
        if not match:
            continue
        kind = match.group(1)
        counts[kind] += 1
        changes = {number: ""}
        if kind.endswith("try_wait"):
            changes[number + 1] = ""  # the branch back
        yield Mutant(f"without {kind} {counts[kind]}", replaced(lines, changes))


def wrong_counts(lines):
    counts = collections.Counter()
    for number, line in enumerate(lines):
        if ".expect_tx" in line:
            counts["half"] += 1
            text = with_operand(line, "shr.u32 half, {}, 1;", "half")
            yield Mutant(f"half of expect_tx {counts['half']}", replaced(lines, {number: text}))
        if ".try_wait.parity" in line:
            counts["parity"] += 1
            text = with_operand(line, "xor.b32 other, {}, 1;", "other")
            yield Mutant(f"other parity {counts['parity']}", replaced(lines, {number: text}))


def early_releases(lines):
    """The wait for products goes behind the arrival that follows it."""
    count = 0
    for number, line in enumerate(lines):
        if "wgmma.wait_group" not in line:
            continue
        for later in range(number + 1, min(number + 8, len(lines))):
            if "mbarrier.arrive" in lines[later]:
                count += 1
                text = lines[later] + " " + line.strip()
                changes = {number: "", later: text}
                yield Mutant(f"early release {count}", replaced(lines, changes))
                break


def short_loops(lines):
    """The last warpgroup leaves a loop with products one step early: the bound
    of the loop's comparison, one less for its threads."""
    labels = {line.strip()[:-1]: i for i, line in enumerate(lines) if re.match(r"^\$L\w+:", line)}
    last = max(int(n) for n in re.findall(r"\.reqntid\s+(\d+)", "\n".join(lines))) - 128
    count = 0
    for number, line in enumerate(lines):
        back = re.match(r"^\s*(?:@!?%p\d+ )?bra(?:\.uni)?\s+(\$L\w+);", line)
        if not back or labels.get(back.group(1), number) >= number:
            continue
        begin = labels[back.group(1)]
        if not any("wgmma.mma_async" in text for text in lines[begin:number]):
            continue
        for i in range(begin, number):
            leave = re.match(r"^\s*setp\.(?:ge|gt|eq|ne|lt|le)\.[su]32\s+(%p\d+), (%r\d+), (%r\d+);", lines[i])
            if not leave or not re.match(rf"^\s*@!?{leave.group(1)} bra", lines[i + 1]):
                continue
            bound = leave.group(3)
            compare = lines[i].strip().replace(f"{bound};", "bound;")
            code = (
                "{.reg .b32 bound; .reg .pred last; mov.u32 bound, %tid.x; "
                f"setp.ge.u32 last, bound, {last}; selp.b32 bound, 1, 0, last; "
                f"sub.s32 bound, {bound}, bound; {compare}}}"
            )
            count += 1
            yield Mutant(f"one step less {count}", replaced(lines, {i: code}))
            break


def make_mutants(lines):
    for make in (omissions, wrong_counts, early_releases, short_loops):
        yield from make(lines)


# ---- Runs --------------------------------------------------------------------


def run(tool, path, schedules, options):
    """(exit code, what was said)"""
    command = [tool, path, "--device=emulator", f"--schedules={schedules}", *options]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"no end after {TIME_LIMIT} s"
    return done.returncode, done.stderr


def first_finding(text):
    """The message without its place, in short."""
    for line in text.splitlines():
        found = re.search(r"cta \(\d+, \d+, \d+\)(?: warp \d+)?(?: lane \d+)?: (.*)", line)
        if found:
            return found.group(1)
    return text.strip().splitlines()[0] if text.strip() else ""


def read_harmless(path):
    reasons = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            reasons[name] = reason
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("run")
    parser.add_argument("artifact", type=pathlib.Path)
    parser.add_argument("harmless", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--schedules", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    data = options.artifact.read_bytes()
    begin, end = find_text(data)
    lines = data[begin:end].decode().split("\n")
    choices = [text.split() for text in " ".join(sys.argv[split + 1 :]).split(" / ")]
    harmless = read_harmless(options.harmless)
    folder = tempfile.TemporaryDirectory()

    def try_mutant(mutant):
        path = pathlib.Path(folder.name) / (re.sub(r"\W+", "_", mutant.name) + ".uattn")
        path.write_bytes(with_text(data, begin, end, mutant.lines))
        for choice in choices:
            result = run(options.run, path, options.schedules, choice)
            if result[0] != 0:
                break
        path.unlink()
        return result

    code, text = try_mutant(Mutant("unchanged", lines))
    if code != 0:
        sys.exit(f"mutate_kernel: the kernel itself is not clean: {text}")
    mutants = [m for m in make_mutants(lines) if options.only in m.name]
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutant, (code, text) in zip(mutants, pool.map(try_mutant, mutants)):
            is_listed = mutant.name in harmless
            if code == 1:
                outcome = "ERROR, listed as harmless, reported" if is_listed else "reported"
                says = first_finding(text)
            elif code == 0:
                outcome = "harmless" if is_listed else "ERROR, not found"
                says = harmless.get(mutant.name, "")
            else:
                outcome, says = "ERROR", f"exit code {code}: {text.strip()[:300]}"
            counts[outcome.split(",")[0]] += 1
            print(f"{mutant.name}: {outcome}: {says}")
    unknown = sorted(set(harmless) - {m.name for m in mutants})
    if unknown and not options.only:
        counts["ERROR"] += len(unknown)
        print(f"ERROR, listed and no mutant: {', '.join(unknown)}")
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    return 1 if counts["ERROR"] else 0


if __name__ == "__main__":
    sys.exit(main())
