"""uattn's kernels launched by Triton on a GPU: by its loader, by stubs, under
capture, each against the float64 reference.

Usage: triton_cuda_test.py [TEST ...]
       triton_cuda_test.py --prebuild FOLDER: compiles what the tests launch, for
       a machine without the compiler ($UATTN_PREBUILT_PATH), and needs no GPU
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys
import unittest

import numpy as np
import torch
import uattn
import uattn.triton

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python_bindings" / "examples"))
import triton_between

DENSE = uattn.Problem(head_dim=128)
CAUSAL = uattn.Problem(head_dim=64, dtype="f16", causal=True, lse=True)
RANKER = uattn.Problem(
    head_dim=128, bounds=True, temp="f32", lse=True, cap=uattn.Cap("tanh", 30.0)
)
FORWARD = (DENSE, CAUSAL, RANKER)
BACKWARD = (CAUSAL.backward(), RANKER.backward(dtemp=True))
DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "i32": torch.int32,
}
BOUNDS = {"out": 5e-3, "lse": 1e-3}
GRADIENT_BOUND = 1.2e-2


def host(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).cpu().numpy().view(np.uint16)
    return tensor.cpu().numpy()


def sizes(problem, batch=2, heads=4, kv_heads=2, tokens=200, keys=230):
    if problem.bounds:
        keys = tokens = 256
    q, k = (batch, tokens, heads, problem.head_dim), (batch, keys, kv_heads, problem.head_dim)
    found = {"q": q, "k": k, "v": k, "temp": (batch, tokens), "bounds": (batch, 4)}
    return found | {"out": q, "lse": (batch, heads, tokens), "dout": q}


def draw(problem, **changes):
    """A forward problem's operands; every row has a key."""
    torch.manual_seed(0)
    found = []
    for spec in problem.operands:
        shape = sizes(problem, **changes)[spec.name]
        if spec.name == "bounds":
            rows = [[0, 180, 180, 256], [0, 200, 200, 256]]
            found.append(torch.tensor(rows, dtype=torch.int32, device="cuda"))
        elif spec.name == "temp":
            found.append(0.5 + torch.rand(shape, device="cuda"))
        else:
            found.append(torch.randn(shape, device="cuda").to(DTYPES[spec.dtype]))
    return found


class Call:
    """A forward problem's kernels, operands and expected results."""

    def __init__(self, problem, **changes):
        self.problem = problem
        self.artifact = uattn.compile(problem)
        self.arguments = draw(problem, **changes)
        self.results = self.empty(uattn.load(self.artifact).result_specs(self.arguments))
        self.workspace = None
        names = [spec.name for spec in problem.operands]
        self.operands = dict(zip(names, map(host, self.arguments)))
        self.forget()

    @staticmethod
    def empty(specs):
        return [
            torch.empty(spec.shape, dtype=DTYPES[spec.dtype], device="cuda")
            for spec in specs
        ]

    def backward(self, problem):
        """The call of its gradients, once it was launched."""
        made = object.__new__(Call)
        dout = torch.randn_like(self.results[0])
        made.problem, made.artifact = problem, uattn.compile(problem)
        made.arguments = [*self.arguments, *self.results, dout]
        program = uattn.load(made.artifact)
        made.results = self.empty(program.result_specs(made.arguments))
        size = program.workspace_bytes(made.arguments)
        made.workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
        names = [spec.name for spec in problem.operands]
        made.operands = dict(zip(names, map(host, made.arguments)))
        made.forget()
        return made

    @property
    def tensors(self):
        return [*self.arguments, *self.results]

    def forget(self):
        for result in self.results:
            result.fill_(torch.nan)

    def launch(self, **options):
        uattn.triton.launch(
            self.artifact, self.arguments, self.results, workspace=self.workspace, **options
        )

    def run(self):
        uattn.triton.stub(self.problem).run(*self.tensors, workspace=self.workspace)

    def run_plainly(self):
        for kernel in uattn.triton.stub(self.problem).kernels:
            grid = kernel.grid(*self.tensors, workspace=self.workspace)
            given = kernel.arguments(*self.tensors, workspace=self.workspace)
            kernel.function[grid](*given, **kernel.constexprs)

    @property
    def routes(self):
        return {"loader": self.launch, "stub": self.run, "plain": self.run_plainly}


class OnTheGpu(unittest.TestCase):
    def check(self, call):
        torch.cuda.synchronize()
        wanted = uattn.run_reference(call.problem, **call.operands)
        for spec, result in zip(call.problem.results, call.results):
            found, right = result.double().cpu().numpy(), wanted[spec.name]
            error = np.linalg.norm(found - right) / np.linalg.norm(right)
            self.assertLess(error, BOUNDS.get(spec.name, GRADIENT_BOUND), spec.name)

    def test_forward(self):
        for problem in FORWARD:
            call = Call(problem)
            for name, run in call.routes.items():
                with self.subTest(problem=problem, route=name):
                    call.forget()
                    run()
                    self.check(call)

    def test_bits_are_those_of_the_runtime(self):
        for problem in FORWARD:
            call = Call(problem)
            uattn.load(call.artifact).launch(call.arguments, call.results)
            torch.cuda.synchronize()
            wanted = [result.clone() for result in call.results]
            for name, run in call.routes.items():
                with self.subTest(problem=problem, route=name):
                    call.forget()
                    run()
                    torch.cuda.synchronize()
                    for found, right in zip(call.results, wanted):
                        self.assertTrue(torch.equal(found, right))

    def test_backward(self):
        for problem in BACKWARD:
            forward = Call(next(x for x in FORWARD if x.head_dim == problem.head_dim and x.lse))
            forward.launch()
            call = forward.backward(problem)
            for name, run in call.routes.items():
                with self.subTest(problem=problem, route=name):
                    call.forget()
                    run()
                    self.check(call)

    def test_capture(self):
        for problem in (DENSE, RANKER):
            for name in ("loader", "stub", "plain"):
                with self.subTest(problem=problem, route=name):
                    call = Call(problem)
                    run = call.routes[name]
                    run()  # loads the code
                    torch.cuda.synchronize()
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        run()
                    call.forget()
                    graph.replay()
                    self.check(call)

    def test_streams(self):
        call = Call(CAUSAL)
        stream = torch.cuda.Stream()
        for run in call.routes.values():
            call.forget()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                run()
            stream.synchronize()
            self.check(call)
        call.forget()
        torch.cuda.synchronize()
        call.launch(stream=stream, device=0)
        self.check(call)

    def test_sizes_of_one(self):
        """Triton drops an integer argument of 1 where it may."""
        call = Call(CAUSAL, batch=1, heads=1, kv_heads=1, tokens=1, keys=1)
        for run in call.routes.values():
            call.forget()
            run()
            self.check(call)

    def test_strides(self):
        call = Call(DENSE)
        # (batch, heads, tokens, head_dim) in memory.
        call.arguments = [
            x.transpose(1, 2).contiguous().transpose(1, 2) for x in call.arguments
        ]
        for run in call.routes.values():
            call.forget()
            run()
            self.check(call)

    def test_host_memory_is_refused(self):
        call = Call(DENSE)
        call.arguments[1] = call.arguments[1].cpu()
        for run in call.routes.values():
            with self.assertRaisesRegex(ValueError, "k is on device cpu"):
                run()

    def test_example(self):
        for use_graph in (False, True):
            rotation, whole = triton_between.main(use_graph)
            self.assertLess(rotation, 5e-3)
            self.assertLess(whole, 5e-3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--prebuild"]:
        problems = (*FORWARD, *BACKWARD, triton_between.PROBLEM)
        uattn.prebuild(problems, sys.argv[2])
    else:
        unittest.main()
