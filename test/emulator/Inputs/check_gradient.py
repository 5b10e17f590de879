#!/usr/bin/env python3
"""Holds gradients of the emulated kernels to central differences of a loss.

The loss is written here, in float64: the sum of dout * out, of dlse * lse and of
z_loss_weight / 2 * lse ** 2. Every number of q, k, v and temp is moved both ways.
No formula of a derivative is used.

Prints a line a result; exits 1 where one is over its bound, where a row without a
key has a gradient, or where a gradient is no number.

Usage: check_gradient.py TOOLS SCRATCH   TOOLS is the folder of backward_variants.py
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

import numpy

sys.path.insert(0, sys.argv[1])
import attention_numpy  # noqa: E402
import backward_variants  # noqa: E402

STEP = 1e-4
BOUNDS = {"bf16": 1.2e-2, "f16": 3e-3}
BATCH, HEADS, KV_HEADS = 2, 2, 1
CAP_NUMBERS = {
    "none": (0, 0, 0),
    "tanh": (5, 0, 0),
    "soft_sign": (5, 0, 0),
    # A score of 0, as rows past the end have, is capped to a large exponent less
    # what the kernel leaves out: 30 * 0.88 / 0.105 log2(e) = 362.
    "alsc": (30, 4, 0.5),
}
# History lower and upper, candidates lower and upper, a batch each.
RANGES = numpy.array([[0, 5, 5, 9], [1, 3, 6, 11]], numpy.int32)
# cap, temp, element type, masks, q_offset, window, z_loss_weight, has_dlse, lengths
CASES = [
    ("none", None, "f16", (), 0, 0, 0.0, False, (9, 11)),
    ("tanh", "f32", "f16", ("causal",), 4, 0, 0.25, True, (9, 11)),
    ("soft_sign", "bf16", "bf16", ("causal", "window"), 2, 5, 0.0, True, (11, 9)),
    ("alsc", "f32", "bf16", (), 0, 0, 0.25, False, (9, 13)),
    ("alsc", None, "f16", ("segments",), 0, 0, 0.0, True, (7, 12)),
    # History and candidates, and rows of neither, which hold no numbers.
    ("tanh", "f32", "bf16", ("ranker",), 0, 0, 0.25, True, (12, 12)),
    ("alsc", None, "f16", ("ranker", "causal"), 0, 0, 0.0, True, (12, 12)),
    # Rows 0 to 2 see no key.
    ("none", "f32", "bf16", ("causal",), -3, 0, 0.25, True, (10, 9)),
    # No row sees a key.
    ("tanh", "f32", "bf16", ("causal",), -20, 0, 0.25, True, (10, 9)),
]


def is_dead(case, tokens):
    """Batch, row: in neither range."""
    row = numpy.arange(tokens)[None, :] + numpy.zeros((BATCH, 1), int)
    if "ranker" not in case[3]:
        return row < 0
    low, high, first, last = (RANGES[:, i : i + 1] for i in range(4))
    return ~((row >= low) & (row < high) | (row >= first) & (row < last))


def allowed_pairs(case, q_ids, kv_ids):
    """Batch, row, key."""
    _, _, _, masks, q_offset, window, _, _, (q_tokens, kv_tokens) = case
    row = numpy.arange(q_tokens)[:, None] + q_offset
    key = numpy.arange(kv_tokens)[None, :]
    allowed = numpy.ones((BATCH, q_tokens, kv_tokens), bool)
    if "causal" in masks:
        allowed &= row >= key
    if "window" in masks:
        allowed &= key > row - window
    if "ranker" in masks:
        assert q_offset == 0
        low, high, first, last = (RANGES[:, i, None, None] for i in range(4))
        q_history, kv_history = (row >= low) & (row < high), (key >= low) & (key < high)
        q_candidate, kv_candidate = (row >= first) & (row < last), (key >= first) & (key < last)
        own = q_candidate & kv_candidate & (row == key)
        allowed &= kv_history & (q_history | q_candidate) | own
    if "segments" in masks:
        allowed &= q_ids[:, :, None] == kv_ids[:, None, :]
    return allowed


def forward(case, numbers, allowed):
    """out and lse by the op's definition; rows without a key give 0 and -inf."""
    q, k, v, temp = (numbers[name] for name in ("q", "k", "v", "temp"))
    k, v = (numpy.repeat(x, HEADS // KV_HEADS, axis=2) for x in (k, v))
    scores = numpy.einsum("bihd,bjhd->bhij", q, k) * 0.125
    logits = attention_numpy.apply_cap(scores, case[0], *CAP_NUMBERS[case[0]])
    if temp is not None:
        logits = logits * temp[:, None, :, None]
    logits = numpy.where(allowed[:, None], logits, -numpy.inf)
    top = logits.max(axis=3, keepdims=True)
    top = numpy.where(numpy.isneginf(top), 0.0, top)
    weights = numpy.exp(logits - top)
    total = weights.sum(axis=3, keepdims=True)
    with numpy.errstate(divide="ignore"):
        lse = (top + numpy.log(total))[..., 0]
    out = numpy.einsum("bhij,bjhd->bihd", weights / numpy.where(total == 0, 1, total), v)
    return out, lse


def loss(case, numbers, allowed, dout, dlse):
    out, lse = forward(case, numbers, allowed)
    lse = numpy.where(numpy.isneginf(lse), 0.0, lse)
    total = (out * dout).sum() + float(numpy.float32(case[6])) / 2 * (lse**2).sum()
    return total + ((lse * dlse).sum() if dlse is not None else 0.0)


def central_differences(case, numbers, name, allowed, dout, dlse):
    array = numbers[name]
    wanted = numpy.zeros_like(array)
    for index in numpy.ndindex(array.shape):
        here = array[index]
        array[index] = here + STEP
        above = loss(case, numbers, allowed, dout, dlse)
        array[index] = here - STEP
        below = loss(case, numbers, allowed, dout, dlse)
        array[index] = here
        wanted[index] = (above - below) / (2 * STEP)
    return wanted


def draw(case, seed):
    random = numpy.random.default_rng(seed)
    _, temp, dtype, _, _, _, _, has_dlse, (q_tokens, kv_tokens) = case
    q_shape, kv_shape = (BATCH, q_tokens, HEADS, 64), (BATCH, kv_tokens, KV_HEADS, 64)
    given = {"q": 1.5 * random.standard_normal(q_shape)}
    given["k"], given["v"] = (random.standard_normal(kv_shape) for _ in range(2))
    given = {name: attention_numpy.round_to(x, dtype) for name, x in given.items()}
    given["temp"] = None
    if temp:
        given["temp"] = attention_numpy.round_to(random.standard_normal((BATCH, q_tokens)), temp)
    dout = attention_numpy.round_to(random.standard_normal(q_shape), dtype)
    dlse = None
    if has_dlse:
        dlse = random.standard_normal((BATCH, HEADS, q_tokens)).astype(numpy.float32)
    ids = [random.integers(0, 3, (BATCH, n)).astype(numpy.int32) for n in (q_tokens, kv_tokens)]
    return given, dout, dlse, ids


def variant_of(number, case):
    """Every case has two: kernels that add dq up, then deterministic ones, which
    give dtemp too."""
    cap, temp, dtype, masks, q_offset, window, weight, has_dlse, _ = case
    is_deterministic = number % 2 > 0
    has_dtemp = bool(temp) and is_deterministic
    results = ("dq", "dk", "dv", "dtemp") if has_dtemp else ("dq", "dk", "dv")
    return backward_variants.Variant(
        f"case{number}", 64, dtype, cap, temp, has_dlse, has_dtemp, weight, 0.125, masks, q_offset,
        window, results, is_deterministic
    )


def run(artifact, variant, inputs, scratch):
    """The emulator's results, by name."""
    command = ["uattn-run", artifact, "--device=emulator", "--schedules=2",
               f"--function={variant.name}"]
    for number, array in enumerate(inputs):
        numpy.save(scratch / f"in{number}.npy", array)
        command.append(f"--input={scratch / f'in{number}.npy'}")
    command += [f"--output={scratch / name}.npy" for name in variant.results]
    subprocess.run(command, check=True)
    return {name: numpy.load(scratch / f"{name}.npy") for name in variant.results}


def check(number, case, artifact, scratch):
    variant = variant_of(number, case)
    given, dout, dlse, ids = draw(case, number)
    allowed = allowed_pairs(case, *ids)
    numbers = {name: None if x is None else x.astype(numpy.float64) for name, x in given.items()}
    out, lse = forward(case, numbers, allowed)
    out, lse = attention_numpy.round_to(out, variant.dtype), lse.astype(numpy.float32)
    q_dead, kv_dead = (is_dead(case, tokens) for tokens in case[-1])
    dout_given, dlse_given = dout.copy(), None if dlse is None else dlse.copy()
    for array in (given["q"], given["temp"], out, dout_given):
        if array is not None:
            array[q_dead] = numpy.nan
    for array in (given["k"], given["v"]):
        array[kv_dead] = numpy.nan
    for array in (lse, dlse_given):
        if array is not None:
            array.transpose(0, 2, 1)[q_dead] = numpy.nan
    inputs = [given["q"], given["k"], given["v"], given["temp"]]
    inputs += [RANGES] if "ranker" in variant.masks else []
    inputs += ids if "segments" in variant.masks else []
    inputs += [out, lse, dout_given, dlse_given]
    found = run(artifact, variant, [x for x in inputs if x is not None], scratch)
    is_right = True
    for name in variant.results:
        wanted = central_differences(case, numbers, name[1:], allowed, dout, dlse)
        norm = numpy.linalg.norm(wanted)
        error = numpy.linalg.norm(found[name] - wanted) / (norm or 1.0)
        is_empty = ~allowed.any(axis=2 if name in ("dq", "dtemp") else 1)
        is_zero = not found[name][is_empty].any()
        is_ok = bool(error <= BOUNDS[variant.dtype]) and is_zero
        print(f"{variant.name} {name}: error {error:.2e}, norm {norm:.2e}, {is_empty.sum()} rows "
              f"without a pair{'' if is_zero else ' that are not 0'}: {'ok' if is_ok else 'WRONG'}")
        is_right &= is_ok
    return is_right


def main():
    scratch = pathlib.Path(sys.argv[2])
    for cap, numbers in CAP_NUMBERS.items():
        texts = ", ".join(f"{x:.1f} : f32" for x in numbers)
        backward_variants.CAPS[cap] = f'"{cap}", {texts}'
    cases = [case for case in CASES for _ in range(2)]
    text = "".join(backward_variants.function(variant_of(*pair)) for pair in enumerate(cases))
    artifact = scratch / "cases.uattn"
    command = ["uattn-compile", "-", "-o", artifact, "--ptxas=none"]
    subprocess.run(command, input=text, text=True, check=True)
    verdicts = [check(number, case, artifact, scratch) for number, case in enumerate(cases)]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
