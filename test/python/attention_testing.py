"""What the tests of all frameworks share: cases of the op, the float64 reference
beside, and the bounds of errors. Knows numpy alone.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses

import numpy as np
import uattn

# Bounds of relative errors against float64: (forward, gradients). float32 is of
# the CPU alone.
BOUNDS = {"bf16": (5e-3, 1.2e-2), "f16": (1e-3, 3e-3), "f32": (1e-5, 1e-5)}
NAMES = ("q", "k", "v", "temp", "bounds", "q_segment_ids", "kv_segment_ids")
SHORT = {"bfloat16": "bf16", "uint16": "bf16", "float16": "f16", "float32": "f32"}


@dataclasses.dataclass(frozen=True)
class Case:
    """What to draw, and attributes; `sizes` and `half` where they are not the
    usual ones."""

    name: str
    attributes: dict
    temp: str | None = None
    ranker: bool = False
    segments: bool = False
    half: str = "bfloat16"
    sizes: dict = dataclasses.field(default_factory=dict)


# Every operand and attribute of the op, once at least.
CASES = [
    Case("dense", {}),
    Case("causal", {"causal": True, "q_offset": 13}),
    Case("window", {"window_len": 17, "q_offset": 5}),
    Case("tanh_temp", {"cap": uattn.Cap("tanh", 3.0)}, temp="float32"),
    Case("soft_sign", {"cap": uattn.Cap("soft_sign", 5.0), "sm_scale": 0.2},
         temp="bfloat16"),
    Case("alsc", {"cap": uattn.Cap("alsc", 30.0, 3.0, 0.5)}),
    Case("ranker", {}, temp="float32", ranker=True),
    Case("segments", {"causal": True}, segments=True),
    Case("all_masks", {"causal": True, "window_len": 40}, temp="float32",
         ranker=True, segments=True),
    Case("float16_mqa", {"cap": uattn.Cap("tanh", 20.0)}, half="float16",
         sizes={"head_dim": 128, "heads": 2, "kv_heads": 1, "seed": 20}),
]
# Of a batch of 2, with 70 rows and 83 keys.
RANKER_BOUNDS = [[3, 50, 50, 66], [0, 20, 30, 70]]


def segment_ids():
    """Those of rows and of keys."""
    return [np.sort(np.random.default_rng(i).integers(0, 3, (2, n))).astype(np.int32)
            for i, n in enumerate((70, 83))]


def problem_of(operands, **attributes):
    """The forward problem of operands by name; numpy's uint16 is bf16."""
    q, temp = operands["q"], operands.get("temp")
    return uattn.Problem(
        head_dim=q.shape[3],
        dtype=SHORT[q.dtype.name],
        temp=None if temp is None else SHORT[temp.dtype.name],
        bounds="bounds" in operands,
        segment_ids="q_segment_ids" in operands,
        lse=True,
        **attributes,
    )


def backward_reference(operands, dout, dlse=None, z_loss_weight=0.0, **attributes):
    """Exact gradients, by name; of bf16 or f16 cotangents."""
    forward = problem_of(operands, **attributes)
    found = uattn.run_reference(forward, **operands)
    problem = forward.backward(
        dlse=dlse is not None,
        dtemp="temp" in operands,
        z_loss_weight=z_loss_weight,
    )
    is_bf16 = forward.dtype == "bf16"
    out = uattn.to_bf16(found["out"]) if is_bf16 else found["out"].astype(np.float16)
    more = {"out": out, "lse": found["lse"].astype(np.float32), "dout": dout}
    if dlse is not None:
        more["dlse"] = dlse
    return uattn.run_reference(problem, **operands, **more)


def error(found, wanted):
    """Relative, in the Frobenius norm; absolute where nothing is wanted."""
    norm = np.linalg.norm(wanted)
    return np.linalg.norm(found - wanted) / (norm or 1e-6 / 1e-2)


def check_lse(test, found, wanted):
    test.assertTrue(np.array_equal(np.isneginf(found), np.isneginf(wanted)))
    live = ~np.isneginf(wanted)
    off = np.abs(found[live] - wanted[live])
    test.assertLess(np.max(off - 1e-3 * np.abs(wanted[live]), initial=0), 2e-3)
