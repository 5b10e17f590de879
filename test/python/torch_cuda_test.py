"""uattn.torch on a GPU: streams, CUDA graphs, workspaces, refusals of layouts.

SPDX-License-Identifier: Apache-2.0
"""

import gc
import unittest

import torch
import uattn.torch
from torch_testing import (
    check_forward, check_gradients, draw, normal, refused_layouts, temperatures,
)

attention = uattn.torch.ranker_attention


def inputs(seed=0):
    """q, k, v and temp, as leaves."""
    q, k, v = draw(batch=4, q_tokens=512, kv_tokens=512, heads=8, kv_heads=4, seed=seed)
    return [x.requires_grad_() for x in (q, k, v, temperatures(q, seed + 7))]


def step(values, dout, dlse):
    q, k, v, temp = values
    out, lse = attention(q, k, v, temp=temp, causal=True, return_lse=True)
    return out, lse, torch.autograd.grad((out, lse), values, (dout, dlse))


class Streams(unittest.TestCase):
    def setUp(self):
        self.values = inputs()
        q = self.values[0]
        self.dout = normal(9, q.shape)
        self.dlse = normal(10, (q.shape[0], q.shape[2], q.shape[1]), torch.float32)

    def check(self, values, found):
        out, lse, gradients = found
        values = [x.detach() for x in values]
        check_forward(self, values, (out, lse), causal=True)
        named = dict(zip(("dq", "dk", "dv", "dtemp"), gradients))
        check_gradients(self, values, named, self.dout, dlse=self.dlse, causal=True)

    def test_side_stream(self):
        """Work that is ordered by the side stream alone: operands become right
        late, and results are read before the default stream is waited for."""
        wanted = [x.detach().clone() for x in self.values]
        step(self.values, self.dout, self.dlse)  # compiled and loaded
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.no_grad(), torch.cuda.stream(stream):
            for value in self.values:
                value.zero_()
            torch.cuda._sleep(50_000_000)
            for value, right in zip(self.values, wanted):
                value.copy_(right)
        with torch.cuda.stream(stream):
            found = step(self.values, self.dout, self.dlse)
            out, lse, gradients = found
            copies = out.clone(), lse.clone(), [x.clone() for x in gradients]
        stream.synchronize()
        self.check(wanted, copies)

    def test_captured_step(self):
        """Forward and backward in one graph, replayed on new numbers."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                step(self.values, self.dout, self.dlse)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = step(self.values, self.dout, self.dlse)
        for seed in (100, 200):
            fresh = inputs(seed)
            with torch.no_grad():
                for value, new in zip(self.values, fresh):
                    value.copy_(new)
            graph.replay()
            torch.cuda.synchronize()
            self.check(fresh, found)

    def test_compiled_step_in_graph_trees(self):
        compiled = torch.compile(
            lambda q, k, v, temp: attention(q, k, v, temp=temp, causal=True,
                                            return_lse=True),
            fullgraph=True, mode="reduce-overhead")
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            out, lse = compiled(*self.values)
            gradients = torch.autograd.grad((out, lse), self.values,
                                            (self.dout, self.dlse))
            self.check(self.values, (out.clone(), lse.clone(),
                                     [x.clone() for x in gradients]))

    def test_memory_is_the_allocators(self):
        """A step leaves nothing behind."""
        for _ in range(2):
            step(self.values, self.dout, self.dlse)
        torch.cuda.synchronize()
        gc.collect()  # what earlier tests left
        before = torch.cuda.memory_allocated()
        for _ in range(5):
            step(self.values, self.dout, self.dlse)
        torch.cuda.synchronize()
        self.assertEqual(torch.cuda.memory_allocated(), before)


class Layouts(unittest.TestCase):
    def test_refusals_name_the_argument(self):
        for message, q, k, v, temp in refused_layouts():
            with self.assertRaisesRegex(ValueError, message):
                attention(q, k, v, temp=temp)

    @unittest.skipUnless(torch.cuda.device_count() > 1, "there is one GPU")
    def test_devices(self):
        q, k, v = draw()
        message = "v is on cuda:1: expected cuda:0, where q is"
        with self.assertRaisesRegex(ValueError, message):
            attention(q, k, v.to("cuda:1"))
        moved = [x.to("cuda:1") for x in (q, k, v)]
        found = attention(*moved, return_lse=True)
        check_forward(self, (q, k, v), found)

    def test_autocast(self):
        """What a layer makes under autocast is taken."""
        with torch.autocast("cuda", torch.bfloat16):
            x = torch.randn(2, 64, 64, device="cuda")
            layer = torch.nn.Linear(64, 3 * 128).cuda()
            q, k, v = layer(x).unflatten(2, (3, 2, 64)).unbind(2)
            out = attention(q, k, v)
        self.assertEqual(out.dtype, torch.bfloat16)
        out.float().sum().backward()
        self.assertTrue(bool(layer.weight.grad.isfinite().all()))


if __name__ == "__main__":
    unittest.main()
