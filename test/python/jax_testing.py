"""What the tests of uattn.jax share: cases, and the float64 reference beside.

The same tests run on the CPU and, with JAX_PLATFORMS=cuda, on a GPU.
SPDX-License-Identifier: Apache-2.0
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import uattn

# Bounds of relative errors against float64: (forward, gradients).
BOUNDS = {"bfloat16": (5e-3, 1.2e-2), "float16": (1e-3, 3e-3)}
NAMES = ("q", "k", "v", "temp", "bounds", "q_segment_ids", "kv_segment_ids")


def normal(seed, shape, dtype=jnp.bfloat16):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32).astype(dtype)


def draw(batch=2, q_tokens=70, kv_tokens=83, heads=4, kv_heads=2, head_dim=64,
         dtype=jnp.bfloat16, seed=0):
    """q, k, v."""
    q = normal(seed, (batch, q_tokens, heads, head_dim), dtype)
    k, v = (normal(seed + i, (batch, kv_tokens, kv_heads, head_dim), dtype)
            for i in (1, 2))
    return q, k, v


def temperatures(q, seed=7):
    return 1 + 0.3 * normal(seed, q.shape[:2], jnp.float32)


def problem_of(operands, **attributes):
    """The forward problem of operands by name."""
    q, temp = operands["q"], operands.get("temp")
    short = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}
    return uattn.Problem(
        head_dim=q.shape[3],
        dtype=short[q.dtype.name],
        temp=None if temp is None else short[temp.dtype.name],
        bounds="bounds" in operands,
        segment_ids="q_segment_ids" in operands,
        lse=True,
        **attributes,
    )


def named(values):
    pairs = zip(NAMES, values)
    return {name: np.asarray(x) for name, x in pairs if x is not None}


def forward_reference(values, **attributes):
    operands = named(values)
    return uattn.run_reference(problem_of(operands, **attributes), **operands)


def backward_reference(values, dout, dlse=None, z_loss_weight=0.0, **attributes):
    """Exact gradients, by name; of bf16 or f16 cotangents."""
    operands = named(values)
    forward = problem_of(operands, **attributes)
    found = uattn.run_reference(forward, **operands)
    half = operands["q"].dtype
    problem = forward.backward(
        dlse=dlse is not None,
        dtemp="temp" in operands,
        z_loss_weight=z_loss_weight,
    )
    more = {"out": found["out"].astype(half), "lse": found["lse"].astype(np.float32),
            "dout": np.asarray(dout)}
    if dlse is not None:
        more["dlse"] = np.asarray(dlse)
    return uattn.run_reference(problem, **operands, **more)


def error(found, wanted):
    """Relative, in the Frobenius norm; absolute where nothing is wanted."""
    found = np.asarray(found).astype(np.float64)
    norm = np.linalg.norm(wanted)
    return np.linalg.norm(found - wanted) / (norm or 1e-6 / 1e-2)


def check_lse(test, found, wanted):
    found = np.asarray(found).astype(np.float64)
    test.assertTrue(np.array_equal(np.isneginf(found), np.isneginf(wanted)))
    live = ~np.isneginf(wanted)
    off = np.abs(found[live] - wanted[live])
    test.assertLess(np.max(off - 1e-3 * np.abs(wanted[live]), initial=0), 2e-3)


def check_forward(test, values, found, **attributes):
    wanted = forward_reference(values, **attributes)
    bound = BOUNDS[values[0].dtype.name][0]
    test.assertLess(error(found[0], wanted["out"]), bound)
    check_lse(test, found[1], wanted["lse"])


def check_gradients(test, values, found, dout, **options):
    """`found` by name: dq, dk, dv, dtemp."""
    wanted = backward_reference(values, dout, **options)
    bound = BOUNDS[values[0].dtype.name][1]
    for name, gradient in found.items():
        test.assertLess(error(gradient, wanted[name]), bound, name)


@dataclasses.dataclass(frozen=True)
class Case:
    """Operands by drawing, and attributes."""

    name: str
    values: tuple
    attributes: dict


def cases():
    """Every operand and attribute of the op, once at least."""
    q, k, v = draw()
    ids = [jnp.asarray(np.sort(np.random.default_rng(i).integers(0, 3, (2, n))),
                       jnp.int32) for i, n in enumerate((70, 83))]
    ranker = jnp.asarray([[3, 50, 50, 66], [0, 20, 30, 70]], jnp.int32)
    half = draw(dtype=jnp.float16, head_dim=128, heads=2, kv_heads=1, seed=20)
    temp = temperatures(q)
    return [
        Case("dense", (q, k, v), {}),
        Case("causal", (q, k, v), {"causal": True, "q_offset": 13}),
        Case("window", (q, k, v), {"window_len": 17, "q_offset": 5}),
        Case("tanh_temp", (q, k, v, temp), {"cap": uattn.Cap("tanh", 3.0)}),
        Case("soft_sign", (q, k, v, temp.astype(jnp.bfloat16)),
             {"cap": uattn.Cap("soft_sign", 5.0), "sm_scale": 0.2}),
        Case("alsc", (q, k, v), {"cap": uattn.Cap("alsc", 30.0, 3.0, 0.5)}),
        Case("ranker", (q, k, v, temp, ranker), {}),
        Case("segments", (q, k, v, None, None, *ids), {"causal": True}),
        Case("all_masks", (q, k, v, temp, ranker, *ids),
             {"causal": True, "window_len": 40}),
        Case("float16_mqa", half, {"cap": uattn.Cap("tanh", 20.0)}),
    ]
