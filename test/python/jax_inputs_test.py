"""What uattn.jax.ranker_attention refuses, and how it says so.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
import uattn.jax
from jax_testing import draw, temperatures

attention = uattn.jax.ranker_attention
q, k, v = draw()
TEMP = temperatures(q)
Q_IDS, KV_IDS = jnp.zeros((2, 70), jnp.int32), jnp.zeros((2, 83), jnp.int32)


class BadInput(unittest.TestCase):
    def refuse(self, kind, message, *operands, **attributes):
        """In the same way outside and under jit."""
        with self.assertRaisesRegex(kind, message):
            attention(*operands, **attributes)
        traced = [i for i, x in enumerate(operands) if isinstance(x, jax.Array)]

        def run(*given):
            values = list(operands)
            for i, x in zip(traced, given):
                values[i] = x
            return attention(*values, **attributes)

        with self.assertRaisesRegex(kind, message):
            jax.jit(run)(*(operands[i] for i in traced))

    def test_dtypes(self):
        self.refuse(TypeError, "q has dtype float32: expected bfloat16 or float16",
                    q.astype(jnp.float32), k, v)
        self.refuse(TypeError, "v has dtype float16: expected bfloat16 as q",
                    q, k, v.astype(jnp.float16))
        self.refuse(TypeError, "temp has dtype int32: expected float32 or",
                    q, k, v, TEMP.astype(jnp.int32))
        self.refuse(TypeError, "bounds has dtype float32: expected int32",
                    q, k, v, None, jnp.zeros((2, 4)))
        self.refuse(TypeError, "kv_segment_ids has dtype uint32: expected int32",
                    q, k, v, None, None, Q_IDS, KV_IDS.astype(jnp.uint32))

    def test_ranks_and_sizes(self):
        self.refuse(ValueError, r"q has shape \(70, 4, 64\): expected rank 4",
                    q[0], k, v)
        self.refuse(ValueError, r"k has 1 in dimension 0 \(B\): expected 2, as q has",
                    q, k[:1], v)
        self.refuse(ValueError, r"v has 80 in dimension 1 \(KV\): expected 83, as k",
                    q, k, v[:, :80])
        self.refuse(ValueError, r"k has 32 in dimension 3 \(D\): expected 64, as q",
                    q, k[..., :32], v)
        self.refuse(ValueError, "q has 4 heads: expected a multiple of the 3 of k",
                    q, jnp.repeat(k, 3, 2)[:, :, :3], jnp.repeat(v, 3, 2)[:, :, :3])
        self.refuse(ValueError, r"temp has 83 in dimension 1 \(Q\): expected 70",
                    q, k, v, jnp.ones((2, 83)))
        self.refuse(ValueError, r"bounds has 5 in dimension 1 \(4\): expected 4",
                    q, k, v, None, jnp.zeros((2, 5), jnp.int32))
        self.refuse(ValueError, "expected no empty dimension", q[:, :0], k, v)
        self.refuse(ValueError, "head_dim 72 is not supported|head_dim is 72",
                    *draw(head_dim=72))
        self.refuse(ValueError, "head_dim", *draw(head_dim=320))

    def test_absent_operands(self):
        self.refuse(TypeError, "kv_segment_ids is None: expected both",
                    q, k, v, None, None, Q_IDS)
        self.refuse(TypeError, "k is a NoneType: expected a jax array", q, None, v)
        self.refuse(TypeError, "q is a list: expected a jax array", [1.0], k, v)

    def test_attributes(self):
        self.refuse(TypeError, "sm_scale is '1': expected a number", q, k, v,
                    sm_scale="1")
        self.refuse(ValueError, "sm_scale", q, k, v, sm_scale=float("inf"))
        self.refuse(ValueError, "window_len is 0: expected 1 or more", q, k, v,
                    window_len=0)
        self.refuse(TypeError, "causal is 1: expected True or False", q, k, v,
                    causal=1)
        self.refuse(TypeError, "cap is 'tanh': expected a uattn.Cap", q, k, v,
                    cap="tanh")
        self.refuse(ValueError, "z_loss_weight", q, k, v, z_loss_weight=float("nan"))
        self.refuse(TypeError, "deterministic is None", q, k, v, deterministic=None)

    def test_traced_attribute(self):
        with self.assertRaisesRegex(TypeError, "sm_scale is .*: expected a number"):
            jax.jit(lambda s: attention(q, k, v, sm_scale=s))(0.5)

    def test_symbolic_sizes(self):
        from jax import export

        shape = export.symbolic_shape("b, 70, 4, 64")
        spec = [jax.ShapeDtypeStruct(shape, jnp.bfloat16)] * 3
        with self.assertRaisesRegex(TypeError, "q has the symbolic size b"):
            export.export(jax.jit(attention))(*spec)

    def test_numbers_of_numpy(self):
        out, _ = attention(np.asarray(q), np.asarray(k), v, sm_scale=np.float32(0.5),
                           window_len=np.int64(9))
        again, _ = attention(q, k, v, sm_scale=0.5, window_len=9)
        self.assertTrue(bool(jnp.array_equal(out, again)))

    def test_short_integers(self):
        bounds = jnp.asarray([[0, 60, 60, 70]] * 2)
        wide, _ = attention(q, k, v, bounds=bounds)
        short, _ = attention(q, k, v, bounds=bounds.astype(jnp.int8))
        self.assertTrue(bool(jnp.array_equal(wide, short)))

    def test_wrong_attributes_of_a_custom_call(self):
        """The handler checks what no caller of the package can get wrong."""
        shape = jax.ShapeDtypeStruct(q.shape, q.dtype)
        call = jax.ffi.ffi_call("uattn.ranker_attention", shape)
        attribute = {"cpu": "operandSegmentSizes is", "gpu": "artifact is missing"}
        wanted = f"attribute {attribute[jax.default_backend()]}"
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, wanted):
            jax.block_until_ready(call(q, k, v, causal=np.bool_(True)))


if __name__ == "__main__":
    unittest.main()
