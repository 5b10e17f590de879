"""uattn.jax.unified_attention: the established signature, bounds from segment
ids, a training step.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
import uattn.jax
from jax_testing import check_gradients, draw, error, forward_reference, normal, \
    temperatures
from uattn.jax import CapParams, KernelConfig, unified_attention

TOKENS = 70
# history, candidates, padding; padding before; candidates alone; padding alone.
IDS = np.zeros((4, TOKENS), np.int32)
IDS[0, :40], IDS[0, 40:60] = 1, -1
IDS[1, 10:50], IDS[1, 50:] = 1, -1
IDS[2, 3:20] = -1
BOUNDS = np.array([[0, 40, 40, 60], [10, 50, 50, 70], [0, 0, 3, 20], [0, 0, 0, 0]],
                  np.int32)


def inputs():
    q, k, v = draw(4, TOKENS, TOKENS)
    return q, k, v, temperatures(q)


class Unified(unittest.TestCase):
    def test_bounds_of_segment_ids(self):
        for run in (uattn.jax.bounds_from_segment_ids,
                    jax.jit(uattn.jax.bounds_from_segment_ids)):
            found = run(jnp.asarray(IDS))
            self.assertEqual(found.dtype, jnp.int32)
            np.testing.assert_array_equal(found, BOUNDS)
        np.testing.assert_array_equal(
            uattn.jax.bounds_from_segment_ids(IDS.astype(np.int8)), BOUNDS)

    def test_holes_belong_to_the_bounds_under_jit(self):
        ids = jnp.asarray([[1, 0, 1, -1]])
        found = jax.jit(uattn.jax.bounds_from_segment_ids)(ids)
        np.testing.assert_array_equal(found, [[0, 3, 3, 4]])
        with self.assertRaisesRegex(
                ValueError, r"segment_ids\[0, 1\] is 0 between history ids"):
            uattn.jax.bounds_from_segment_ids(ids)

    def test_unknown_ids(self):
        with self.assertRaisesRegex(ValueError, r"segment_ids\[1, 2\] is 2: expected"):
            uattn.jax.check_segment_ids(jnp.asarray([[0, 0, 0], [1, 1, 2]]))

    def check(self, config, attributes, temp_rank=2):
        q, k, v, temp = inputs()
        given = temp[..., None] if temp_rank == 3 else temp
        ids = jnp.asarray(IDS)
        values = (q, k, v, temp, jnp.asarray(BOUNDS))
        for run in (unified_attention, jax.jit(unified_attention,
                                               static_argnums=5)):
            out = run(q, k, v, given, ids, config)
            wanted = forward_reference(values, **attributes)
            self.assertLess(error(out, wanted["out"]), 5e-3)

    def test_caps(self):
        params = CapParams(30.0, 3.0, 0.5)
        caps = {
            "none": uattn.Cap(),
            "tanh": uattn.Cap("tanh", 30.0),
            "soft_sign": uattn.Cap("soft_sign", 30.0),
            "alsc": uattn.Cap("alsc", 30.0, 3.0, 0.5),
        }
        for method, cap in caps.items():
            with self.subTest(method):
                self.check(KernelConfig(cap_method=method, cap_params=params),
                           {"cap": cap})

    def test_masks_scale_and_column_of_temperatures(self):
        config = KernelConfig(causal=True, window_len=30, sm_scale=0.2, block_q=64,
                              block_kv=128, block_q_bwd=64, block_kv_bwd=64)
        self.check(config, {"causal": True, "window_len": 30, "sm_scale": 0.2}, 3)

    def test_nothing_optional(self):
        q, k, v, _ = inputs()
        out = unified_attention(q, k, v, None, None)
        self.assertLess(error(out, forward_reference((q, k, v))["out"]), 5e-3)

    def test_gradients(self):
        q, k, v, temp = inputs()
        config = KernelConfig(z_loss_weight=0.2, cap_method="tanh",
                              cap_params=CapParams(20.0))
        dout = normal(9, q.shape)

        @jax.jit
        def pull_back(q, k, v, temp, ids):
            _, pull = jax.vjp(
                lambda *x: unified_attention(*x, ids, config), q, k, v, temp)
            return pull(dout)

        found = pull_back(q, k, v, temp[..., None], jnp.asarray(IDS))
        self.assertEqual(found[3].shape, (4, TOKENS, 1))
        named = dict(zip(("dq", "dk", "dv"), found), dtemp=found[3][..., 0])
        check_gradients(self, (q, k, v, temp, jnp.asarray(BOUNDS)), named, dout,
                        cap=uattn.Cap("tanh", 20.0), z_loss_weight=0.2)

    def test_training_step_lowers_the_loss(self):
        q, k, v, _ = inputs()
        ids = jnp.asarray(IDS)
        target = normal(5, q.shape).astype(jnp.float32)
        weights = {"scale": jnp.ones((64,)), "temp": jnp.ones((4, TOKENS))}

        def loss(weights):
            scaled = (v * weights["scale"]).astype(v.dtype)
            out = unified_attention(q, k, scaled, weights["temp"], ids)
            return jnp.mean((out.astype(jnp.float32) - target) ** 2)

        step = jax.jit(jax.value_and_grad(loss))
        losses = []
        for _ in range(5):
            value, gradient = step(weights)
            losses.append(float(value))
            weights = jax.tree.map(lambda w, g: w - 20 * g, weights, gradient)
        self.assertEqual(losses, sorted(losses, reverse=True))


class BadInput(unittest.TestCase):
    def test_config(self):
        for wrong, message in (
                ({"cap_method": "relu"}, "cap_method is 'relu': expected none, tanh"),
                ({"block_q": 0}, "block_q is 0: expected 1 or more"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                KernelConfig(**wrong)
        for wrong, message in (
                ({"cap_params": (1, 2, 3)}, "expected uattn.jax.CapParams"),
                ({"window_len": 2.5}, "window_len is 2.5: expected an int or None"),
        ):
            with self.assertRaisesRegex(TypeError, message):
                KernelConfig(**wrong)
        q, k, v, temp = inputs()
        with self.assertRaisesRegex(TypeError, "expected a uattn.jax.KernelConfig"):
            unified_attention(q, k, v, temp, None, {"causal": True})
        with self.assertRaisesRegex(ValueError, "cap tanh has cap 0: expected"):
            unified_attention(q, k, v, temp, None, KernelConfig(cap_method="tanh"))
        with self.assertRaisesRegex(ValueError, "window_len is -3: expected"):
            unified_attention(q, k, v, temp, None, KernelConfig(window_len=-3))

    def test_segment_ids(self):
        q, k, v, temp = inputs()
        for ids, kind, message in (
                (np.zeros((4, 60), np.int32), ValueError,
                 r"segment_ids has shape \(4, 60\): expected \(4, 70\), as q"),
                (np.zeros((4,), np.int32), ValueError, "expected rank 2"),
                (np.zeros((4, 0), np.int32), ValueError, "expected no empty dimension"),
                (np.zeros((4, 70), np.float32), TypeError,
                 "segment_ids has dtype float32"),
                ([[0]], TypeError, "segment_ids is a list: expected a jax array"),
        ):
            with self.assertRaisesRegex(kind, message):
                unified_attention(q, k, v, temp, ids)
        with self.assertRaisesRegex(ValueError, r"expected \(4, 70\), as k has"):
            unified_attention(q[:, :60], k, v, None, np.zeros((4, 60), np.int32))

    def test_temp(self):
        q, k, v, temp = inputs()
        with self.assertRaisesRegex(ValueError, r"expected \(B, Q\) or \(B, Q, 1\)"):
            unified_attention(q, k, v, jnp.ones((4, TOKENS, 2)), None)


if __name__ == "__main__":
    unittest.main()
