#!/usr/bin/env python3
"""Checks the artifacts beside this file through uattn-run.

- golden cases, files in and out, against their float64 results
- files in and out against the ops' definitions in numpy, which are independent
  of uattn's reference: caps, temperatures, wide scores, numbers that are not
  finite; gradients with dlse and z-loss
- every kernel variant at odd lengths and head counts against uattn's reference
  (uattn-run --check), and the examples
- the same bits in two runs
- wrong shapes, damaged artifacts and memory that runs out: the contracted exit
  codes

Prints a line a failure and a count; exits 1 where something failed.

Usage: check.py [--device=cuda|emulator|reference] [--jobs=N] [--quick] [--only=TEXT] [--skip=TEXT]
Needs Python 3.8 and numpy. tools/dev/gpu_bundle.py makes the folder.
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zlib

import numpy

HERE = pathlib.Path(__file__).resolve().parent
LENGTHS = (1, 63, 64, 65, 127, 128, 129, 130, 333, 1025)
HEADS = ((1, 1), (4, 2), (5, 1), (6, 2), (20, 4), (7, 7))
PAIRS_LIMIT = 7_000_000  # query and key pairs of one run
RUNS_PER_VARIANT = 6
TIME_LIMIT = 120  # seconds; a kernel that hangs fails its run
OUT_BOUNDS = {"bf16": 5e-3, "f16": 1e-3}
GRADIENT_BOUNDS = {"bf16": 1.2e-2, "f16": 3e-3}
RIGHT, WRONG_USE, DEVICE_FAILED, INTERNAL = 0, 2, 3, 4


class Failure(Exception):
    pass


def run_tool(device, artifact, arguments):
    """(exit code, stdout, stderr) of uattn-run."""
    command = [HERE / "uattn-run", HERE / artifact, f"--device={device}", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"no end after {TIME_LIMIT} s") from error
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
    if len(lines) != results or not all(line.endswith(": ok") for line in lines):
        raise Failure(f"expected {results} results that are ok: {found[1].strip()}")


# ---- Comparison ---------------------------------------------------------------


def compare_out(found, wanted, bound=OUT_BOUNDS["bf16"]):
    if found.shape != wanted.shape:
        raise Failure(f"shape {found.shape}: expected {wanted.shape}")
    not_finite = ~numpy.isfinite(wanted)
    if not numpy.array_equal(~numpy.isfinite(found), not_finite):
        raise Failure("numbers that are not finite stand in other places")
    wanted, found = wanted[~not_finite], found[~not_finite].astype(numpy.float64)
    norm = numpy.linalg.norm(wanted)
    error = numpy.linalg.norm(found - wanted)
    if norm == 0 and error > 1e-6:
        raise Failure(f"absolute error {error:.2e}: expected 1e-6")
    if norm > 0 and error > bound * norm:
        raise Failure(f"relative error {error / norm:.2e}: expected {bound:.0e}")


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


# ---- The op's definition ------------------------------------------------------


def round_to(numbers, dtype):
    """As the element type stores them; f32 arrays."""
    numbers = numpy.ascontiguousarray(numbers, numpy.float32)
    if dtype == "f16":
        return numbers.astype(numpy.float16).astype(numpy.float32)
    if dtype == "f32":
        return numbers
    bits = numbers.view(numpy.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return numpy.where(numpy.isnan(numbers), numbers, rounded.view(numpy.float32))


def apply_cap(scores, method, cap, alpha, beta):
    if method == "tanh":
        return cap * numpy.tanh(scores / cap)
    if method == "soft_sign":
        return scores / (1 + abs(scores) / cap)
    if method == "alsc":
        middle = 1 / (1 + numpy.exp(-alpha * beta))
        norm = middle * (1 - middle) + 1e-12
        return cap * (1 / (1 + numpy.exp(-alpha * (scores / cap + beta))) - middle) / norm
    return scores


def attention(q, k, v, temp, variant, cap):
    """out and lse in float64, after the op's semantics."""
    q, k, v = (x.astype(numpy.float64) for x in (q, k, v))
    group = q.shape[2] // k.shape[2]
    k, v = numpy.repeat(k, group, axis=2), numpy.repeat(v, group, axis=2)
    with numpy.errstate(all="ignore"):
        scores = numpy.einsum("bihd,bjhd->bhij", q, k) * numpy.float32(variant["sm_scale"])
        scores = apply_cap(scores, variant["cap"], *cap)
        if temp is not None:
            scores = scores * temp.astype(numpy.float64)[:, None, :, None]
        top = scores.max(axis=3, keepdims=True)
        weights = numpy.exp(scores - top)
        total = weights.sum(axis=3, keepdims=True)
        out = numpy.einsum("bhij,bjhd->bihd", weights / total, v)
        lse = (top + numpy.log(total))[..., 0]
    return out, lse


def cap_slope(scores, method, cap, alpha, beta):
    """The derivative of apply_cap."""
    if method == "tanh":
        return 1 - numpy.tanh(scores / cap) ** 2
    if method == "soft_sign":
        return (1 + abs(scores) / cap) ** -2.0
    if method == "alsc":
        middle = 1 / (1 + numpy.exp(-alpha * beta))
        sigma = 1 / (1 + numpy.exp(-alpha * (scores / cap + beta)))
        return alpha * sigma * (1 - sigma) / (middle * (1 - middle) + 1e-12)
    return numpy.ones_like(scores)


def gradients(q, k, v, temp, dout, dlse, variant, cap):
    """dq, dk, dv and dtemp in float64 without masks, by the chain rule alone: from
    probabilities that are formed here, not from a given out and lse."""
    q, k, v, dout = (x.astype(numpy.float64) for x in (q, k, v, dout))
    kv_heads = k.shape[2]
    group = q.shape[2] // kv_heads
    k, v = numpy.repeat(k, group, axis=2), numpy.repeat(v, group, axis=2)
    scale = float(numpy.float32(variant["sm_scale"]))
    scores = numpy.einsum("bihd,bjhd->bhij", q, k) * scale
    capped = apply_cap(scores, variant["cap"], *cap)
    factor = numpy.ones(q.shape[:2]) if temp is None else temp.astype(numpy.float64)
    factor = factor[:, None, :, None]
    logits = factor * capped
    top = logits.max(axis=3, keepdims=True)
    lse = top + numpy.log(numpy.exp(logits - top).sum(axis=3, keepdims=True))
    weights = numpy.exp(logits - lse)
    dweights = numpy.einsum("bihd,bjhd->bhij", dout, v)
    delta = (weights * dweights).sum(axis=3, keepdims=True)
    of_lse = float(numpy.float32(variant["z_loss_weight"])) * lse
    if dlse is not None:
        of_lse = of_lse + dlse.astype(numpy.float64)[..., None]
    dlogits = weights * (dweights - delta + of_lse)
    dscores = dlogits * factor * cap_slope(scores, variant["cap"], *cap) * scale
    dq = numpy.einsum("bhij,bjhd->bihd", dscores, k)
    dk = numpy.einsum("bhij,bihd->bjhd", dscores, q)
    dv = numpy.einsum("bhij,bihd->bjhd", weights, dout)
    shape = (*k.shape[:2], kv_heads, group, k.shape[3])
    dtemp = (dlogits * capped).sum(axis=(1, 3))
    return dq, dk.reshape(shape).sum(axis=3), dv.reshape(shape).sum(axis=3), dtemp


# ---- Checks -------------------------------------------------------------------


class Checks:
    """A list of (name, function); a function raises Failure."""

    def __init__(self, device, is_quick):
        self.device = device
        self.is_quick = is_quick
        self.manifest = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
        self.all = []
        for name in self.manifest["golden"]:
            self.add(f"golden {name}", self.golden, name)
        for example in self.manifest["examples"]:
            self.add(f"{example['file']} {' '.join(example['arguments'])}", self.example, example)
        self.add_numpy_cases()
        self.add_variants()
        self.add_use()

    def add(self, name, function, *arguments):
        self.all.append((name, lambda: function(*arguments)))

    def run(self, artifact, *arguments):
        return run_tool(self.device, artifact, arguments)

    def golden(self, name):
        folder = HERE / "golden" / name
        case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as scratch:
            files = [f"--input={folder / f'in_{x}.npy'}" for x in case["inputs"]]
            files += [f"--output={scratch}/{x}.npy" for x in case["results"]]
            expect_code(self.run(f"golden/{name}/case.uattn", *files), RIGHT)
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

    def run_files(self, artifact, variant, inputs):
        """The results, through .npy files."""
        names = result_names(variant)
        with tempfile.TemporaryDirectory() as scratch:
            arguments = [f"--function={variant['name']}"]
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
                for _ in range(1 if self.is_quick else RUNS_PER_VARIANT):
                    # 37 and 100 have no common factor: all pairs come up.
                    q_tokens, kv_tokens = pairs[number * 37 % len(pairs)]
                    if is_backward(variant) and not has_lse_gradient(variant):
                        # One key has p = 1 and gradients of 0, which a bound
                        # relative to them has no room for.
                        q_tokens, kv_tokens = max(q_tokens, 2), max(kv_tokens, 2)
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
        backward = self.manifest["variants"].get("bwd_masked_d64.uattn", [])
        for other in [v for v in backward if v["has_dtemp"]][:2]:
            self.add(f"two runs of {other['name']} give the same bits", self.same_gradient_bits,
                     "bwd_masked_d64.uattn", other)
        artifact = "dense_d64.uattn"
        variants = self.manifest["variants"].get(artifact)
        if not variants:
            return
        variant = next(v for v in variants if v["cap"] == "alsc" and v["has_lse"] and v["temp"])
        self.add("two runs give the same bits", self.same_bits, artifact, variant)
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
            self.add(f"wrong use: {name}", self.refused, artifact, shapes)
        self.add("wrong use: no such function", self.refused, artifact, ("--function=nobody",))
        self.add("wrong use: missing sizes", self.refused, artifact,
                 (f"--function={variant['name']}",))
        self.add("wrong use: a file of another shape", self.wrong_file, artifact, variant)
        for part in range(1, 8):
            self.add(f"artifact cut to {part}/8", self.damaged, artifact, part, True)
            self.add(f"artifact with byte {part}/8 changed", self.damaged, artifact, part, False)
        if self.device == "cuda":
            self.add("device memory runs out", self.out_of_memory)

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

    def same_gradient_bits(self, artifact, variant):
        """More CTAs than an H200 runs at once, whatever their order."""
        heads = (2, 1) if self.device == "emulator" else (20, 4)
        shape = (2, 333, 400, *heads)
        shapes = shape_arguments(shape, variant["head_dim"])
        found = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as scratch:
                files = [f"{scratch}/{name}.npy" for name in variant["results"]]
                outputs = [f"--output={file}" for file in files]
                function = f"--function={variant['name']}"
                expect_code(self.run(artifact, function, *shapes, *outputs), RIGHT)
                found.append([pathlib.Path(file).read_bytes() for file in files])
        if found[0] != found[1]:
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


def has_lse_gradient(variant):
    return variant["has_dlse"] or variant["z_loss_weight"] > 0


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


def attempt(check):
    """None, or the failure as a line."""
    name, function = check
    try:
        function()
    except Failure as failure:
        return f"FAILED {name}: {failure}"
    except (OSError, ValueError) as error:
        return f"FAILED {name}: {type(error).__name__}: {error}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--device", choices=("cuda", "emulator", "reference"), default="cuda")
    parser.add_argument("--jobs", type=int, default=min(8, max(1, (os.cpu_count() or 2) // 2)))
    parser.add_argument("--quick", action="store_true", help="a run a variant")
    parser.add_argument("--only", default="", help="checks whose name holds the text")
    parser.add_argument("--skip", help="no checks whose name holds the text")
    options = parser.parse_args()
    os.chmod(HERE / "uattn-run", 0o755)
    checks = [c for c in Checks(options.device, options.quick).all if options.only in c[0]]
    if options.skip:
        checks = [check for check in checks if options.skip not in check[0]]
    begin = time.monotonic()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(attempt, checks):
            if line:
                failed += 1
                print(line, flush=True)
    seconds = time.monotonic() - begin
    print(f"{len(checks)} checked on {options.device}, {failed} failed, {seconds:.0f} s")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
