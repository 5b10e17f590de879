"""Launches on torch tensors against the float64 reference.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import numpy as np
import uattn

try:
    import torch
except ImportError:
    torch = None

FORWARD = uattn.Problem(head_dim=128, temp="f32", causal=True, lse=True)
SHAPES = {"q": (2, 200, 4, 128), "k": (2, 230, 2, 128), "v": (2, 230, 2, 128)}


def host(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).cpu().numpy().view(np.uint16)
    return tensor.cpu().numpy()


@unittest.skipUnless(torch, "torch, which makes the tensors, is not installed")
class Launch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.arguments = [
            torch.randn(shape, device="cuda").bfloat16() for shape in SHAPES.values()
        ]
        self.arguments.append(torch.rand(2, 200, device="cuda"))
        self.results = [
            torch.full((2, 200, 4, 128), torch.nan, device="cuda").bfloat16(),
            torch.full((2, 4, 200), torch.nan, device="cuda"),
        ]

    def close(self, found, wanted, bound):
        found = found.double().cpu().numpy()
        self.assertLess(np.linalg.norm(found - wanted), bound * np.linalg.norm(wanted))

    def operands(self):
        names = [spec.name for spec in FORWARD.operands]
        return dict(zip(names, map(host, self.arguments)))

    def test_forward_and_backward(self):
        stream = torch.cuda.Stream()
        forward = uattn.load(uattn.compile(FORWARD))
        forward.launch(self.arguments, self.results, stream=stream)
        stream.synchronize()
        wanted = uattn.run_reference(FORWARD, **self.operands())
        self.close(self.results[0], wanted["out"], 5e-3)
        self.close(self.results[1], wanted["lse"], 1e-3)

        problem = FORWARD.backward(dtemp=True)
        backward = uattn.load(uattn.compile(problem))
        dout = torch.randn_like(self.results[0])
        given = [*self.arguments, *self.results, dout]
        gradients = [torch.empty_like(x) for x in self.arguments]
        size = backward.workspace_bytes(given)
        workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
        with self.assertRaisesRegex(ValueError, "workspace of 0 bytes: wanted"):
            backward.launch(given, gradients)
        backward.launch(given, gradients, workspace=workspace)
        torch.cuda.synchronize()
        operands = self.operands() | {
            "out": host(self.results[0]),
            "lse": host(self.results[1]),
            "dout": host(dout),
        }
        wanted = uattn.run_reference(problem, **operands)
        for spec, gradient in zip(problem.results, gradients):
            self.close(gradient, wanted[spec.name], 1.2e-2)

    def test_captured_launch(self):
        program = uattn.load(uattn.compile(FORWARD))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            program.launch(
                self.arguments, self.results, stream=torch.cuda.current_stream()
            )
        graph.replay()
        torch.cuda.synchronize()
        wanted = uattn.run_reference(FORWARD, **self.operands())
        self.close(self.results[0], wanted["out"], 5e-3)

    def test_result_specs(self):
        program = uattn.load(uattn.compile(FORWARD))
        shapes = [spec.shape for spec in program.result_specs(self.arguments)]
        self.assertEqual(shapes, [(2, 200, 4, 128), (2, 4, 200)])

    def test_refusals(self):
        program = uattn.load(uattn.compile(FORWARD))
        q, k, v, temp = self.arguments
        with self.assertRaisesRegex(TypeError, "k has dtype f32: expected bf16"):
            program.launch([q, k.float(), v, temp], self.results)
        with self.assertRaisesRegex(ValueError, r"\(k\)"):
            program.launch([q, k[..., :64], v, temp], self.results)
        with self.assertRaisesRegex(ValueError, r"\(q\).*stride"):
            strided = torch.empty(2, 200, 4, 256, device="cuda").bfloat16()[..., ::2]
            program.launch([strided, k, v, temp], self.results)
        with self.assertRaisesRegex(ValueError, "temp is on device cpu"):
            program.launch([q, k, v, temp.cpu()], self.results)
        with self.assertRaisesRegex(TypeError, "1 results are given: expected"):
            program.launch(self.arguments, self.results[:1])
        with self.assertRaisesRegex(ValueError, "q cannot be had by DLPack"):
            program.launch([q.clone().requires_grad_(), k, v, temp], self.results)


if __name__ == "__main__":
    unittest.main()
