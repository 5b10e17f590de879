"""What the tests of kernels in Triton's ops share: cases, their modules, inputs
and the result in float64. Needs numpy alone.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import json
import math
import pathlib
import re
import subprocess

import numpy


@dataclasses.dataclass
class Case:
    """A forward op. Sizes as in README; a window of 0 is none."""

    name: str
    dtype: str = "bf16"
    batch: int = 1
    q_tokens: int = 200
    kv_tokens: int = 200
    q_heads: int = 2
    kv_heads: int = 1
    head_dim: int = 128
    cap: tuple = ("none", 0.0, 0.0, 0.0)
    sm_scale: float = 0.0883883461356163
    causal: bool = False
    window: int = 0
    q_offset: int = 0
    temp: str = ""  # its element type
    bounds: tuple = ()  # a row of four for each of the batch
    segments: bool = False
    lse: bool = True
    # Consumers, rows of a tile of keys, stages, and "turns" where consumers take
    # them; empty: what uattn-plan=compiler=triton chooses.
    plan: tuple = ()


CAPS = {
    "none": ("none", 0.0, 0.0, 0.0),
    "tanh": ("tanh", 20.0, 0.0, 0.0),
    "soft_sign": ("soft_sign", 10.0, 0.0, 0.0),
    "alsc": ("alsc", 5.0, 1.5, 0.25),
}


def cases():
    """Every cap with and without temp at both D and element types, then masks."""
    made = []
    for dtype in ("bf16", "f16"):
        for head_dim in (64, 128):
            for method, cap in CAPS.items():
                for temp in ("", "f32"):
                    name = f"{dtype}_d{head_dim}_{method}{'_temp' if temp else ''}"
                    made.append(Case(name, dtype, head_dim=head_dim, cap=cap, temp=temp))
    sizes = dict(batch=2, q_tokens=300, kv_tokens=300)
    ranker = ((0, 150, 150, 260), (20, 90, 200, 300))
    made += [
        Case("shape_no_lse", lse=False),
        Case("shape_d256", head_dim=256),
        Case("shape_d256_causal_alsc_temp", head_dim=256, causal=True, cap=CAPS["alsc"],
             temp="f16"),
        Case("shape_one_consumer", plan=(1, 64, 3)),
        Case("shape_two_consumers", plan=(2, 128, 2), causal=True),
        Case("shape_two_consumers_d64", head_dim=64, plan=(2, 128, 2)),
        Case("shape_two_consumers_turns", plan=(2, 128, 2, "turns")),
        Case("shape_no_turns", plan=(3, 64, 2)),
        Case("shape_no_turns_d64", head_dim=64, plan=(3, 128, 2)),
        Case("shape_rounded_tiles", plan=(3, 80, 2)),
        Case("shape_larger_tiles", plan=(2, 128, 2)),
        Case("shape_one_stage", plan=(3, 64, 1), cap=CAPS["alsc"], temp="f32"),
        Case("shape_wide_tiles", head_dim=64, plan=(2, 256, 2)),
        Case("shape_even_tiles", q_tokens=384, kv_tokens=256, q_heads=4, kv_heads=4),
        Case("shape_few_tokens", q_tokens=1, kv_tokens=5, q_heads=8, kv_heads=2),
        Case("shape_negative_scale", sm_scale=-0.1),
        Case("shape_scale_0", sm_scale=0.0),
        Case("shape_temp_bf16", temp="bf16", cap=CAPS["soft_sign"], **sizes),
        Case("mask_causal", causal=True, **sizes),
        Case("mask_causal_d64_f16", dtype="f16", head_dim=64, causal=True, **sizes),
        Case("mask_causal_offset", causal=True, batch=1, q_tokens=100, kv_tokens=300,
             q_offset=200),
        Case("mask_causal_dead_rows", causal=True, q_tokens=150, kv_tokens=100,
             q_offset=-40),
        Case("mask_window", window=70, **sizes),
        Case("mask_causal_window", causal=True, window=70, cap=CAPS["tanh"], **sizes),
        Case("mask_ranker", bounds=ranker, **sizes),
        Case("mask_ranker_apart", batch=1, q_tokens=700, kv_tokens=700,
             bounds=((0, 100, 420, 640),)),
        Case("mask_ranker_first", batch=1, q_tokens=500, kv_tokens=500,
             bounds=((260, 500, 0, 200),)),
        # Their differences to positions leave i32, where they are not clamped.
        Case("mask_ranker_ends", batch=2, q_tokens=300, kv_tokens=300,
             bounds=((0, 2**31 - 1, -(2**31), 2**31 - 1),
                     (2**31 - 1, -(2**31), 20, 2**31 - 1))),
        Case("mask_ranker_everything", bounds=ranker, causal=True, window=64, temp="f32",
             cap=CAPS["alsc"], segments=True, **sizes),
        Case("mask_segments", segments=True, **sizes),
        Case("mask_segments_causal", segments=True, causal=True, **sizes),
    ]
    return made


# ---- Modules ----------------------------------------------------------------


def plan_text(case):
    """The plan's attribute, with registers that fit."""
    consumers, kv_rows, stages, *turns = case.plan
    registers = {1: (216, 128), 2: (240, 168), 3: (160, 128)}[consumers]
    return (f"plan = #uattn.plan<{{consumer_registers = {registers[0]} : i64, "
            f"consumer_warpgroups = {consumers} : i64, "
            f"entry_registers = {registers[1]} : i64, kv_tile_rows = {kv_rows} : i64, "
            f"ping_pong = {'true' if turns else 'false'}, polynomial_period = 0 : i64, "
            f"producer_registers = {32 if consumers == 3 else 24} : i64, "
            f"softmax = \"online\", stage_count = {stages} : i64, target = \"sm_90a\"}}>")


def module_text(case):
    """The case as a module for uattn-opt."""
    kinds = [("q", case.q_tokens, case.q_heads), ("k", case.kv_tokens, case.kv_heads),
             ("v", case.kv_tokens, case.kv_heads)]
    operands = [(name, f"tensor<{case.batch}x{rows}x{heads}x{case.head_dim}x{case.dtype}>")
                for name, rows, heads in kinds]
    out = operands[0][1]
    if case.temp:
        operands.append(("temp", f"tensor<{case.batch}x{case.q_tokens}x{case.temp}>"))
    if case.bounds:
        operands.append(("bounds", f"tensor<{case.batch}x4xi32>"))
    if case.segments:
        operands += [("q_ids", f"tensor<{case.batch}x{case.q_tokens}xi32>"),
                     ("kv_ids", f"tensor<{case.batch}x{case.kv_tokens}xi32>")]
    results = [out]
    if case.lse:
        results.append(f"tensor<{case.batch}x{case.q_heads}x{case.q_tokens}xf32>")
    method, *numbers = case.cap
    attributes = [f'cap = #uattn.cap<"{method}", '
                  + ", ".join(f"{number:e} : f32" for number in numbers) + ">",
                  f"sm_scale = {case.sm_scale:.9e} : f32"]
    if case.causal:
        attributes.append("causal")
    if case.window:
        attributes.append(f"window_len = {case.window} : i64")
    if case.q_offset:
        attributes.append(f"q_offset = {case.q_offset} : i64")
    present = [1, 1, 1, int(bool(case.temp)), int(bool(case.bounds))]
    present += [int(case.segments)] * 2
    attributes += [
        f"operandSegmentSizes = array<i32: {', '.join(map(str, present))}>",
        f"resultSegmentSizes = array<i32: 1, {int(case.lse)}>",
    ]
    if case.plan:
        attributes.append(plan_text(case))
    names = ", ".join(f"%{name}" for name, _ in operands)
    types = ", ".join(kind for _, kind in operands)
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in operands)
    given = ", ".join(f"%r#{i}" for i in range(len(results)))
    kinds = ", ".join(results)
    return (f"func.func @main({arguments}) -> ({kinds}) {{\n"
            f"  %r:{len(results)} = \"uattn.ranker_attention\"({names}) {{\n    "
            + ",\n    ".join(attributes)
            + f"\n  }} : ({types}) -> ({kinds})\n  return {given} : {kinds}\n}}\n")


def emit(case, folder):
    """Writes NAME.mlir, NAME.ttgir and NAME.json; returns the second's path."""
    base = pathlib.Path(folder) / case.name
    source = base.with_suffix(".mlir")
    source.write_text(module_text(case))
    target = base.with_suffix(".ttgir")
    subprocess.run(["uattn-opt", "--allow-unregistered-dialect", "--uattn-plan=compiler=triton",
                    "--uattn-emit-ttgir", str(source), "-o", str(target)], check=True)
    base.with_suffix(".json").write_text(json.dumps(dataclasses.asdict(case)))
    return target


def read_case(path):
    """The case that emit wrote beside a .ttgir."""
    fields = json.loads(pathlib.Path(path).with_suffix(".json").read_text())
    fields["cap"] = tuple(fields["cap"])
    fields["plan"] = tuple(fields["plan"])
    fields["bounds"] = tuple(tuple(row) for row in fields["bounds"])
    return Case(**fields)


def tile_rows(path):
    """Rows of the query tile and of a tile of keys, as the module says them."""
    text = pathlib.Path(path).read_text()
    return tuple(int(re.search(rf"uattn\.{name} = (\d+)", text).group(1))
                 for name in ("q_tile_rows", "kv_tile_rows"))


# ---- Numbers ----------------------------------------------------------------


def round_to(values, dtype):
    """float32 values as the element type holds them, as float32."""
    values = numpy.asarray(values, numpy.float32)
    if dtype == "f16":
        return values.astype(numpy.float16).astype(numpy.float32)
    if dtype == "f32":
        return values
    bits = values.view(numpy.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)


def draw_inputs(case, seed=0):
    """Arrays by name, floats rounded to their types."""
    random = numpy.random.default_rng(seed)
    q_shape = (case.batch, case.q_tokens, case.q_heads, case.head_dim)
    kv_shape = (case.batch, case.kv_tokens, case.kv_heads, case.head_dim)
    arrays = {name: round_to(random.standard_normal(shape), case.dtype)
              for name, shape in (("q", q_shape), ("k", kv_shape), ("v", kv_shape))}
    if case.temp:
        temp = random.uniform(-1.0, 2.0, (case.batch, case.q_tokens))
        arrays["temp"] = round_to(temp, case.temp)
    if case.bounds:
        arrays["bounds"] = numpy.array(case.bounds, numpy.int32)
    if case.segments:
        for name, count in (("q_ids", case.q_tokens), ("kv_ids", case.kv_tokens)):
            arrays[name] = numpy.sort(random.integers(0, 4, (case.batch, count))
                                      ).astype(numpy.int32)
    return arrays


def apply_cap(case, scores):
    method, limit, alpha, beta = case.cap
    if method == "tanh":
        return limit * numpy.tanh(scores / limit)
    if method == "soft_sign":
        return scores / (1.0 + numpy.abs(scores) / limit)
    if method == "alsc":
        sigma = 1.0 / (1.0 + math.exp(-alpha * beta))
        raised = 1.0 / (1.0 + numpy.exp(-alpha * (scores / limit + beta)))
        return limit * (raised - sigma) / (sigma * (1.0 - sigma) + 1e-12)
    return scores


def allowed(case, arrays, batch):
    """[q_tokens, kv_tokens]: which keys a row sees."""
    i = case.q_offset + numpy.arange(case.q_tokens)[:, None]
    j = numpy.arange(case.kv_tokens)[None, :]
    seen = numpy.ones((case.q_tokens, case.kv_tokens), bool)
    if case.causal:
        seen &= i >= j
    if case.window:
        seen &= j > i - case.window
    if case.bounds:
        history, history_end, first, end = case.bounds[batch]
        is_candidate = (i >= first) & (i < end)
        in_history = (i >= history) & (i < history_end)
        seen &= ((j >= history) & (j < history_end) & (in_history | is_candidate)) | (
            is_candidate & (i == j))
    if case.segments:
        seen &= arrays["q_ids"][batch][:, None] == arrays["kv_ids"][batch][None, :]
    return seen


def reference(case, arrays):
    """out and lse in float64."""
    scale = float(numpy.float32(case.sm_scale))
    out = numpy.zeros(arrays["q"].shape)
    lse = numpy.full((case.batch, case.q_heads, case.q_tokens), -numpy.inf)
    for batch in range(case.batch):
        seen = allowed(case, arrays, batch)
        temp = arrays["temp"][batch][:, None] if case.temp else 1.0
        for head in range(case.q_heads):
            kv_head = head // (case.q_heads // case.kv_heads)
            q = arrays["q"][batch, :, head].astype(numpy.float64)
            k = arrays["k"][batch, :, kv_head].astype(numpy.float64)
            v = arrays["v"][batch, :, kv_head].astype(numpy.float64)
            logits = temp * apply_cap(case, scale * (q @ k.T))
            logits = numpy.where(seen, logits, -numpy.inf)
            top = numpy.max(logits, axis=1, initial=-1e300)[:, None]
            weights = numpy.where(seen, numpy.exp(logits - top), 0.0)
            total = weights.sum(axis=1, keepdims=True)
            some = total[:, 0] > 0
            out[batch, some, head] = (weights @ v)[some] / total[some]
            lse[batch, head, some] = (top + numpy.log(numpy.where(total > 0, total, 1.0)))[
                some, 0]
    return out, lse


def complaint(case, arrays, out, lse):
    """What is wrong with results, and how far off they are: (text or None, text)."""
    want_out, want_lse = reference(case, arrays)
    bound = {"bf16": 5e-3, "f16": 1e-3}[case.dtype]
    norm = numpy.linalg.norm(want_out)
    error = numpy.linalg.norm(out - want_out) / (norm if norm else 1.0)
    text = f"out {error:.2e} of {bound:.0e}"
    wrong = None if error <= bound else text
    if lse is not None:
        dead = numpy.isneginf(want_lse)
        live = want_lse[~dead]
        off = numpy.abs(lse[~dead] - live) - 2e-3 - 1e-3 * numpy.abs(live)
        worst = float(off.max(initial=-1.0))
        text += f", lse {worst:.2e} over its bound, {int(dead.sum())} dead rows"
        is_same = bool((numpy.isneginf(lse) == dead).all())
        dead_out = out[numpy.moveaxis(dead, 1, 2)]
        if worst > 0 or not is_same or dead_out.any() or not numpy.isfinite(out).all():
            wrong = text
    return wrong, text
