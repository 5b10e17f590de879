"""uattn.jax on 8 virtual CPU devices: batch and heads split by shard_map and by
Shardy's rule, keys split by context parallelism.

SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import unittest

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import uattn.jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jax_testing import (
    check_forward, check_gradients, draw, normal, temperatures,
)

attention = uattn.jax.ranker_attention
BATCH, HEADS = 4, 4
BOUNDS = jnp.asarray([[0, 40, 40, 64], [3, 20, 30, 50], [0, 0, 0, 64], [5, 64, 0, 5]],
                     jnp.int32)
COLLECTIVE = re.compile(r"(all-gather|all-to-all|collective-permute)\(")


def make_mesh(batch, heads, kind=AxisType.Auto):
    return jax.make_mesh((batch, heads), ("data", "heads"), axis_types=(kind,) * 2)


def gradients_of(run, dout):
    """A function to (out, lse) and gradients of all its arguments."""

    def apply(*operands):
        results, pull = jax.vjp(run, *operands)
        return results, pull((dout, jnp.zeros_like(results[1])))

    return apply


class Partitioned(unittest.TestCase):
    """jit over a mesh: the op's own rule splits it."""

    def check(self, mesh, kv_heads, specs):
        q, k, v = draw(BATCH, 64, 64, HEADS, kv_heads)
        values, dout = (q, k, v, temperatures(q)), normal(9, q.shape)
        shardings = [NamedSharding(mesh, spec) for spec in specs]
        placed = [jax.device_put(x, s) for x, s in zip(values, shardings)]

        def run(q, k, v, temp):
            return attention(q, k, v, temp, BOUNDS, cap=uattn.Cap("tanh", 5.0))

        step = jax.jit(gradients_of(run, dout))
        compiled = step.lower(*placed).compile()
        results, gradients = compiled(*placed)
        attributes = {"cap": uattn.Cap("tanh", 5.0)}
        whole = (*values, BOUNDS)
        check_forward(self, whole, results, **attributes)
        names = ("dq", "dk", "dv", "dtemp")
        check_gradients(self, whole, dict(zip(names, gradients)), dout, **attributes)
        return compiled.as_text(), results

    def test_batch_and_heads(self):
        mesh = make_mesh(4, 2)
        spec = P("data", None, "heads", None)
        text, (out, lse) = self.check(mesh, 2, [spec, spec, spec, P("data", None)])
        self.assertIsNone(COLLECTIVE.search(text))
        self.assertEqual(out.sharding.shard_shape(out.shape), (1, 64, 2, 64))
        self.assertEqual(lse.sharding.shard_shape(lse.shape), (1, 2, 64))

    def test_keys_follow_the_queries_of_their_group(self):
        """Shardy learns from q's sharding how to split what nobody placed."""
        mesh = jax.make_mesh((2, 2), ("data", "heads"), devices=jax.devices()[:4],
                             axis_types=(AxisType.Auto,) * 2)
        q, k, v = draw(BATCH, 64, 64, HEADS, 2)
        q = jax.device_put(q, NamedSharding(mesh, P("data", None, "heads", None)))

        @jax.jit
        def run(q, k, v):
            return attention(q, k * 2, v)

        compiled = run.lower(q, k, v).compile()
        self.assertIn("bf16[2,64,1,64]", compiled.as_text())
        self.assertIsNone(COLLECTIVE.search(compiled.as_text()))
        check_forward(self, (q, k * 2, v), compiled(q, k, v))

    def test_heads_of_one_kv_head(self):
        """k and v stay whole, their gradients are summed over devices."""
        mesh = make_mesh(2, 4)
        q, kv = P("data", None, "heads", None), P("data", None, None, None)
        text, (out, _) = self.check(mesh, 1, [q, kv, kv, P("data", None)])
        self.assertIsNone(COLLECTIVE.search(text))
        self.assertIn("all-reduce", text)
        self.assertEqual(out.sharding.shard_shape(out.shape), (2, 64, 1, 64))

    def test_more_devices_than_kv_heads(self):
        """Groups of heads are not split: heads come together, batches stay."""
        mesh = make_mesh(2, 4)
        q, kv = P("data", None, "heads", None), P("data", None, None, None)
        _, (out, _) = self.check(mesh, 2, [q, kv, kv, P("data", None)])
        self.assertEqual(out.sharding.shard_shape(out.shape)[0], 2)

    def test_tokens_come_together(self):
        mesh = make_mesh(4, 2)
        q, kv = P("data", "heads", None, None), P("data", "heads", None, None)
        self.check(mesh, 2, [q, kv, kv, P("data", "heads")])

    def test_replicated(self):
        self.check(make_mesh(4, 2), 2, [P()] * 4)

    def test_explicit_axes(self):
        mesh = make_mesh(4, 2, AxisType.Explicit)
        spec = P("data", None, "heads", None)
        with jax.set_mesh(mesh):
            q, k, v = (jax.device_put(x, spec)
                       for x in draw(BATCH, 64, 64, HEADS, 2))
            out, lse = jax.jit(attention)(q, k, v)
        self.assertEqual(jax.typeof(out).sharding.spec, spec)
        check_forward(self, [np.asarray(x) for x in (q, k, v)], (out, lse))


class MixedDevices(unittest.TestCase):
    def test_operands_on_several_devices(self):
        q, k, v = draw()
        q, k = (jax.device_put(x, jax.devices()[i]) for i, x in enumerate((q, k)))
        with self.assertRaisesRegex(ValueError, "k is on .*1: expected .*0, where q is"):
            attention(q, k, v)
        k = jax.device_put(k, jax.devices()[0])
        check_forward(self, (q, k, v), attention(q, k, v))


class OtherMeshes(unittest.TestCase):
    """Where JAX's partitioner is not asked, results are right all the same."""

    def check(self, run, *operands):
        check_forward(self, [np.asarray(x) for x in operands], run(*operands))

    def test_set_mesh_and_operands_that_nobody_placed(self):
        for kv_heads in (1, 2):
            q, k, v = draw(8, 16, 16, HEADS, kv_heads)
            for kind in (AxisType.Auto, AxisType.Explicit):
                with jax.set_mesh(jax.make_mesh((8,), ("data",), axis_types=(kind,))):
                    self.check(jax.jit(attention), q, k, v)
                    self.check(attention, q, k, v)

    def test_constraint_under_set_mesh(self):
        q, k, v = draw(8, 16, 16, HEADS, 2)
        with jax.set_mesh(make_mesh(4, 2)):
            self.check(jax.jit(lambda q, k, v: attention(
                jax.lax.with_sharding_constraint(q, P("data")), k, v)), q, k, v)

    def test_shard_map_over_some_axes(self):
        for axis in ("data", "heads"):
            q, k, v = draw(8, 16, 16, HEADS, 2)
            spec = P("data") if axis == "data" else P(None, None, "heads")
            lse = P("data") if axis == "data" else P(None, "heads")
            self.check(jax.jit(jax.shard_map(
                attention, mesh=make_mesh(4, 2), in_specs=spec,
                out_specs=(spec, lse), axis_names={axis})), q, k, v)

    def test_shard_map_outside_jit(self):
        q, k, v = draw(8, 16, 16, HEADS, 2)
        run = jax.shard_map(attention, mesh=make_mesh(4, 2), in_specs=P("data"),
                            out_specs=(P("data"), P("data")))
        self.check(run, q, k, v)
        dout = normal(9, q.shape)
        _, gradients = gradients_of(run, dout)(q, k, v)
        check_gradients(self, (q, k, v), dict(zip(("dq", "dk", "dv"), gradients)), dout)

    def test_export_of_a_sharded_function(self):
        from jax import export

        q, k, v = draw(8, 16, 16, HEADS, 2)
        sharding = NamedSharding(make_mesh(4, 2), P("data"))
        run = jax.jit(attention, in_shardings=(sharding,) * 3)
        checks = [export.DisabledSafetyCheck.custom_call("uattn.ranker_attention")]
        exported = export.export(run, disabled_checks=checks)(q, k, v)
        placed = [jax.device_put(x, sharding) for x in (q, k, v)]
        self.check(jax.jit(exported.call), *placed)

    def test_mapped_axis_beside_a_split_batch(self):
        """The batch stays split, and nothing is gathered."""
        for kind in (AxisType.Auto, AxisType.Explicit):
            mesh = make_mesh(4, 2, kind)
            sharding = NamedSharding(mesh, P(None, "data", None, "heads"))
            stacked = [jnp.stack([x, x + 1, x]) for x in draw(8, 16, 16, HEADS, 2)]
            with jax.set_mesh(mesh):
                placed = [jax.device_put(x, sharding) for x in stacked]
                run = jax.jit(jax.vmap(attention))
                compiled = run.lower(*placed).compile()
                out, lse = compiled(*placed)
            self.assertIsNone(COLLECTIVE.search(compiled.as_text()))
            self.assertEqual(out.sharding.shard_shape(out.shape), (3, 2, 16, 2, 64))
            for i in range(3):
                check_forward(self, [x[i] for x in stacked], (out[i], lse[i]))


class ShardMap(unittest.TestCase):
    def test_batch_and_heads(self):
        mesh = make_mesh(4, 2)
        q, k, v = draw(BATCH, 64, 64, HEADS, 2)
        values, dout = (q, k, v, temperatures(q)), normal(9, q.shape)
        spec, rows = P("data", None, "heads"), P("data")
        run = jax.shard_map(
            lambda q, k, v, temp: attention(q, k, v, temp, causal=True),
            mesh=mesh,
            in_specs=(spec, spec, spec, rows),
            out_specs=(spec, P("data", "heads")),
        )
        results, gradients = jax.jit(gradients_of(run, dout))(*values)
        check_forward(self, values, results, causal=True)
        names = ("dq", "dk", "dv", "dtemp")
        check_gradients(self, values, dict(zip(names, gradients)), dout, causal=True)

    def test_gradient_of_a_replicated_key(self):
        """One head of k for q heads on every device: dk is summed."""
        mesh = make_mesh(2, 4)
        values = draw(BATCH, 64, 64, HEADS, 1)
        dout = normal(9, values[0].shape)
        spec, kv = P("data", None, "heads"), P("data")
        run = jax.shard_map(attention, mesh=mesh, in_specs=(spec, kv, kv),
                            out_specs=(spec, P("data", "heads")))
        results, gradients = jax.jit(gradients_of(run, dout))(*values)
        check_forward(self, values, results)
        check_gradients(self, values, dict(zip(("dq", "dk", "dv"), gradients)), dout)


class ContextParallel(unittest.TestCase):
    """Keys over 8 devices, or over 4 beside a split batch."""

    def check(self, values, devices=8, **attributes):
        mesh = make_mesh(8 // devices, devices)
        specs = [P("data"), P("data", "heads"), P("data", "heads"), P("data"),
                 P("data"), P("data"), P("data", "heads")]
        taken = [i for i, x in enumerate(values) if x is not None]
        differentiable = [i for i in taken if i < 4]

        def local(*given):
            operands = [None] * 7
            for i, x in zip(taken, given):
                operands[i] = x
            return uattn.jax.context_parallel_attention(
                *operands, axis_name="heads", **attributes
            )

        run = jax.shard_map(local, mesh=mesh, in_specs=tuple(specs[i] for i in taken),
                            out_specs=(P("data"), P("data")))
        dout = normal(9, values[0].shape, values[0].dtype)
        dlse = normal(10, (*values[0].shape[:3:2], values[0].shape[1]), jnp.float32)

        @jax.jit
        def step(*given):
            fixed = given[len(differentiable):]
            results, pull = jax.vjp(lambda *x: run(*x, *fixed),
                                    *given[:len(differentiable)])
            return results, pull((dout, dlse))

        results, gradients = step(*(values[i] for i in taken))
        forward = {n: x for n, x in attributes.items() if n != "z_loss_weight"}
        check_forward(self, values, results, **forward)
        names = ("dq", "dk", "dv", "dtemp")
        found = {names[i]: x for i, x in zip(differentiable, gradients)}
        check_gradients(self, values, found, dout, dlse=dlse, **attributes)

    def setUp(self):
        q, k, v = draw(2, 96, 128, 4, 2)
        self.values = (q, k, v, temperatures(q))
        rng = np.random.default_rng(3)
        self.ids = [jnp.asarray(np.sort(rng.integers(0, 3, (2, n))), jnp.int32)
                    for n in (96, 128)]

    def test_dense(self):
        self.check(self.values, cap=uattn.Cap("tanh", 3.0))

    def test_batch_is_split_too(self):
        self.check(self.values, devices=4)

    def test_causal_and_window(self):
        self.check(self.values, causal=True, window_len=50, q_offset=30)

    def test_ranker_mask(self):
        bounds = jnp.asarray([[2, 60, 60, 96], [0, 33, 40, 90]], jnp.int32)
        self.check((*self.values, bounds), cap=uattn.Cap("alsc", 30.0, 3.0, 0.5))

    def test_ranker_mask_of_later_rows(self):
        bounds = jnp.asarray([[2, 60, 55, 120], [-4, 33, 100, 300]], jnp.int32)
        self.check((*self.values, bounds), q_offset=32, sm_scale=0.3,
                   cap=uattn.Cap("soft_sign", 4.0))

    def test_every_mask(self):
        bounds = jnp.asarray([[2, 60, 60, 96], [0, 33, 40, 90]], jnp.int32)
        self.check((*self.values, bounds, *self.ids), causal=True, window_len=70)

    def test_segments_and_z_loss(self):
        self.check((*self.values, None, *self.ids), z_loss_weight=0.3)

    def test_asymmetric_cap_of_candidates(self):
        """Lost its digits: a difference of two sigmoids that are nearly 1."""
        bounds = jnp.asarray([[2, 60, 60, 96], [0, 33, 40, 90]], jnp.int32)
        self.check((*self.values[:3], None, bounds),
                   cap=uattn.Cap("alsc", 30.0, 3.0, 5.0))

    def test_ids_at_both_ends_of_their_type(self):
        """A key outside the history had an id that a query has."""
        ids = [jnp.where(jnp.arange(n) % 2 == 0, 2**31 - 1, -(2**31)) for n in (96, 128)]
        ids = [jnp.broadcast_to(x.astype(jnp.int32), (2, x.size)) for x in ids]
        bounds = jnp.asarray([[2, 60, 60, 96], [0, 33, 40, 90]], jnp.int32)
        self.check((*self.values, bounds, *ids))

    def test_one_entry_without_keys(self):
        bounds = jnp.asarray([[0, 0, 0, 0], [0, 33, 40, 90]], jnp.int32)
        self.check((*self.values, bounds))

    def refuse(self, kind, message, check_vma=True, specs=None, **attributes):
        q, k, v, _ = self.values
        run = jax.shard_map(
            lambda q, k, v: uattn.jax.context_parallel_attention(
                q, k, v, **({"axis_name": "heads"} | attributes)),
            mesh=make_mesh(1, 8), check_vma=check_vma,
            in_specs=specs or (P(), P(None, "heads"), P(None, "heads")),
            out_specs=(P(), P()))
        with self.assertRaisesRegex(kind, message):
            jax.jit(run)(q, k, v)

    def test_bad_input(self):
        split = P(None, "heads")
        self.refuse(ValueError, "expected shard_map with check_vma=True",
                    check_vma=False)
        self.refuse(ValueError, "q varies over 'heads': expected the whole operand",
                    specs=(split, split, split))
        self.refuse(ValueError, "k is the same on every device of 'heads': expected",
                    specs=(P(), P(), P()))
        self.refuse(ValueError, "axis_name is 'model': expected an axis of",
                    axis_name="model")
        self.refuse(TypeError, "axis_name is None: expected the name", axis_name=None)
        self.refuse(ValueError, "z_loss_weight", z_loss_weight=float("nan"))
        self.refuse(TypeError, "z_loss_weight is '1': expected a number",
                    z_loss_weight="1")
        self.refuse(TypeError, "q_offset is 1.5: expected an int", q_offset=1.5)
        q, k, v, _ = self.values
        with self.assertRaisesRegex(ValueError, "axis_name is 'heads': expected an axis"):
            uattn.jax.context_parallel_attention(q, k, v, axis_name="heads")
        bounds = jnp.zeros((2, 4), jnp.int32)
        self.refuse(ValueError, "q_offset is 1099511627776: expected positions",
                    bounds=bounds, q_offset=2**40)

    def test_numbers_of_dead_rows_reach_nobody(self):
        bounds = jnp.asarray([[10, 60, 60, 90], [10, 33, 40, 90]], jnp.int32)
        q, k, v, temp = self.values
        q, k, v = (x.at[:, :10].set(jnp.nan) for x in (q, k, v))
        mesh = make_mesh(1, 8)
        run = jax.shard_map(
            lambda q, k, v, bounds: uattn.jax.context_parallel_attention(
                q, k, v, bounds=bounds, axis_name="heads"),
            mesh=mesh, in_specs=(P(), P(None, "heads"), P(None, "heads"), P()),
            out_specs=(P(), P()))

        def loss(q, k, v):
            return jnp.sum(run(q, k, v, bounds)[0].astype(jnp.float32))

        for gradient in jax.jit(jax.grad(loss, (0, 1, 2)))(q, k, v):
            self.assertTrue(bool(jnp.all(jnp.isfinite(gradient))))


if __name__ == "__main__":
    unittest.main()
