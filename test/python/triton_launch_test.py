"""What reaches the driver when Triton launches uattn's kernels: by its loader,
by stubs, and by stubs in Triton's own way. No GPU; a libcuda that records.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import unittest

import triton_testing as testing

CUDA = testing.FakeCuda(testing.library_argument())

import uattn
import uattn.triton
from uattn import _abi

B, M, N, H, K = 2, 200, 230, 4, 2
DTYPES = {"f16": 6, "bf16": 9}
DENSE = uattn.Problem(head_dim=128)
CAUSAL = uattn.Problem(head_dim=64, dtype="f16", causal=True, lse=True)
RANKER = uattn.Problem(
    head_dim=128, bounds=True, temp="f32", lse=True, cap=uattn.Cap("tanh", 30.0)
)


def sizes(problem, batch=B, q_heads=H, kv_heads=K):
    q, kv = (batch, M, q_heads, problem.head_dim), (batch, N, kv_heads, problem.head_dim)
    rows = (batch, q_heads, M)
    found = {"q": q, "k": kv, "v": kv, "out": q, "dout": q, "dq": q, "dk": kv, "dv": kv}
    return found | {"lse": rows, "temp": (batch, M), "dtemp": (batch, M), "bounds": (batch, 4)}


class Call:
    """A problem's artifact, and tensors for it."""

    def __init__(self, problem, device=0, **changes):
        self.problem = problem
        self.artifact = uattn.compile(problem)
        self.kernels = self.artifact.launches.kernels()
        self.arguments, self.results = testing.tensors_of(
            self.artifact, sizes(problem, **changes), device
        )
        bytes_ = self.artifact.workspace_bytes([x.shape for x in self.arguments])
        self.workspace = testing.FakeTensor((bytes_,), "u8", device) if bytes_ else None
        self.device = device

    @property
    def tensors(self):
        return [*self.arguments, *self.results]

    def described(self):
        return self.artifact.launches.describe(
            self.arguments, self.results, workspace=self.workspace, device=self.device
        )


class Launches(unittest.TestCase):
    def setUp(self):
        self.driver = testing.activate()

    def check(self, call, stream=testing.STREAM):
        """What was recorded is what was described."""
        found = CUDA.launches()
        self.assertEqual(len(found), len(call.kernels))
        for made, wanted in zip(found, call.described()):
            kernel = wanted.kernel
            self.assertEqual(made.entry.decode(), kernel.entry)
            self.assertEqual(made.stream, stream)
            self.assertEqual(list(made.grid), [wanted.cta_count, 1, 1])
            self.assertEqual(list(made.block), [kernel.threads, 1, 1])
            self.assertEqual(made.smem_bytes, kernel.dynamic_smem_bytes)
            self.assertEqual(made.attribute_count, 0)
            for param, value, raw in zip(kernel.params, wanted.values, made.params):
                with self.subTest(kernel=kernel.entry, param=param):
                    self.check_param(param, value, testing.param_value(param, raw))

    def check_param(self, param, wanted, found):
        if param.kind != "map":
            self.assertEqual(found, wanted)
            return
        self.assertEqual(found.dtype, DTYPES[_abi.DTYPES[wanted.dtype]])
        self.assertEqual((found.rank, found.address), (4, wanted.data))
        for name in ("sizes", "stride_bytes", "box"):
            self.assertEqual(list(getattr(found, name)), list(getattr(wanted, name)))
        self.assertEqual(list(found.element_strides), [1] * 4)
        self.assertEqual((found.interleave, found.swizzle, found.fill), (0, 3, 0))

    def calls(self):
        for problem in (DENSE, CAUSAL, RANKER, RANKER.backward(dtemp=True)):
            with self.subTest(problem=problem):
                call = Call(problem)
                CUDA.expect(call.kernels)
                yield call

    def test_by_the_loader(self):
        for call in self.calls():
            uattn.triton.launch(
                call.artifact, call.arguments, call.results, workspace=call.workspace
            )
            self.check(call)

    def test_by_stubs(self):
        for call in self.calls():
            stub = uattn.triton.stub(call.problem)
            stub.run(*call.tensors, workspace=call.workspace)
            self.check(call)

    def test_by_stubs_in_tritons_way(self):
        for call in self.calls():
            stub = uattn.triton.stub(call.problem)
            for kernel in stub.kernels:
                grid = kernel.grid(*call.tensors, workspace=call.workspace)
                given = kernel.arguments(*call.tensors, workspace=call.workspace)
                kernel.function[grid](*given, **kernel.constexprs)
            self.check(call)

    def test_the_only_kernel(self):
        call = Call(DENSE)
        stub = uattn.triton.stub(DENSE)
        CUDA.expect(call.kernels)
        stub.kernel[stub.grid(*call.tensors)](
            *stub.arguments(*call.tensors), **stub.constexprs
        )
        self.check(call)

    def test_numbers_of_one_are_passed(self):
        """Triton makes a constant of an integer that is 1, and drops it."""
        call = Call(CAUSAL, batch=1, q_heads=1, kv_heads=1)
        stub = uattn.triton.stub(CAUSAL)
        for tensors in (Call(CAUSAL).tensors, call.tensors):
            CUDA.expect(call.kernels)
            stub.run(*tensors)
        self.check(call)
        functions = stub.kernel.device_caches[0][0]
        self.assertEqual(len(functions), 1, "sizes must not make new functions")

    def test_names(self):
        call = Call(CAUSAL)
        named = dict(zip(("q", "k", "v", "out", "lse"), call.tensors))
        CUDA.expect(call.kernels)
        uattn.triton.stub(CAUSAL).run(named.pop("q"), named.pop("k"), **named)
        self.check(call)

    def test_scale(self):
        call = Call(DENSE)
        CUDA.expect(call.kernels)
        uattn.triton.launch(call.artifact, call.arguments, call.results, sm_scale=0.5)
        params = call.kernels[0].params
        scale = [param.name for param in params].index("post_scale")
        found = testing.param_value(params[scale], CUDA.launches()[0].params[scale])
        self.assertEqual(found, ctypes.c_float(0.5 * 1.4426950408889634).value)

    def test_stream_and_device(self):
        call = Call(DENSE, device=1)
        CUDA.expect(call.kernels)
        uattn.triton.launch(
            call.artifact, call.arguments, call.results, stream=0x77, device=1
        )
        self.check(call, stream=0x77)
        self.assertEqual(self.driver.devices, [1, 0])

    def test_code_is_loaded_once(self):
        call = Call(DENSE)
        counts = []
        for _ in range(3):
            CUDA.expect(call.kernels * 2)
            read = uattn.Artifact(call.artifact.data)
            uattn.triton.launch(read, call.arguments, call.results)
            uattn.triton.stub(DENSE).run(*call.tensors)
            counts.append(CUDA.module_count)
        self.assertEqual(counts, counts[:1] * 3)


class Refusals(unittest.TestCase):
    def setUp(self):
        testing.activate()
        self.call = Call(CAUSAL)
        CUDA.expect([])

    def tearDown(self):
        self.assertEqual(CUDA.launches(), [], "nothing may be enqueued")

    def refuses(self, kind, message, *arguments, **options):
        for run in (self.launch, uattn.triton.stub(CAUSAL).run):
            with self.assertRaisesRegex(kind, message):
                run(*arguments, **options)

    def launch(self, *tensors, **options):
        uattn.triton.launch(self.call.artifact, tensors[:3], tensors[3:], **options)

    def test_tensors(self):
        q, k, v, out, lse = self.call.tensors
        fake = testing.FakeTensor
        self.refuses(TypeError, "k has dtype bf16: expected f16", q, fake(k.shape), v, out, lse)
        wrong = fake((B, N, K, 32), "f16")
        self.refuses(ValueError, r"\(k\) has 32 in dimension 3: wanted 64", q, wrong, v, out, lse)
        other = fake(q.shape, "f16", device=1)
        self.refuses(ValueError, "q is on device cuda:1: expected cuda:0", other, k, v, out, lse)
        self.refuses(TypeError, "lse is a list: expected a tensor", q, k, v, out, [])

    def test_numbers_of_tensors(self):
        *tensors, lse = self.call.tensors
        stub = uattn.triton.stub(CAUSAL)
        with self.assertRaisesRegex(TypeError, "lse is missing: expected q, k, v, out"):
            stub.run(*tensors)
        with self.assertRaisesRegex(TypeError, "6 tensors are given: expected q, k"):
            stub.run(*tensors, lse, lse)
        with self.assertRaisesRegex(TypeError, "temp is not a tensor of main"):
            stub.run(*tensors, lse, temp=lse)
        with self.assertRaisesRegex(TypeError, "q is given twice"):
            stub.run(*tensors, q=lse)

    def test_workspace(self):
        call = Call(RANKER.backward())
        with self.assertRaisesRegex(ValueError, "workspace of 0 bytes: wanted"):
            uattn.triton.launch(call.artifact, call.arguments, call.results)
        with self.assertRaisesRegex(ValueError, "workspace of 0 bytes: wanted"):
            uattn.triton.stub(call.problem).run(*call.tensors)

    def test_source(self):
        with self.assertRaisesRegex(TypeError, "source is a str: expected a uattn.Art"):
            uattn.triton.launch("artifact", [], [])

    def test_another_gpu(self):
        testing.activate(capability=(8, 0))
        call = Call(uattn.Problem(head_dim=256))
        with self.assertRaisesRegex(RuntimeError, "capability 80: expected 90, as"):
            uattn.triton.launch(call.artifact, call.arguments, call.results)

    def test_several_kernels(self):
        stub = uattn.triton.stub(RANKER.backward())
        with self.assertRaisesRegex(ValueError, r"main has \d kernels: expected `run`"):
            stub.kernel


if __name__ == "__main__":
    unittest.main()
