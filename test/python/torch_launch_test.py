"""What uattn.torch hands to a launch, without a GPU: an emulated launch reads the
same structs, and computes on CPU tensors what the kernels would on a GPU's.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes as C
import unittest
from unittest import mock

import torch
import uattn
from torch_testing import (
    check_forward, check_gradients, draw, normal, refused_layouts, temperatures,
)
from uattn import _abi
from uattn.torch import _calls, _ops

STREAM = 0x1230
ATTRIBUTES = ("tanh", 3.0, 0.0, 0.0, None, True, 0, 0, 0.0, False)


class EmulatedProgram:
    """Stands for a program on a GPU: the handle is an artifact's."""

    def __init__(self, artifact):
        self.artifact, self.handle = artifact, artifact.handle


class EmulatedLibrary:
    """libuattn_runtime, whose launches are emulated."""

    def __init__(self):
        self.real = _abi.runtime()
        self.launches = []

    def __getattr__(self, name):
        return getattr(self.real, name)

    def uattn_function_workspace_bytes(self, *arguments):
        return self.real.uattn_artifact_workspace_bytes(*arguments)

    def uattn_function_launch(self, artifact, function, reference):
        launch = reference._obj
        self.launches.append((launch.stream, launch.workspace_bytes))
        program = C.c_void_p()
        error = self.real.uattn_emulator_program_create(artifact, C.byref(program))
        _abi.check(self.real, error)
        call = _abi.EmulatorCall(
            struct_size=C.sizeof(_abi.EmulatorCall),
            arguments=launch.arguments, argument_count=launch.argument_count,
            results=launch.results, result_count=launch.result_count)
        error = self.real.uattn_emulator_program_run(program, function,
                                                     C.byref(call), None)
        self.real.uattn_emulator_program_destroy(program)
        return error


class Launches(unittest.TestCase):
    def setUp(self):
        self.library = EmulatedLibrary()

        def program(problem, ordinal):
            return EmulatedProgram(uattn.compile(problem))

        for target, name, new in (
            (_abi, "runtime", lambda: self.library),
            (_calls, "_program", program),
            (_calls, "_raw_stream", lambda ordinal: STREAM),
            (_ops, "_calls", {}),
        ):
            patch = mock.patch.object(target, name, new)
            patch.start()
            self.addCleanup(patch.stop)

    def test_forward_and_backward(self):
        """Twice with the same prepared calls, the second time with strides 0 in
        a cotangent, which no kernel takes."""
        forward, backward = _ops._forward("CUDA"), _ops._backward("CUDA")
        attributes = {"cap": uattn.Cap("tanh", 3.0), "causal": True}
        for seed in (0, 30):
            q, k, v = draw(batch=1, heads=2, kv_heads=1, seed=seed)
            values = (q, k, v, temperatures(q))
            out, lse = forward(*values, None, None, None, *ATTRIBUTES)
            check_forward(self, values, (out, lse), **attributes)
            dout = normal(9, q.shape) if seed == 0 else torch.ones(1).bfloat16()
            dout = dout.expand(q.shape)
            dlse = normal(10, lse.shape, torch.float32)
            found = backward(*values, None, None, None, out, lse, dout, dlse,
                             *ATTRIBUTES, True)
            named = dict(zip(("dq", "dk", "dv", "dtemp"), found))
            check_gradients(self, values, named, dout.contiguous(), dlse=dlse,
                            **attributes)
        self.assertEqual(len(self.library.launches), 4)
        self.assertEqual(len(_ops._calls), 2)
        self.assertEqual({stream for stream, _ in self.library.launches}, {STREAM})
        self.assertGreater(self.library.launches[1][1], 0)

    def test_layouts(self):
        """Strides reach the launch, whose refusals name the argument."""
        forward = _ops._forward("CUDA")
        for message, *values in refused_layouts():
            with self.assertRaisesRegex(ValueError, message):
                forward(*values, None, None, None, *ATTRIBUTES)
        packed = normal(7, (1, 70, 3, 2, 64)).unbind(2)
        values = (*packed, temperatures(packed[0]))
        found = forward(*values, None, None, None, *ATTRIBUTES)
        check_forward(self, values, found, cap=uattn.Cap("tanh", 3.0), causal=True)

    def test_unwanted_temp_gradient(self):
        q, k, v = draw(batch=1, heads=1, kv_heads=1)
        none = (None,) * 4
        out, lse = _ops._forward("CUDA")(q, k, v, *none, *ATTRIBUTES)
        found = _ops._backward("CUDA")(q, k, v, *none, out, lse, normal(9, q.shape),
                                       None, *ATTRIBUTES, False)
        self.assertEqual(found[3].shape, (0,))


if __name__ == "__main__":
    unittest.main()
