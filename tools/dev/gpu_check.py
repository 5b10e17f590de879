#!/usr/bin/env python3
"""Checks the artifacts beside this file through uattn-run.

- golden cases, files in and out, against their float64 results; those of the
  backward with the attribute deterministic too
- the same bits: two runs of a forward; 100 launches (on the emulator 4 orders of
  warps) of each backward that is deterministic, with more CTAs than an H200 runs
  at once
- every backward variant against the ops' definitions in numpy, which are
  independent of uattn's reference, at lengths, bounds and segments next to the
  edges of tiles, fresh numbers for each --seed
- forwards against numpy: caps, temperatures, wide scores, numbers that are not
  finite; gradients with dlse and z-loss from exact out
- every kernel variant at odd lengths and head counts against uattn's reference
  (uattn-run --check), and the examples
- wrong shapes, damaged artifacts and memory that runs out: the contracted exit
  codes

Prints a line a failure and a count; exits 1 where something failed or was not
run for lack of time.

Usage: check.py [--device=cuda|emulator|reference] [--jobs=N] [--quick] [--seed=N]
                [--seconds=N] [--out=FOLDER] [--only=TEXT] [--skip=TEXT]
  --seconds  what has not begun by then is not run, and told
  --out      FOLDER/check.txt receives a line a check: verdict, seconds, name
Needs Python 3.8 and numpy. tools/dev/gpu_bundle.py makes the folder.
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zlib

# Checks run side by side: each shall take a processor or two.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy  # noqa: E402

import backward_cases  # noqa: E402
from attention_numpy import attention, gradients, round_to  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LENGTHS = (1, 63, 64, 65, 127, 128, 129, 130, 333, 1025)
HEADS = ((1, 1), (4, 2), (5, 1), (6, 2), (20, 4), (7, 7))
PAIRS_LIMIT = 7_000_000  # query and key pairs of one run
RUNS_PER_VARIANT = 6
CASES_PER_VARIANT = 4  # next to the edges of tiles
EMULATED_PAIRS_LIMIT = 200_000
LAUNCHES = 100
SCHEDULES = 4
# Seconds: a kernel that hangs fails its run. Other kernels that hang too would
# take all of the time that is left.
TIME_LIMITS = {"cuda": 40, "emulator": 120, "reference": 120}
HANGS_LIMIT = 3
OUT_BOUNDS = {"bf16": 5e-3, "f16": 1e-3}
GRADIENT_BOUNDS = {"bf16": 1.2e-2, "f16": 3e-3}
GRADIENT_FLOOR = 1e-5  # of numbers around 1: what sums in f32 leave of a zero
RIGHT, WRONG_USE, DEVICE_FAILED, INTERNAL = 0, 2, 3, 4


class Failure(Exception):
    pass


class Hang(Failure):
    pass


def run_tool(device, artifact, arguments):
    """(exit code, stdout, stderr) of uattn-run."""
    command = [HERE / "uattn-run", HERE / artifact, f"--device={device}", *arguments]
    limit = TIME_LIMITS[device]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        raise Hang(f"no end after {limit} s") from error
    return done.returncode, done.stdout, done.stderr


def expect_code(found, *wanted):
    code, _, message = found
    if code not in wanted:
        raise Failure(f"exit code {code}, expected {wanted}: {message.strip()[-300:]}")
    if code != RIGHT and "uattn-run:" not in message:
        raise Failure(f"exit code {code} without a message")


def expect_checked(found, results):
    """Every result was compared and is in its bound."""
    expect_code(found, RIGHT)
    lines = found[1].strip().splitlines()
    # What is large is compared in a sample of its rows.
    is_ok = [re.search(r": ok( \(a sample: .*\))?$", line) is not None for line in lines]
    if len(lines) != results or not all(is_ok):
        raise Failure(f"expected {results} results that are ok: {found[1].strip()}")


# ---- Comparison ---------------------------------------------------------------


def compare_out(found, wanted, bound=OUT_BOUNDS["bf16"], floor=0.0):
    """`floor` is an error of one number that is none, however small they are."""
    if found.shape != wanted.shape:
        raise Failure(f"shape {found.shape}: expected {wanted.shape}")
    not_finite = ~numpy.isfinite(wanted)
    if not numpy.array_equal(~numpy.isfinite(found), not_finite):
        raise Failure("numbers that are not finite stand in other places")
    wanted, found = wanted[~not_finite], found[~not_finite].astype(numpy.float64)
    norm = numpy.linalg.norm(wanted)
    error = numpy.linalg.norm(found - wanted)
    none = floor * wanted.size**0.5
    if norm == 0 and error > max(1e-6, none):
        raise Failure(f"absolute error {error:.2e}: expected {max(1e-6, none):.0e}")
    if norm > 0 and error > bound * norm + none:
        raise Failure(f"relative error {error / norm:.2e}: expected {bound:.1e}")


def compare_rows(found, wanted, bound, floor):
    """No row is wrong beside many right ones: by the larger of its norm and the
    rows' usual one."""
    errors, norms = (numpy.atleast_1d(numpy.linalg.norm(x, axis=-1)) for x in (found - wanted, wanted))
    usual = numpy.sqrt(numpy.mean(norms**2))
    over = errors - (10 * bound * numpy.maximum(norms, usual) + floor * wanted.shape[-1] ** 0.5)
    if over.max() > 0:
        place = tuple(int(i) for i in numpy.unravel_index(over.argmax(), over.shape))
        raise Failure(f"row {place} has error {errors[place]:.2e}, norm {norms[place]:.2e}; "
                      f"the usual norm is {usual:.2e}")


def compare_lse(found, wanted):
    if found.shape != wanted.shape:
        raise Failure(f"lse has shape {found.shape}: expected {wanted.shape}")
    not_finite = ~numpy.isfinite(wanted)
    if not numpy.array_equal(numpy.isneginf(found), numpy.isneginf(wanted)) or not (
        numpy.array_equal(~numpy.isfinite(found), not_finite)
    ):
        raise Failure("lse is -inf or no number in other places")
    wanted, found = wanted[~not_finite], found[~not_finite]
    over = abs(found - wanted) - (2e-3 + 1e-3 * abs(wanted))
    if over.size and over.max() > 0:
        raise Failure(f"lse is over its bound by {over.max():.2e}")


# ---- Checks -------------------------------------------------------------------


class Checks:
    """A list of (name, function); a function raises Failure."""

    def __init__(self, device, is_quick, seed):
        self.device = device
        self.is_quick = is_quick
        self.seed = seed
        self.manifest = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
        self.all = []
        for name in self.manifest["golden"]:
            self.add(f"golden {name}", self.golden, name, "case")
            if name.startswith("bwd_"):
                self.add(f"golden {name} deterministic", self.golden, name, "deterministic")
        for example in self.manifest["examples"]:
            self.add(f"{example['file']} {' '.join(example['arguments'])}", self.example, example)
        self.add_bits()
        self.add_edges()
        self.add_numpy_cases()
        self.add_variants()
        self.add_use()

    def add(self, name, function, *arguments):
        self.all.append((name, lambda: function(*arguments)))

    def run(self, artifact, *arguments):
        return run_tool(self.device, artifact, arguments)

    def golden(self, name, artifact):
        folder = HERE / "golden" / name
        case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as scratch:
            files = [f"--input={folder / f'in_{x}.npy'}" for x in case["inputs"]]
            files += [f"--output={scratch}/{x}.npy" for x in case["results"]]
            expect_code(self.run(f"golden/{name}/{artifact}.uattn", *files), RIGHT)
            bounds = OUT_BOUNDS if case["op"] == "fwd" else GRADIENT_BOUNDS
            bound = bounds[case["dtype"]]
            for result in case["results"]:
                found = numpy.load(f"{scratch}/{result}.npy")
                wanted = numpy.load(folder / f"want_{result}.npy")
                if result == "lse":
                    compare_lse(found, wanted)
                else:
                    compare_out(found, wanted, bound)

    def example(self, example):
        found = self.run(example["file"], *example["arguments"])
        expect_code(found, RIGHT)
        expect_checked(found, len(found[1].strip().splitlines()) or 1)

    def backward_variants(self):
        """(artifact, variant), the artifacts in turns."""
        lists = [
            [(artifact, variant) for variant in variants if is_backward(variant)]
            for artifact, variants in self.manifest["variants"].items()
        ]
        turns = itertools.zip_longest(*lists)
        return [pair for turn in turns for pair in turn if pair]

    # -- The same bits --

    def add_bits(self):
        chosen = [pair for pair in self.backward_variants() if pair[1]["is_deterministic"]]
        for artifact, variant in chosen[:: 3 if self.is_quick else 1]:
            name = f"same bits {artifact} {variant['name']}"
            self.add(name, self.same_bits_again, artifact, variant)

    def same_bits_again(self, artifact, variant):
        """More CTAs than an H200 runs at once, of dq's kernels (3 * 12 heads * 5
        tiles of rows) as of dk's and dv's (3 * 9 * 6)."""
        is_shared = len(variant["masks"]) % 2 == 0  # KV heads among query heads
        shape = (3, 520, 650, 12, 4) if is_shared else (3, 520, 650, 9, 9)
        again = [f"--launches={LAUNCHES}"]
        if self.device != "cuda":
            shape = (1, 200, 150, 2, 1)
            again = [f"--schedules={SCHEDULES}"] if self.device == "emulator" else []
        cap = self.manifest["caps"][variant["cap"]]
        case = backward_cases.Case(variant, cap, self.seed, shape)
        self.run_files(artifact, variant, case.given(), *again)

    # -- Next to the edges of tiles --

    def add_edges(self):
        chosen = self.backward_variants()
        for number in range(1 if self.is_quick else CASES_PER_VARIANT):
            for artifact, variant in chosen[:: 2 if self.is_quick else 1]:
                seed = 1000 * self.seed + number
                name = f"edges {artifact} {variant['name']} of seed {seed}"
                self.add(name, self.gradients_at_edges, artifact, variant, seed)

    def gradients_at_edges(self, artifact, variant, seed):
        cap = self.manifest["caps"][variant["cap"]]
        limits = {"pairs_limit": EMULATED_PAIRS_LIMIT} if self.device == "emulator" else {}
        case = backward_cases.Case(variant, cap, seed, **limits)
        found = self.run_files(artifact, variant, case.given())
        bound = GRADIENT_BOUNDS[variant["dtype"]]
        # uattn's reference forms out anew.
        all_wanted = case.wanted(takes_given_out=self.device != "reference")
        for (name, wanted), one in zip(all_wanted.items(), found):
            try:
                compare_out(one, wanted, bound, GRADIENT_FLOOR)
                rows = [x[..., None] if name == "dtemp" else x for x in (one, wanted)]
                compare_rows(*rows, bound, GRADIENT_FLOOR)
            except Failure as failure:
                bounds = case.bounds.tolist() if case.bounds is not None else "none"
                raise Failure(
                    f"{name}: {failure}; batch, q and kv tokens, heads {case.shape}, bounds {bounds}"
                ) from failure

    # -- Against numpy --

    def add_numpy_cases(self):
        sizes = [(2, 65, 130, 4, 2), (1, 200, 333, 5, 1), (3, 1, 64, 6, 6)]
        spoils = ["plain", "wide", "nan_in_q", "nan_in_k", "nan_in_v", "inf_in_k"]
        for artifact, variants in self.manifest["variants"].items():
            if artifact == "ptx_alone.uattn":
                continue
            chosen = [v for v in variants if is_backward(v) and not v["masks"]]
            for index, variant in enumerate(chosen):
                if self.is_quick and index % 3:
                    continue
                size = sizes[index % len(sizes)]
                self.add(f"numpy {variant['name']}", self.numpy_gradients, artifact, variant, size)
            chosen = [
                v
                for v in variants
                if not is_backward(v) and v["has_lse"] and v["temp"] in (None, "f32")
                and not v["masks"]
            ]
            for index, variant in enumerate(chosen):
                for spoil in spoils:
                    if self.is_quick and (index + spoils.index(spoil)) % 5:
                        continue
                    name = f"numpy {variant['name']} {spoil}"
                    size = sizes[(index + spoils.index(spoil)) % len(sizes)]
                    self.add(name, self.numpy_case, artifact, variant, spoil, size)

    def numpy_gradients(self, artifact, variant, size):
        batch, q_tokens, kv_tokens, heads, kv_heads = size
        head_dim, dtype = variant["head_dim"], variant["dtype"]
        draw = numpy.random.default_rng(zlib.crc32(variant["name"].encode()))
        q_shape, kv_shape = (batch, q_tokens, heads), (batch, kv_tokens, kv_heads)
        q, dout = (round_to(draw.standard_normal((*q_shape, head_dim)), dtype) for _ in range(2))
        k, v = (round_to(draw.standard_normal((*kv_shape, head_dim)), dtype) for _ in range(2))
        temp = dlse = None
        if variant["temp"]:
            temp = round_to(draw.standard_normal((batch, q_tokens)), variant["temp"])
            temp[:, 0] = 0.0
        if variant["has_dlse"]:
            dlse = round_to(draw.standard_normal((batch, heads, q_tokens)), "f32")
        cap = self.manifest["caps"][variant["cap"]]
        out, lse = attention(q, k, v, temp, variant, cap)
        inputs = [q, k, v, temp, round_to(out, dtype), round_to(lse, "f32"), dout, dlse]
        found = self.run_files(artifact, variant, [x for x in inputs if x is not None])
        wanted = gradients(q, k, v, temp, dout, dlse, variant, cap)
        for name, one, other in zip(variant["results"], found, wanted):
            try:
                compare_out(one, other, GRADIENT_BOUNDS[dtype])
            except Failure as failure:
                raise Failure(f"{name}: {failure}") from failure

    def numpy_case(self, artifact, variant, spoil, size):
        batch, q_tokens, kv_tokens, heads, kv_heads = size
        head_dim, dtype = variant["head_dim"], variant["dtype"]
        draw = numpy.random.default_rng(zlib.crc32(f"{variant['name']} {spoil}".encode()))
        amplitude = 12.0 if spoil == "wide" else 1.5
        q = round_to(amplitude * draw.standard_normal((batch, q_tokens, heads, head_dim)), dtype)
        k = round_to(draw.standard_normal((batch, kv_tokens, kv_heads, head_dim)), dtype)
        v = round_to(draw.standard_normal((batch, kv_tokens, kv_heads, head_dim)), dtype)
        temp = None
        if variant["temp"]:
            temp = round_to(draw.standard_normal((batch, q_tokens)), variant["temp"])
            temp[:, 0] = 0.0
        if spoil == "nan_in_q":
            q[0, q_tokens // 2, 0, 3] = numpy.nan
        elif spoil == "nan_in_k":
            k[0, kv_tokens // 2, 0, 3] = numpy.nan
        elif spoil == "nan_in_v":
            v[0, kv_tokens // 2, 0, 3] = numpy.nan
        elif spoil == "inf_in_k":
            k[0, kv_tokens - 1, 0, 3] = numpy.inf
            q[..., 3] = round_to(abs(q[..., 3]) + numpy.float32(0.5), dtype)
        inputs = [q, k, v] + ([temp] if variant["temp"] else [])
        found = self.run_files(artifact, variant, inputs)
        wanted = attention(q, k, v, temp, variant, self.manifest["caps"][variant["cap"]])
        compare_out(found[0], wanted[0], OUT_BOUNDS[dtype])
        compare_lse(found[1], wanted[1])

    def run_files(self, artifact, variant, inputs, *options):
        """The results, through .npy files."""
        names = result_names(variant)
        with tempfile.TemporaryDirectory() as scratch:
            arguments = [f"--function={variant['name']}", *options]
            for index, array in enumerate(inputs):
                numpy.save(f"{scratch}/in{index}.npy", array)
                arguments.append(f"--input={scratch}/in{index}.npy")
            arguments += [f"--output={scratch}/{name}.npy" for name in names]
            expect_code(self.run(artifact, *arguments), RIGHT)
            return [numpy.load(f"{scratch}/{name}.npy") for name in names]

    # -- Every variant, odd sizes --

    def add_variants(self):
        pairs = list(itertools.product(LENGTHS, LENGTHS))
        number = 0
        for artifact, variants in self.manifest["variants"].items():
            for variant in variants:
                runs = 1 if self.is_quick else RUNS_PER_VARIANT
                if is_backward(variant):  # which have cases next to edges besides
                    runs = int(not variant["is_deterministic"])
                for _ in range(runs):
                    # 37 and 100 have no common factor: all pairs come up.
                    q_tokens, kv_tokens = pairs[number * 37 % len(pairs)]
                    shape = fit_shape(number, q_tokens, kv_tokens)
                    arguments = shape_arguments(shape, variant["head_dim"])
                    name = f"{variant['name']} {' '.join(arguments)}"
                    self.add(f"{artifact} {name}", self.variant, artifact, variant, arguments,
                             number)
                    number += 1

    def variant(self, artifact, variant, arguments, seed):
        function = f"--function={variant['name']}"
        found = self.run(artifact, function, *arguments, f"--seed={seed}", "--check")
        expect_checked(found, len(result_names(variant)))

    # -- Use and misuse --

    def add_use(self):
        forward = self.manifest["variants"].get("dense_d64.uattn", [])
        for variant in forward:
            if variant["cap"] == "alsc" and variant["has_lse"] and variant["temp"]:
                self.add("two runs give the same bits", self.same_bits, "dense_d64.uattn", variant)
                break
        if forward and self.device == "cuda":
            self.add("device memory runs out", self.out_of_memory)
        for artifact in ("dense_d64.uattn", "bwd_dense_d64.uattn"):
            if artifact in self.manifest["variants"]:
                self.add_misuse(artifact, self.manifest["variants"][artifact][0])

    def add_misuse(self, artifact, variant):
        head_dim = variant["head_dim"]
        wrong = {
            "heads that do not divide": (f"1x64x3x{head_dim}", f"1x64x2x{head_dim}"),
            "another head_dim": ("1x64x2x32", "1x64x2x32"),
            "batches that differ": (f"1x64x2x{head_dim}", f"2x64x2x{head_dim}"),
            "a rank of three": (f"1x64x{head_dim}", f"1x64x{head_dim}"),
            "no queries": (f"1x0x2x{head_dim}", f"1x64x2x{head_dim}"),
            "sizes beyond 32 bits": (f"1x5000000000x2x{head_dim}", f"1x64x2x{head_dim}"),
        }
        for name, (q, k) in wrong.items():
            shapes = (f"--function={variant['name']}", f"--shape=q:{q}", f"--shape=k:{k}")
            self.add(f"wrong use: {artifact} {name}", self.refused, artifact, shapes)
        self.add(f"wrong use: {artifact} no such function", self.refused, artifact,
                 ("--function=nobody",))
        self.add(f"wrong use: {artifact} missing sizes", self.refused, artifact,
                 (f"--function={variant['name']}",))
        self.add(f"wrong use: {artifact} a file of another shape", self.wrong_file, artifact,
                 variant)
        for part in range(1, 8):
            self.add(f"{artifact} cut to {part}/8", self.damaged, artifact, part, True)
            self.add(f"{artifact} with byte {part}/8 changed", self.damaged, artifact, part, False)

    def same_bits(self, artifact, variant):
        draw = numpy.random.default_rng(7)
        shapes = [(2, 333, 4, variant["head_dim"])] + 2 * [(2, 400, 2, variant["head_dim"])]
        inputs = [draw.standard_normal(shape).astype(numpy.float32) for shape in shapes]
        inputs.append(draw.standard_normal((2, 333)).astype(numpy.float32))
        first = self.run_files(artifact, variant, inputs)
        second = self.run_files(artifact, variant, inputs)
        for a, b in zip(first, second):
            if a.tobytes() != b.tobytes():
                raise Failure("the results differ")

    def refused(self, artifact, arguments):
        expect_code(self.run(artifact, *arguments), WRONG_USE)

    def wrong_file(self, artifact, variant):
        with tempfile.TemporaryDirectory() as scratch:
            numpy.save(f"{scratch}/q.npy", numpy.zeros((1, 2, 3), numpy.float32))
            function = f"--function={variant['name']}"
            self.refused(artifact, (function, f"--input={scratch}/q.npy"))

    def damaged(self, artifact, part, is_cut):
        data = bytearray((HERE / artifact).read_bytes())
        place = len(data) * part // 8
        if is_cut:
            del data[place:]
        else:
            data[place] ^= 0x10
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "damaged.uattn"
            path.write_bytes(data)
            expect_code(self.run(path, "--function=x"), WRONG_USE)

    def out_of_memory(self):
        # Twice 80 GB: more than an H100 or H200 has. A host that does not even
        # promise so much says so; then the device was not asked.
        found = self.run("out_of_memory.uattn", "--shape=arg1:20000x1000000",
                         "--shape=arg2:20000x1000000")
        if found[0] == INTERNAL and "host memory" in found[2]:
            return
        expect_code(found, DEVICE_FAILED)
        if "out of memory on" not in found[2]:
            raise Failure(f"expected 'out of memory on': {found[2].strip()}")


def is_backward(variant):
    return "results" in variant


def result_names(variant):
    if is_backward(variant):
        return variant["results"]
    return ["out", "lse"] if variant["has_lse"] else ["out"]


def fit_shape(number, q_tokens, kv_tokens):
    """(batch, q_tokens, kv_tokens, heads, kv_heads), varied with `number`, of at
    most PAIRS_LIMIT pairs."""
    for step in range(len(HEADS) * 3):
        heads, kv_heads = HEADS[(number + step) % len(HEADS)]
        batch = 1 + (number // len(HEADS) + step) % 3
        if batch * heads * q_tokens * kv_tokens <= PAIRS_LIMIT:
            return batch, q_tokens, kv_tokens, heads, kv_heads
    return 1, q_tokens, kv_tokens, 1, 1


def shape_arguments(shape, head_dim):
    batch, q_tokens, kv_tokens, heads, kv_heads = shape
    return [
        f"--shape=q:{batch}x{q_tokens}x{heads}x{head_dim}",
        f"--shape=k:{batch}x{kv_tokens}x{kv_heads}x{head_dim}",
    ]


class Runner:
    """Attempts checks side by side and keeps count."""

    def __init__(self, seconds, log):
        self.begin = time.monotonic()
        self.end = self.begin + seconds
        self.log = log
        self.hangs = 0

    def attempt(self, check):
        """Its verdict, and what there is to tell of it."""
        name, function = check
        begin = time.monotonic()
        if begin > self.end or self.hangs >= HANGS_LIMIT:
            return "not run", name
        verdict, why = "ok", ""
        try:
            function()
        except Failure as failure:
            self.hangs += isinstance(failure, Hang)
            verdict, why = "FAILED", f": {failure}"
        except (OSError, ValueError) as error:
            verdict, why = "FAILED", f": {type(error).__name__}: {error}"
        seconds = time.monotonic() - begin
        if self.log:
            self.log.write(f"{verdict} {seconds:.2f} s {name}{why}\n")
            self.log.flush()
        return verdict, name + why

    def run(self, checks, jobs, device):
        """Whether all were right."""
        counts = {"ok": 0, "FAILED": 0, "not run": 0}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for verdict, text in pool.map(self.attempt, checks):
                counts[verdict] += 1
                if verdict == "FAILED":
                    print(f"FAILED {text}", flush=True)
        checked = counts["ok"] + counts["FAILED"]
        tail = f"{checked} checked on {device}, {counts['FAILED']} failed"
        if counts["not run"]:
            why = f"{HANGS_LIMIT} hung" if self.hangs >= HANGS_LIMIT else "the time was up"
            tail += f", {counts['not run']} NOT RUN since {why}"
        tail += f", {time.monotonic() - self.begin:.0f} s"
        print(tail)
        if self.log:
            self.log.write(tail + "\n")
        return checked > 0 and checked == counts["ok"] and counts["not run"] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--device", choices=("cuda", "emulator", "reference"), default="cuda")
    parser.add_argument("--jobs", type=int, default=min(8, max(1, (os.cpu_count() or 2) // 2)))
    parser.add_argument("--quick", action="store_true", help="a run a variant")
    parser.add_argument("--seed", type=int, default=0, help="of the cases next to edges of tiles")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="checks whose name holds the text")
    parser.add_argument("--skip", help="no checks whose name holds the text")
    options = parser.parse_args()
    os.chmod(HERE / "uattn-run", 0o755)
    checks = Checks(options.device, options.quick, options.seed).all
    checks = [check for check in checks if options.only in check[0]]
    if options.skip:
        checks = [check for check in checks if options.skip not in check[0]]
    with contextlib.ExitStack() as stack:
        log = None
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            log = stack.enter_context(open(options.out / "check.txt", "w", encoding="utf-8"))
        is_right = Runner(options.seconds, log).run(checks, options.jobs, options.device)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
