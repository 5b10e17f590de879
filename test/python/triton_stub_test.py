"""What Triton's compiler makes of stubs, and of everything else, without a GPU.

SPDX-License-Identifier: Apache-2.0
"""

import gc
import inspect
import pathlib
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

import triton_testing  # a cache of Triton's of its own, before it is imported

import triton
import triton.language as tl
import uattn
import uattn.triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from uattn.triton import _hook, _loader, _maps

HOPPER = GPUTarget("cuda", 90, 32)
DENSE = uattn.Problem(head_dim=128)
CAUSAL = uattn.Problem(head_dim=64, dtype="f16", causal=True, lse=True)
RANKER = uattn.Problem(head_dim=128, bounds=True, temp="f32", cap=uattn.Cap("tanh", 30.0))


@triton.jit
def double(x, count: tl.constexpr):
    at = tl.arange(0, count)
    tl.store(x + at, 2.0 * tl.load(x + at))


def compile_ordinary():
    source = ASTSource(double, {"x": "*fp32", "count": "constexpr"}, {"count": 64})
    return triton.compile(source, target=HOPPER)


class Compiled(unittest.TestCase):
    def test_a_stub_gets_the_artifacts_code(self):
        for problem in (DENSE, CAUSAL, RANKER, CAUSAL.backward()):
            artifact = uattn.compile(problem)
            stub = uattn.triton.stub(problem)
            kernels = artifact.launches.kernels()
            self.assertEqual(len(stub.kernels), len(kernels))
            for stubbed, kernel in zip(stub.kernels, kernels):
                with self.subTest(kernel=kernel.entry):
                    made = triton.compile(stubbed.source(), target=HOPPER)
                    self.check(made, kernel)

    def check(self, made, kernel):
        self.assertEqual(made.asm["cubin"], kernel.image)
        self.assertIn(kernel.image, uattn_data(kernel))
        self.assertEqual(made.asm["ptx"], kernel.ptx)
        found = made.metadata
        self.assertEqual(found.name, kernel.entry)
        self.assertEqual(found.shared, kernel.dynamic_smem_bytes)
        self.assertEqual(found.num_warps * 32, kernel.threads)
        self.assertEqual(made.packed_metadata, (kernel.warps, 1, found.shared))
        self.assertEqual(found.global_scratch_size, 0)
        self.assertEqual(found.profile_scratch_size, 0)
        self.assertIsNone(found.tensordesc_meta)

    def test_it_is_cached_by_the_artifact(self):
        stubs = [uattn.triton.stub(x) for x in (DENSE, CAUSAL, RANKER)]
        stubs.append(uattn.triton.stub(uattn.Problem(head_dim=128, sm_scale=0.5)))
        hashes = [stub.kernels[0].source().hash() for stub in stubs]
        self.assertEqual(len(set(hashes)), len(stubs))
        backward = uattn.triton.stub(CAUSAL.backward()).kernels
        self.assertEqual(len({x.source().hash() for x in backward}), len(backward))
        again = uattn.triton.stub(uattn.Artifact(uattn.compile(DENSE).data))
        self.assertEqual(again.constexprs["ARTIFACT"], stubs[0].constexprs["ARTIFACT"])
        self.assertIs(uattn.triton.stub(DENSE), stubs[0])

    def test_the_cache_is_read(self):
        hits = []
        source = uattn.triton.stub(DENSE).kernels[0].source
        triton.compile(source(), target=HOPPER)
        with knobs.compilation.scope():
            knobs.compilation.listener = lambda **facts: hits.append(facts["cache_hit"])
            made = triton.compile(source(), target=HOPPER)
        self.assertEqual(hits, [True])
        self.check(made, uattn.compile(DENSE).launches.kernels()[0])

    def test_its_text_can_be_read(self):
        text = inspect.getsource(uattn.triton.stub(RANKER).kernel.fn)
        for line in ('    k_map2: "fp32",', '    temp: "*fp32",', '    bounds: "*i32",',
                     '    q_tokens: "i32",', "    HEAD_DIM: tl.constexpr,"):
            self.assertIn(line + "\n", text)


def uattn_data(kernel):
    """The file that a kernel came from."""
    for problem in (DENSE, CAUSAL, RANKER, CAUSAL.backward()):
        artifact = uattn.compile(problem)
        if kernel.entry in [x.entry for x in artifact.launches.kernels()]:
            return artifact.data
    return b""


class NoDriver:
    """As triton.runtime.driver where there is no GPU."""

    @property
    def active(self):
        raise RuntimeError("0 active drivers ([]). There should only be one.")


class Hook(unittest.TestCase):
    def setUp(self):
        scope = knobs.runtime.scope()
        scope.__enter__()
        self.addCleanup(scope.__exit__, None, None, None)
        always = mock.patch.object(knobs.compilation, "always_compile", True)
        always.start()
        self.addCleanup(always.stop)
        knobs.runtime.add_stages_inspection_hook = None

    def test_other_functions_are_left_alone(self):
        before = compile_ordinary()
        uattn.triton.install()
        after = compile_ordinary()
        self.assertIsInstance(knobs.runtime.add_stages_inspection_hook, _hook._Hook)
        self.assertEqual(after.hash, before.hash)
        self.assertEqual(dict(after.asm), dict(before.asm))
        self.assertEqual(after.metadata, before.metadata)

    def test_an_earlier_hook_is_asked_first(self):
        seen = []

        def earlier(*arguments):
            if not arguments:
                return "key", "hash"
            stages = arguments[1]
            seen.append(list(stages))
            ptx = stages["ptx"]
            stages["ptx"] = lambda source, metadata: ptx(source, metadata) + "// seen\n"

        knobs.runtime.add_stages_inspection_hook = earlier
        uattn.triton.install()
        self.assertTrue(compile_ordinary().asm["ptx"].endswith("// seen\n"))
        stub = uattn.triton.stub(DENSE).kernels[0]
        made = triton.compile(stub.source(), target=HOPPER)
        self.assertEqual(made.asm["ptx"], uattn.compile(DENSE).launches.kernels()[0].ptx)
        self.assertEqual(seen, [["ttir", "ttgir", "llir", "ptx", "cubin"]] * 2)

    def test_keys_of_newer_tritons(self):
        """3.7 asks for (key, hash), which go into the keys of all functions."""
        uattn.triton.install()
        hook = knobs.runtime.add_stages_inspection_hook
        self.assertEqual(hook(), ("", ""))
        knobs.runtime.add_stages_inspection_hook = lambda *arguments: ("key", "hash")
        uattn.triton.install()
        hook = knobs.runtime.add_stages_inspection_hook
        self.assertEqual(hook(), ("key", "hash"))

    def test_a_later_hook_is_kept(self):
        calls = []
        uattn.triton.install()
        ours = knobs.runtime.add_stages_inspection_hook

        def later(*arguments):
            calls.append(len(arguments))
            return ours(*arguments)

        knobs.runtime.add_stages_inspection_hook = later
        stub = uattn.triton.stub(DENSE).kernels[0]
        made = triton.compile(stub.source(), target=HOPPER)
        self.assertEqual(made.metadata.num_warps * 32, 512)
        # From 3.7 on without arguments too, for keys.
        self.assertEqual([x for x in calls if x], [5])

    def test_nothing_is_made_without_the_hook(self):
        """It would be a kernel that does nothing, in the cache from then on."""
        with tempfile.TemporaryDirectory() as folder, knobs.cache.scope():
            knobs.cache.dir = folder
            for problem in (DENSE, CAUSAL.backward()):
                source = uattn.triton.stub(problem).kernels[0].source()
                knobs.runtime.add_stages_inspection_hook = None
                with self.assertRaisesRegex(Exception, "uattn_stage_hook_is_not_insta"):
                    triton.compile(source, target=HOPPER)
                uattn.triton.install()
                made = triton.compile(source, target=HOPPER)
                kernel = uattn.compile(problem).launches.kernels()[0]
                self.assertEqual(made.asm["ptx"], kernel.ptx)

    def test_a_hook_of_a_scope_ends_with_it(self):
        calls = []
        uattn.triton.install()
        with knobs.runtime.scope():
            knobs.runtime.add_stages_inspection_hook = lambda *arguments: calls.append(1)
            stub = uattn.triton.stub(DENSE).kernels[0]
            triton.compile(stub.source(), target=HOPPER)
            self.assertTrue(calls)
        calls.clear()
        compile_ordinary()
        triton.compile(stub.source(), target=HOPPER)
        self.assertEqual(calls, [])

    def test_a_removed_hook_comes_back(self):
        stub = uattn.triton.stub(DENSE).kernels[0]
        knobs.runtime.add_stages_inspection_hook = None
        made = triton.compile(stub.source(), target=HOPPER)
        self.assertEqual(made.metadata.name, uattn.compile(DENSE).launches.kernels()[0].entry)


class Refusals(unittest.TestCase):
    def test_attributes_that_the_artifact_has_not(self):
        stub = uattn.triton.stub(DENSE).kernels[0]
        source = stub.source()
        constants = stub.constexprs | {"HEAD_DIM": 64}
        with self.assertRaisesRegex(ValueError, "HEAD_DIM is 64: expected 128, as the"):
            type(source)(stub.function, source.signature, constants)

    def test_another_gpu(self):
        stub = uattn.triton.stub(CAUSAL).kernels[0]
        with self.assertRaisesRegex(RuntimeError, "capability 80: expected 90, as the"):
            triton.compile(stub.source(), target=GPUTarget("cuda", 80, 32))

    def test_another_backend(self):
        stub = uattn.triton.stub(CAUSAL).kernels[0]
        with self.assertRaisesRegex(RuntimeError, "backend hip: expected cuda, as"):
            triton.compile(stub.source(), target=GPUTarget("hip", "gfx942", 64))

    def test_no_gpu(self):
        stub = uattn.triton.stub(CAUSAL)
        tensors = [None] * 5
        for call in (stub.run, stub.grid, stub.arguments):
            with mock.patch.object(_loader, "driver", NoDriver()):
                with self.assertRaisesRegex(RuntimeError, "Triton finds no GPU .0 active"):
                    call(*tensors)

    def test_an_artifact_that_is_not_there(self):
        artifact = uattn.compile(uattn.Problem(head_dim=64))
        source = uattn.triton.Stub(artifact, "main", {}).kernels[0].source()
        del artifact
        gc.collect()
        with self.assertRaisesRegex(RuntimeError, "an artifact that is not in this pro"):
            triton.compile(source, target=HOPPER)

    def test_functions(self):
        with self.assertRaisesRegex(ValueError, "function is 'f': expected main"):
            uattn.triton.stub(DENSE, function="f")

    def test_tritons_without_a_hook(self):
        old = SimpleNamespace(runtime=SimpleNamespace())
        with mock.patch.object(_hook, "knobs", old):
            with self.assertRaisesRegex(RuntimeError, "expected Triton 3.6 or newer"):
                uattn.triton.install()


class Example(unittest.TestCase):
    def test_its_kernels_compile(self):
        folder = pathlib.Path(__file__).parents[2] / "python_bindings" / "examples"
        with mock.patch.object(sys, "path", [*sys.path, str(folder)]):
            import triton_between as example
        shared = {"x": "*bf16", "HEAD_DIM": "constexpr", "BLOCK": "constexpr"}
        shared |= dict.fromkeys(("tokens", "heads", "count"), "i32")
        for function, own in (
            (example.rotate, {"out": "*bf16"}),
            (example.add, {"residual": "*fp32", "out": "*fp32"}),
        ):
            types = {name: (shared | own)[name] for name in function.arg_names}
            constants = {"HEAD_DIM": 128, "BLOCK": 1024}
            constants = {x: constants[x] for x in types if types[x] == "constexpr"}
            triton.compile(ASTSource(function, types, constants), target=HOPPER)
        self.assertEqual(len(uattn.triton.stub(example.PROBLEM).kernels), 1)


class Imports(unittest.TestCase):
    def test_uattn_alone_imports_no_triton(self):
        program = "import sys, uattn; sys.exit('triton' in sys.modules)"
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_the_utility_of_newer_tritons(self):
        utils = SimpleNamespace(fill_tma_descriptor_tiled=lambda *given: given)
        active = SimpleNamespace(active=SimpleNamespace(utils=utils))
        given = uattn._abi.MapDescription(data=0x1000, dtype=0)
        given.sizes[:], given.box[:] = (128, 4, 200, 2), (64, 1, 128, 1)
        given.stride_bytes[:] = (256, 1024, 204800)
        with mock.patch.object(_maps, "driver", active):
            found = _maps.tensor_map(given)
        wanted = (0x1000, 3, 2, 9, [1, 128, 1, 64], [2, 200, 4, 128], [102400, 512, 128, 1], 0)
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
