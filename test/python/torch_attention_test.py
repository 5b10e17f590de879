"""uattn.torch.ranker_attention against float64: results, gradients, vmap,
torch.func, threads, strides.

SPDX-License-Identifier: Apache-2.0
"""

import threading
import unittest
from unittest import mock

import torch
import uattn.torch
from torch_testing import (
    DEVICE, cases, check_forward, check_gradients, draw, error, keywords, normal,
    numbers, temperatures,
)
from torch.utils._python_dispatch import TorchDispatchMode
from uattn.torch import _ops

attention = uattn.torch.ranker_attention


def attend(values, attributes, **more):
    return attention(*values[:3], **keywords(values), **attributes, return_lse=True,
                     **more)


def leaves(values):
    """Copies that want gradients, and what takes none."""
    return [x.clone().requires_grad_() if x is not None and i < 4 else x
            for i, x in enumerate(values)]


def pull_back(values, attributes, dout, dlse=None):
    """(out, lse), and gradients by name of those of q, k, v, temp there are."""
    values = leaves(values)
    results = attend(values, attributes)
    names = [n for n, x in zip(("q", "k", "v", "temp"), values) if x is not None]
    inputs = [x for x in values[:4] if x is not None]
    chosen = results if dlse is not None else results[:1]
    found = torch.autograd.grad(chosen, inputs, (dout, dlse)[: len(chosen)])
    return results, {f"d{name}": x for name, x in zip(names, found)}


class Values(unittest.TestCase):
    def check_case(self, case):
        q = case.values[0]
        dout = normal(9, q.shape, q.dtype)
        dlse = normal(10, (q.shape[0], q.shape[2], q.shape[1]), torch.float32)
        results, found = pull_back(case.values, case.attributes, dout, dlse)
        self.assertEqual(results[0].dtype, q.dtype)
        check_forward(self, case.values, results, **case.attributes)
        check_gradients(self, case.values, found, dout, dlse=dlse, **case.attributes)
        for name, operand in zip(("dq", "dk", "dv", "dtemp"), case.values):
            if name in found:
                self.assertEqual(found[name].dtype, operand.dtype)

    def test_forward_and_gradients(self):
        for case in cases():
            with self.subTest(case.name):
                self.check_case(case)

    @unittest.skipUnless(DEVICE == "cpu", "no kernel takes float32")
    def test_float32(self):
        for case in cases(torch.float32):
            with self.subTest(case.name):
                self.check_case(case)

    def test_z_loss_enters_gradients(self):
        values = (*draw(), temperatures(draw()[0]))
        dout = normal(9, values[0].shape)
        _, found = pull_back(values, {"z_loss_weight": 0.5}, dout)
        check_gradients(self, values, found, dout, z_loss_weight=0.5)
        _, without = pull_back(values, {}, dout)
        self.assertGreater(error(without["dtemp"], numbers(found["dtemp"])), 0.1)

    def test_rows_that_see_no_key(self):
        q, k, v = draw()
        bounds = torch.tensor([[0, 0, 0, 0], [5, 9, 9, 20]], dtype=torch.int32,
                              device=DEVICE)
        values = (q, k, v, None, bounds)
        (out, lse), found = pull_back(values, {}, normal(9, q.shape))
        self.assertEqual(float(out[0].detach().abs().max()), 0)
        self.assertTrue(bool(lse[0].isneginf().all()))
        for gradient in found.values():
            self.assertEqual(float(gradient[0].abs().max()), 0)
            self.assertTrue(bool(gradient.isfinite().all()))

    def test_deterministic_gradients_are_equal(self):
        values = draw()
        dout = normal(9, values[0].shape)
        runs = [pull_back(values, {"deterministic": True}, dout)[1] for _ in range(2)]
        for name, first in runs[0].items():
            self.assertTrue(torch.equal(first, runs[1][name]), name)

    def test_results(self):
        q, k, v = draw()
        out, lse = attention(q, k, v, return_lse=True)
        self.assertTrue(torch.equal(attention(q, k, v), out))
        self.assertTrue(torch.equal(attention(q, k, v, cap=("none", 0.0, 0.0, 0.0),
                                              window_len=None), out))
        self.assertEqual((lse.dtype, lse.shape), (torch.float32, (2, 4, 70)))
        self.assertTrue(out.is_contiguous() and lse.is_contiguous())


class Work(unittest.TestCase):
    """What is computed, and what is left out."""

    def backward_arguments(self, use, temp_grad):
        q, k, v, temp = leaves((*draw(), temperatures(draw()[0])))
        found = []
        kind = q.device.type.upper()
        real = _ops._GRADIENTS[kind]

        def spy(operands, attributes):
            found.append((*operands, *attributes))
            return real(operands, attributes)

        out, lse = attention(q, k, v, temp=temp.detach().requires_grad_(temp_grad),
                             return_lse=True)
        with mock.patch.dict(_ops._GRADIENTS, {kind: spy}):
            use(out, lse).backward()
        (arguments,) = found
        return arguments

    def test_temp_gradient_is_computed_where_it_is_wanted(self):
        for wants in (True, False):
            given = self.backward_arguments(lambda out, lse: out.float().sum(), wants)
            self.assertIs(given[-1], wants)

    def test_dlse_is_there_where_the_loss_has_lse(self):
        given = self.backward_arguments(lambda out, lse: out.float().sum(), False)
        self.assertIsNone(given[10])
        given = self.backward_arguments(lambda out, lse: lse.sum(), False)
        self.assertIsNotNone(given[10])

    def test_who_watches_ops_sees_the_backward_too(self):
        """A backward that nobody watches goes around the dispatcher."""
        q, k, v = leaves(draw())
        wanted = torch.autograd.grad(attention(q, k, v).float().sum(), (q, k, v))
        name = "uattn::ranker_attention_bwd"
        seen = []

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, arguments=(), options=None):
                seen.append(function.name())
                return function(*arguments, **(options or {}))

        loss = attention(q, k, v).float().sum()
        with Watch():
            found = torch.autograd.grad(loss, (q, k, v), retain_graph=True)
        self.assertIn(name, seen)
        with torch.profiler.profile() as profile:
            found_too = torch.autograd.grad(loss, (q, k, v))
        self.assertIn(name, {event.name for event in profile.events()})
        for first, *others in zip(wanted, found, found_too):
            for other in others:
                self.assertLess(error(other, numbers(first)), 1e-2)

    def test_a_subclass_that_sees_ops_sees_the_backward_too(self):
        """Also where the first call of a layout was one of such a subclass, whose
        data the implementation got."""
        seen = []

        class Seeing(torch.Tensor):
            @staticmethod
            def __new__(cls, tensor):
                return torch.Tensor._make_subclass(cls, tensor)

            @classmethod
            def __torch_dispatch__(cls, function, types, arguments=(), options=None):
                seen.append(function.name())
                return super().__torch_dispatch__(function, types, arguments, options)

        q, k, v = draw(q_tokens=37)
        with torch.no_grad():
            attention(Seeing(q), Seeing(k), Seeing(v))
        self.assertIn("uattn::ranker_attention_fwd", seen)
        leaf = q.clone().requires_grad_()
        out = attention(leaf, k, v)
        torch.autograd.grad(out, leaf, Seeing(torch.ones_like(q)))
        self.assertIn("uattn::ranker_attention_bwd", seen)

    def test_saved_tensors_that_come_back_as_others(self):
        values = draw()
        dout = normal(9, values[0].shape)
        hooks = torch.autograd.graph.saved_tensors_hooks(
            lambda x: -x.detach(), lambda x: torch._neg_view(x))
        leaves_of = [x.clone().requires_grad_() for x in values]
        with hooks:
            out = attention(*leaves_of)
        found = torch.autograd.grad(out, leaves_of, dout, retain_graph=True)
        check_gradients(self, values, dict(zip(("dq", "dk", "dv"), found)), dout)
        out = attention(*leaves_of)
        for saved in out.grad_fn._raw_saved_tensors:
            try:
                saved.register_hooks(lambda x: -x.detach(), lambda x: torch._neg_view(x))
            except RuntimeError:  # of None
                pass
        found = torch.autograd.grad(out, leaves_of, dout)
        check_gradients(self, values, dict(zip(("dq", "dk", "dv"), found)), dout)

    def test_gradient_through_lse_alone(self):
        values = draw()
        q, k, v = leaves(values)
        _, lse = attention(q, k, v, return_lse=True)
        dlse = normal(10, lse.shape, torch.float32)
        found = torch.autograd.grad(lse, (q, k), dlse)
        check_gradients(self, values, dict(zip(("dq", "dk"), found)),
                        torch.zeros_like(q), dlse=dlse)

    def test_one_input_that_wants_a_gradient(self):
        q, k, v = draw()
        dout = normal(9, q.shape)
        v.requires_grad_()
        found, = torch.autograd.grad(attention(q, k, v), v, dout)
        check_gradients(self, (q, k, v), {"dv": found}, dout)

    def test_gradient_that_is_not_dense(self):
        """That of a sum has strides 0."""
        values = draw()
        q, k, v = leaves(values)
        attention(q, k, v).sum().backward()
        dout = torch.ones_like(q)
        check_gradients(self, values, {"dq": q.grad, "dk": k.grad, "dv": v.grad}, dout)

    def test_no_second_derivatives(self):
        q, k, v = leaves(draw())
        out = attention(q, k, v)
        first, = torch.autograd.grad(out.float().sum(), q, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "no second derivatives"):
            torch.autograd.grad(first.float().sum(), q)


class Transformations(unittest.TestCase):
    def test_vmap(self):
        """Over operands on different dimensions, and one that is not mapped."""
        batches = [draw(seed=10 * i) for i in range(3)]
        q = torch.stack([b[0] for b in batches], dim=1)
        v = torch.stack([b[2] for b in batches], dim=-1)
        k = batches[0][1]

        def run(q, k, v):
            return attention(q, k, v, return_lse=True)

        out, lse = torch.vmap(run, in_dims=(1, None, -1))(q, k, v)
        for i, (one_q, _, one_v) in enumerate(batches):
            check_forward(self, (one_q, k, one_v), (out[i], lse[i]))

    def check_func(self, transform):
        values = (*draw(), temperatures(draw()[0]))
        dout = normal(9, values[0].shape)

        def loss(q, k, v, temp):
            return (attention(q, k, v, temp=temp).float() * dout.float()).sum()

        for found in transform(torch.func.grad(loss, (0, 1, 2, 3)), values):
            named = dict(zip(("dq", "dk", "dv", "dtemp"), found))
            check_gradients(self, values, named, dout)

    def test_func_grad(self):
        self.check_func(lambda grad, values: [grad(*values)])

    def test_vmap_of_grad(self):
        def twice(grad, values):
            found = torch.vmap(grad)(*(torch.stack([x, x]) for x in values))
            return [[x[i] for x in found] for i in range(2)]

        self.check_func(twice)

    def test_grad_of_vmap(self):
        """k is not mapped: its gradient is a sum over the mapped dimension."""
        values = draw()
        q, k, v = values
        dout = normal(9, q.shape)

        def loss(k):
            out = torch.vmap(lambda q: attention(q, k, v))(torch.stack([q, q]))
            return (out * dout).sum()

        for transform in (torch.func.grad, lambda f: lambda x: torch.func.vjp(f, x)[1](
                torch.ones((), dtype=k.dtype, device=DEVICE))[0], torch.func.jacrev):
            check_gradients(self, values, {"dk": transform(loss)(k) / 2}, dout)

    def test_backward_of_vmap(self):
        values = draw()
        dout = normal(9, values[0].shape)
        q = values[0].clone().requires_grad_()
        run = torch.vmap(lambda q: attention(q, *values[1:]))
        run(torch.stack([q, q])).backward(torch.stack([dout, dout]))
        check_gradients(self, values, {"dq": q.grad / 2}, dout)

    def test_checkpoint(self):
        from torch.utils.checkpoint import checkpoint

        values = draw()
        q, k, v = leaves(values)
        dout = normal(9, q.shape)
        checkpoint(attention, q, k, v, use_reentrant=False).backward(dout)
        check_gradients(self, values, {"dq": q.grad, "dk": k.grad}, dout)

    def test_inference_mode(self):
        values = draw()
        with torch.inference_mode():
            found = attention(*values, return_lse=True)
        check_forward(self, values, found)


class Calls(unittest.TestCase):
    def test_strides(self):
        """Of heads before tokens, and of one tensor that holds all three."""
        values = draw(kv_tokens=70, kv_heads=4)
        moved = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in values]
        packed = torch.stack(values, dim=2).unbind(2)
        dout = normal(9, values[0].shape)
        for given in (moved, packed):
            self.assertFalse(given[1].is_contiguous())
            results = attention(*given, return_lse=True)
            check_forward(self, values, results)
            _, found = pull_back(given, {}, dout)
            check_gradients(self, values, found, dout)

    def test_threads(self):
        """Calls of one kind at the same time share no structs."""
        inputs = [draw(seed=3 * i) for i in range(8)]
        found = [[] for _ in inputs]

        def work(i):
            for _ in range(20):
                out, gradients = pull_back(inputs[i], {}, torch.ones_like(inputs[i][0]))
                found[i].append((out[0].detach(), gradients["dk"]))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for values, runs in zip(inputs, found):
            self.assertEqual(len(runs), 20)
            for out, dk in runs:
                self.assertTrue(torch.equal(out, runs[0][0]))
            check_gradients(self, values, {"dk": runs[-1][1]},
                            torch.ones_like(values[0]))

    def test_many_shapes(self):
        """Prepared calls are dropped at a limit."""
        with mock.patch.object(_ops, "_CALLS_LIMIT", 4):
            for tokens in range(60, 70):
                values = draw(q_tokens=tokens)
                check_forward(self, values, attention(*values, return_lse=True))
            self.assertLessEqual(len(_ops._calls), 4)


if __name__ == "__main__":
    unittest.main()
