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
from uattn import _abi, _exchange
from uattn.torch import _calls, _ops
from uattn.torch._operands import SHORT_NAMES

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
        return self.emulate(artifact, function, launch)

    def exchange_launch(self, reference, objects):
        """As uattn_exchange_launch, but for what stands in a tensor's strides,
        which the emulator may then refuse."""
        given = reference._obj
        count = given.argument_count
        if len(objects) != count + given.result_count:
            raise AssertionError(f"{len(objects)} objects")
        found = []
        for wanted, tensor in zip(given.tensors[: len(objects)], objects):
            if (wanted.rank < 0) != (tensor is None) or tensor is not None and (
                tuple(wanted.shape[: wanted.rank]) != tuple(tensor.shape)
                or tuple(wanted.strides[: wanted.rank]) != tensor.stride()
                or wanted.dtype != _abi.DTYPES.index(SHORT_NAMES[tensor.dtype])
            ):
                return self.real.uattn_problem_validate(_abi.Problem())
            if tensor is not None:
                filled = _abi.Tensor.from_buffer_copy(wanted)
                filled.data = tensor.data_ptr()
                found.append(filled)
        results = found[len(found) - given.result_count :]
        arguments = found[: len(found) - given.result_count]
        self.launches.append((STREAM, given.workspace_bytes))
        launch = _abi.Launch(
            arguments=(_abi.Tensor * len(arguments))(*arguments),
            argument_count=len(arguments),
            results=(_abi.Tensor * len(results))(*results), result_count=len(results))
        return self.emulate(given.program, given.function, launch)

    def emulate(self, artifact, function, launch):
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
    """By the structs of uattn_function_launch, as torch has no exchange
    interface."""

    exchange_of = staticmethod(lambda tensor_type: None)

    def setUp(self):
        self.library = EmulatedLibrary()

        def program(problem, ordinal):
            return EmulatedProgram(uattn.compile(problem))

        for target, name, new in (
            (_abi, "runtime", lambda: self.library),
            (_calls, "_program", program),
            (_calls, "_raw_stream", lambda ordinal: STREAM),
            (_abi, "exchange_launch", lambda: self.library.exchange_launch),
            (_exchange, "of", self.exchange_of),
            (_ops, "_calls", {}),
            (_ops, "_likely", {}),
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

    def test_layouts_in_turn_with_the_same_q(self):
        forward = _ops._forward("CUDA")
        for turn in range(2):
            for kv_tokens, has_temp in ((70, True), (83, True), (70, False)):
                q, k, v = draw(batch=1, heads=2, kv_heads=1, kv_tokens=kv_tokens,
                               seed=turn)
                values = (q, k, v, temperatures(q) if has_temp else None)
                found = forward(*values, None, None, None, *ATTRIBUTES)
                check_forward(self, values, found, cap=uattn.Cap("tanh", 3.0),
                              causal=True)
        self.assertEqual(len(_ops._calls), 3)
        self.assertEqual(len(self.library.launches), 6)


@unittest.skipIf(_exchange.of(torch.Tensor) is None, "this torch has no exchange API")
class Exchanges(Launches):
    """By objects alone."""

    exchange_of = staticmethod(_exchange.of)

    def test_which_call(self):
        q, k, v = draw(batch=1, heads=1, kv_heads=1)
        _ops._forward("CUDA")(q, k, v, *(None,) * 4, *ATTRIBUTES)
        (call,) = _ops._likely.values()
        self.assertIsInstance(call, _calls.ExchangeCall)


if __name__ == "__main__":
    unittest.main()
