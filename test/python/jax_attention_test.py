"""uattn.jax.ranker_attention against float64: results, gradients,
transformations.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
import uattn.jax
from jax_testing import (
    cases, check_forward, check_gradients, check_lse, draw, error,
    forward_reference, normal, temperatures,
)

attention = uattn.jax.ranker_attention
OPERANDS = ("q", "k", "v", "temp")


def pull_back(values, attributes, dout, dlse=None):
    """Gradients by name, of those of q, k, v and temp that are there."""
    count = 4 if len(values) > 3 and values[3] is not None else 3

    def run(*inputs):
        return attention(*inputs, *values[count:], **attributes)

    (out, lse), pull = jax.vjp(run, *values[:count])
    gradients = pull((dout, jnp.zeros_like(lse) if dlse is None else dlse))
    return (out, lse), {f"d{name}": x for name, x in zip(OPERANDS, gradients)}


class Values(unittest.TestCase):
    def test_forward(self):
        for case in cases():
            with self.subTest(case.name):
                found = attention(*case.values, **case.attributes)
                check_forward(self, case.values, found, **case.attributes)
                self.assertEqual(found[0].dtype, case.values[0].dtype)

    def test_gradients(self):
        for case in cases():
            with self.subTest(case.name):
                q = case.values[0]
                dout = normal(9, q.shape, q.dtype)
                dlse = normal(10, (q.shape[0], q.shape[2], q.shape[1]), jnp.float32)
                _, found = pull_back(case.values, case.attributes, dout, dlse)
                check_gradients(self, case.values, found, dout, dlse=dlse,
                                **case.attributes)
                if "dtemp" in found:
                    self.assertEqual(found["dtemp"].dtype, case.values[3].dtype)

    def test_loss_of_out_alone(self):
        """No dlse operand is made up for a loss that has no lse."""
        q, k, v = draw()

        def loss(q, k, v):
            return jnp.sum(attention(q, k, v)[0].astype(jnp.float32) ** 2)

        jaxpr = str(jax.make_jaxpr(jax.grad(loss, (0, 1, 2)))(q, k, v))
        self.assertIn("uattn_ranker_attention_bwd", jaxpr)
        self.assertNotIn("dlse=True", jaxpr)
        gradients = jax.grad(loss, (0, 1, 2))(q, k, v)
        dout = 2 * attention(q, k, v)[0]
        check_gradients(self, (q, k, v), dict(zip(("dq", "dk", "dv"), gradients)),
                        dout)

    def test_temp_gradient_is_computed_where_it_is_wanted(self):
        q, k, v = draw()
        temp = temperatures(q)

        def loss(q, temp):
            return jnp.sum(attention(q, k, v, temp)[0].astype(jnp.float32))

        one = str(jax.make_jaxpr(jax.grad(loss, 0))(q, temp))
        both = str(jax.make_jaxpr(jax.grad(loss, (0, 1)))(q, temp))
        self.assertNotIn("dtemp=True", one)
        self.assertIn("dtemp=True", both)

    def test_z_loss_enters_gradients(self):
        q, k, v = draw()
        temp, dout = temperatures(q), normal(9, q.shape)
        weight = 0.5
        _, found = pull_back((q, k, v, temp), {"z_loss_weight": weight}, dout)
        check_gradients(self, (q, k, v, temp), found, dout, z_loss_weight=weight)
        _, without = pull_back((q, k, v, temp), {}, dout)
        self.assertGreater(error(without["dtemp"], np.asarray(found["dtemp"])), 0.1)

    def test_rows_that_see_no_key(self):
        q, k, v = draw()
        bounds = jnp.asarray([[0, 0, 0, 0], [5, 9, 9, 20]], jnp.int32)
        out, lse = attention(q, k, v, bounds=bounds)
        self.assertEqual(float(jnp.max(jnp.abs(out[0].astype(jnp.float32)))), 0)
        self.assertTrue(bool(jnp.all(jnp.isneginf(lse[0]))))
        _, found = pull_back((q, k, v, None, bounds), {}, normal(9, q.shape))
        for gradient in found.values():
            self.assertEqual(float(jnp.sum(jnp.abs(gradient[0].astype(jnp.float32)))),
                             0)
            self.assertTrue(bool(jnp.all(jnp.isfinite(gradient))))

    def test_deterministic_gradients_are_equal(self):
        q, k, v = draw()
        dout = normal(9, q.shape)
        runs = [pull_back((q, k, v), {"deterministic": True}, dout)[1]
                for _ in range(2)]
        for name, first in runs[0].items():
            self.assertTrue(bool(jnp.array_equal(first, runs[1][name])), name)


class Transformations(unittest.TestCase):
    def setUp(self):
        self.values = draw()
        self.dout = normal(9, self.values[0].shape)

    def loss(self, q, k, v):
        out, _ = attention(q, k, v, causal=True)
        return jnp.sum((out * self.dout).astype(jnp.float32))

    def check(self, gradients):
        check_gradients(self, self.values, dict(zip(("dq", "dk", "dv"), gradients)),
                        self.dout, causal=True)

    def test_jit(self):
        self.check(jax.jit(jax.grad(self.loss, (0, 1, 2)))(*self.values))

    def test_jit_that_is_switched_off(self):
        with jax.disable_jit():
            found = attention(*self.values)
        check_forward(self, self.values, found)

    def test_remat(self):
        rerun = jax.checkpoint(self.loss)
        step = jax.jit(jax.value_and_grad(rerun, (0, 1, 2)))
        self.check(step(*self.values)[1])
        text = str(jax.make_jaxpr(step)(*self.values))
        self.assertEqual(text.count("uattn_ranker_attention["), 2)

    def test_scan_over_layers(self):
        q, k, v = self.values
        stacked = [jnp.stack([x, x + 1]) for x in (k, v)]

        def layer(x, kv):
            return attention(x, *kv)[0], None

        found, _ = jax.jit(lambda q: jax.lax.scan(layer, q, tuple(stacked)))(q)
        first = attention(q, stacked[0][0], stacked[1][0])[0]
        wanted = forward_reference((first, stacked[0][1], stacked[1][1]))
        self.assertLess(error(found, wanted["out"]), 5e-3)

    def test_vmap(self):
        """Over operands on different axes, and one that is not mapped."""
        batches = [draw(seed=10 * i) for i in range(3)]
        q = jnp.stack([b[0] for b in batches], axis=1)
        v = jnp.stack([b[2] for b in batches], axis=-1)
        k = self.values[1]
        out, lse = jax.vmap(attention, in_axes=(1, None, -1))(q, k, v)
        for i, (one_q, _, one_v) in enumerate(batches):
            check_forward(self, (one_q, k, one_v), (out[i], lse[i]))

    def test_vmap_of_grad(self):
        stacked = [jnp.stack([x, x]) for x in self.values]
        gradients = jax.vmap(jax.grad(self.loss, (0, 1, 2)))(*stacked)
        for i in range(2):
            self.check([x[i] for x in gradients])

    def test_no_forward_mode(self):
        with self.assertRaisesRegex(TypeError, "forward-mode"):
            jax.jvp(attention, self.values, self.values)

    def test_exported_module_runs(self):
        from jax import export

        run = jax.jit(attention)
        exported = export.export(
            run, disabled_checks=[
                export.DisabledSafetyCheck.custom_call("uattn.ranker_attention")
            ]
        )(*self.values)
        check_forward(self, self.values, exported.call(*self.values))


if __name__ == "__main__":
    unittest.main()
