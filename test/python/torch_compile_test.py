"""uattn.torch.ranker_attention under torch.compile, and what torch itself checks
of custom ops and gradients.

SPDX-License-Identifier: Apache-2.0
"""

import unittest
import warnings

import torch
import uattn.torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch_testing import (
    DEVICE, cases, check_forward, check_gradients, draw, keywords, normal,
    temperatures,
)

attention = uattn.torch.ranker_attention
ops = torch.ops.uattn
ATTRIBUTES = ("tanh", 3.0, 0.0, 0.0, None, True, 0, 0, 0.1, False)


def loss(q, k, v, temp, bounds, dout):
    """With work before and behind that a compiler may fuse or move."""
    out, lse = attention(q * 2, k, v, temp=temp, bounds=bounds, causal=True,
                         cap=uattn.Cap("tanh", 3.0), return_lse=True)
    lse = torch.where(lse.isneginf(), 0.0, lse)
    return (out.float() * dout.float()).sum() + 0.1 * (lse * lse).sum()


def operands(tokens=70, seed=0):
    q, k, v = draw(q_tokens=tokens, kv_tokens=tokens, seed=seed)
    bounds = torch.tensor([[3, 50, 50, 66], [0, 20, 30, 70]], dtype=torch.int32,
                          device=DEVICE)
    inputs = [x.requires_grad_() for x in (q, k, v, temperatures(q))]
    return inputs, bounds, normal(9, q.shape)


class Compiled(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def check(self, compiled, *sizes):
        inputs, bounds, dout = operands(*sizes)
        value = compiled(*inputs, bounds, dout)
        wanted = loss(*inputs, bounds, dout)
        torch.testing.assert_close(value, wanted, rtol=1e-3, atol=1e-3)
        pairs = zip(torch.autograd.grad(value, inputs),
                    torch.autograd.grad(wanted, inputs))
        for found, gradient in pairs:
            scale = float(gradient.float().norm())
            self.assertLess(float((found - gradient).float().norm()), 1e-2 * scale)

    def test_whole_graph(self):
        for backend in ("aot_eager", "inductor"):
            with self.subTest(backend):
                torch._dynamo.reset()
                self.check(torch.compile(loss, fullgraph=True, backend=backend))

    def test_every_case(self):
        for case in cases():
            with self.subTest(case.name):
                torch._dynamo.reset()

                @torch.compile(fullgraph=True, backend="aot_eager")
                def run(*values, attributes=case.attributes):
                    return attention(*values[:3], **keywords(values), **attributes,
                                     return_lse=True)

                check_forward(self, case.values, run(*case.values), **case.attributes)

    def test_one_graph_serves_all_lengths(self):
        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(loss, fullgraph=True, backend=counter)
        for tokens in (70, 90, 133):
            inputs, bounds, dout = operands(tokens)
            for tensor in (*inputs, dout):
                torch._dynamo.mark_dynamic(tensor, 1)
            torch.autograd.grad(compiled(*inputs, bounds, dout), inputs)
        self.assertEqual(counter.frame_count, 1)

    def test_dynamic_compile(self):
        compiled = torch.compile(loss, fullgraph=True, backend="aot_eager",
                                 dynamic=True)
        for tokens in (70, 90):
            self.check(compiled, tokens)

    def test_short_integers_and_bounds_inside(self):
        ids = torch.tensor([[1] * 40 + [-1] * 20 + [0] * 10] * 2, device=DEVICE)

        def run(q, k, v, ids):
            bounds = uattn.torch.bounds_from_segment_ids(ids)
            return attention(q, k, v, bounds=bounds.to(torch.int16), window_len=None)

        q, k, v = draw(kv_tokens=70)
        found = torch.compile(run, fullgraph=True, backend="aot_eager")(q, k, v, ids)
        self.assertTrue(torch.equal(found, run(q, k, v, ids)))

    def test_transform_inside(self):
        values = draw()
        dout = normal(9, values[0].shape)

        def grad(q, k, v):
            def inner(q):
                return (attention(q, k, v).float() * dout.float()).sum()

            return torch.func.grad(inner)(q)

        found = torch.compile(grad, backend="aot_eager")(*values)
        check_gradients(self, values, {"dq": found}, dout)

    def test_exported_program_runs(self):
        class Layer(torch.nn.Module):
            def forward(self, q, k, v):
                return attention(q, k, v, causal=True, return_lse=True)

        values = draw()
        program = torch.export.export(Layer(), values)
        self.assertIn("uattn.ranker_attention_fwd", str(program.graph))
        check_forward(self, values, program.module()(*values), causal=True)

    def test_refusals_are_told(self):
        q, k, v = draw()
        compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
        with self.assertRaisesRegex(Exception, r"v has 80 in dimension 1 \(KV\)"):
            compiled(q, k, v[:, :80])


class Checks(unittest.TestCase):
    def test_opcheck_forward(self):
        for wants in (True, False):
            inputs, bounds, _ = operands()
            inputs = [x.detach().requires_grad_(wants) for x in inputs]
            torch.library.opcheck(ops.ranker_attention_fwd.default,
                                  (*inputs, bounds, None, None, *ATTRIBUTES))

    def test_opcheck_backward(self):
        inputs, bounds, dout = operands()
        inputs = [x.detach() for x in inputs]
        given = (*inputs, bounds, None, None)
        out, lse = ops.ranker_attention_fwd(*given, *ATTRIBUTES)
        dlse = normal(10, lse.shape, torch.float32)
        # Bits of one run, since gradients are compared with those of another.
        attributes = (*ATTRIBUTES[:-1], True)
        for more in ((None, *attributes, False), (dlse, *attributes, True)):
            torch.library.opcheck(ops.ranker_attention_bwd.default,
                                  (*given, out, lse, dout, *more))

    @unittest.skipUnless(DEVICE == "cpu", "no kernel takes float32")
    def test_gradcheck(self):
        """In float32: steps and tolerances are those of its 24 bits, where
        torch's own are those of float64's 53. The op on the CPU is smooth in
        float32 up to 1e-6, so that a difference over 2 * 1e-2 is right to 1e-4
        and, of third derivatives of the op, 1e-4 more."""
        generator = torch.Generator().manual_seed(0)

        def rand(*shape):
            return torch.randn(shape, generator=generator).requires_grad_()

        inputs = (rand(2, 5, 4, 8), rand(2, 6, 2, 8), rand(2, 6, 2, 8), rand(2, 5))
        bounds = torch.tensor([[0, 3, 3, 5], [0, 6, 0, 0]], dtype=torch.int32)
        for attributes in (
            {"cap": ("tanh", 3.0, 0.0, 0.0)},
            {"cap": ("alsc", 5.0, 3.0, 0.5), "sm_scale": 0.3, "causal": True},
            {"cap": ("soft_sign", 4.0, 0.0, 0.0), "window_len": 3, "q_offset": 1},
            {"bounds": bounds},
        ):
            def run(q, k, v, temp):
                out, lse = attention(q, k, v, temp=temp, return_lse=True,
                                     **attributes)
                return out, torch.where(lse.isneginf(), 0.0, lse)

            with self.subTest(attributes=attributes), warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*not a double precision.*")
                self.assertTrue(torch.autograd.gradcheck(
                    run, inputs, eps=1e-2, atol=2e-3, rtol=2e-3, nondet_tol=0.0))


if __name__ == "__main__":
    unittest.main()
