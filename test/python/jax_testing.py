"""What the tests of uattn.jax share: cases, and the float64 reference beside.

The same tests run on the CPU and, with JAX_PLATFORMS=cuda, on a GPU.
SPDX-License-Identifier: Apache-2.0
"""

import attention_testing
import jax
import jax.numpy as jnp
import numpy as np
import uattn
from attention_testing import NAMES, SHORT, problem_of

# Bounds of relative errors against float64: (forward, gradients).
BOUNDS = {name: attention_testing.BOUNDS[SHORT[name]]
          for name in ("bfloat16", "float16")}


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


def named(values):
    pairs = zip(NAMES, values)
    return {name: np.asarray(x) for name, x in pairs if x is not None}


def forward_reference(values, **attributes):
    operands = named(values)
    return uattn.run_reference(problem_of(operands, **attributes), **operands)


def backward_reference(values, dout, dlse=None, **options):
    """Exact gradients, by name; of bf16 or f16 cotangents."""
    dlse = None if dlse is None else np.asarray(dlse)
    return attention_testing.backward_reference(
        named(values), np.asarray(dout), dlse, **options
    )


def error(found, wanted):
    """Relative, in the Frobenius norm; absolute where nothing is wanted."""
    return attention_testing.error(np.asarray(found).astype(np.float64), wanted)


def check_lse(test, found, wanted):
    attention_testing.check_lse(test, np.asarray(found).astype(np.float64), wanted)


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


class Case:
    """A case of attention_testing, its operands drawn."""

    def __init__(self, case):
        self.name, self.attributes = case.name, case.attributes
        q, k, v = draw(dtype=jnp.dtype(case.half), **case.sizes)
        temp = temperatures(q).astype(case.temp) if case.temp else None
        bounds = jnp.asarray(attention_testing.RANKER_BOUNDS, jnp.int32)
        ids = map(jnp.asarray, attention_testing.segment_ids())
        self.values = (q, k, v, temp, bounds if case.ranker else None,
                       *(ids if case.segments else (None, None)))


def cases():
    """Every operand and attribute of the op, once at least."""
    return [Case(case) for case in attention_testing.CASES]
