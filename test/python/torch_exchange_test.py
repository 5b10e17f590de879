"""What libuattn_runtime makes of torch's own tensors, by DLPack's C exchange
interface: tensors of the CPU that a driver without a GPU takes for its own.

Usage: torch_exchange_test.py LIBFAKE_CUDA
SPDX-License-Identifier: Apache-2.0
"""

import ctypes as C
import resource
import sys
import unittest
from unittest import mock

import torch
import uattn
from torch_testing import draw, normal, temperatures
from uattn import _abi, _exchange
from uattn.torch import _calls

DRIVER = sys.argv.pop(1)
DLPACK_CPU = 1
NAMES = ("q", "k", "v", "temp", "bounds", "q_segment_ids", "kv_segment_ids")


class FakeState(C.Structure):
    """fake_cuda_t of test/unit/fake_cuda.h, as far as is looked at."""

    _fields_ = [
        ("device_count", C.c_int),
        ("capability", C.c_int),
        ("memory_bytes", C.c_size_t),
        ("smem_bytes", C.c_int),
        ("kernel", C.c_int),
        ("refuses", C.c_bool * 3),
        ("pointer_ordinal", C.c_int),
        ("on_launch", C.c_void_p),
        ("counts", C.c_int * 3),
        ("used_bytes", C.c_size_t),
        ("launch_count", C.c_int),
    ]


class FakeProgram:
    """A program on the fake driver."""

    def __init__(self, artifact):
        library = _abi.runtime()
        options = _abi.DeviceOptions(
            struct_size=C.sizeof(_abi.DeviceOptions), driver_path=DRIVER.encode())
        self.artifact, self.device, self.handle = artifact, C.c_void_p(), C.c_void_p()
        _abi.check(library, library.uattn_device_open(
            C.byref(options), C.byref(self.device)))
        _abi.check(library, library.uattn_program_create(
            self.device, artifact.handle, C.byref(self.handle)))


def state():
    get = C.CDLL(DRIVER).fake_cuda_state
    get.restype = C.POINTER(FakeState)
    return get()[0]


def make_call(problem, operands, results):
    """On tensors of the CPU."""
    with (
        mock.patch.object(_calls, "_program", lambda p, _: FakeProgram(uattn.compile(p))),
        mock.patch.object(_exchange, "CUDA", DLPACK_CPU),
    ):
        call = _calls.ExchangeCall(problem, operands, results)
    call._given.device_ordinal = 0
    return call


def launches_of(step):
    before = state().launch_count
    found = step()
    return found, state().launch_count - before


@unittest.skipIf(_exchange.of(torch.Tensor) is None, "this torch has no exchange API")
class Launches(unittest.TestCase):
    def setUp(self):
        q, k, v = draw()
        self.operands = (q, k, v, temperatures(q), None, None, None)
        self.problem = uattn.Problem(head_dim=64, temp="f32", lse=True)
        self.results = [(tuple(q.shape), q.dtype), ((2, 4, 70), torch.float32)]
        self.call = make_call(self.problem, self.operands, self.results)

    def test_forward(self):
        (out, lse), count = launches_of(lambda: self.call.run(self.operands))
        self.assertEqual(count, 1)
        self.assertEqual((out.shape, out.dtype), (self.operands[0].shape, torch.bfloat16))
        self.assertEqual((lse.shape, lse.dtype), ((2, 4, 70), torch.float32))
        self.assertTrue(out.is_contiguous() and lse.is_contiguous())

    def test_backward_takes_a_workspace(self):
        q, k, v, temp, *_ = self.operands
        out, lse = self.call.run(self.operands)
        operands = (*self.operands, out, lse, normal(9, q.shape), None)
        results = [(tuple(x.shape), x.dtype) for x in (q, k, v)]
        results.append((tuple(temp.shape), torch.float32))
        call = make_call(self.problem.backward(dtemp=True), operands, results)
        self.assertGreater(call._workspace_bytes, 0)
        found, count = launches_of(lambda: call.run(operands))
        self.assertEqual(count, len(call._program.artifact.launches.kernels()))
        self.assertEqual([x.shape for x in found], [x.shape for x in (q, k, v, temp)])

    def test_parameters_and_gradients_do_not_matter(self):
        q, k, v, *rest = self.operands
        operands = (torch.nn.Parameter(q), k.clone().requires_grad_(), v, *rest)
        self.assertEqual(launches_of(lambda: self.call.try_run(operands))[1], 1)

    def other_operands(self):
        """(what is different, operands) that a prepared call must not take."""
        def changed(name, value):
            operands = list(self.operands)
            operands[NAMES.index(name)] = value
            return name, tuple(operands)

        q, k, v, temp, *_ = self.operands
        yield changed("k", k[:, 1:])
        yield changed("k", k.half())
        yield changed("k", k.transpose(1, 2).contiguous().transpose(1, 2))
        yield changed("v", v[:, :1].expand(v.shape))
        yield changed("v", v.to("meta"))
        yield changed("v", v.to_sparse())
        yield changed("temp", temp.bfloat16())
        yield changed("temp", temp[:1].expand(temp.shape))
        yield changed("temp", None)
        yield changed("temp", "text")
        yield changed("bounds", torch.zeros(2, 4, dtype=torch.int32))

    def test_others_are_not_taken(self):
        for name, operands in self.other_operands():
            with self.subTest(name):
                found, count = launches_of(lambda: self.call.try_run(operands))
                self.assertIsNone(found)
                self.assertEqual(count, 0)
        self.assertIsNotNone(self.call.try_run(self.operands))

    def test_nothing_is_kept(self):
        """Neither of launches nor of refusals."""
        tensors = [x for x in self.operands if x is not None]
        other = (*self.operands[:3], None, *self.operands[4:])

        def run(count):
            for _ in range(count):
                self.call.run(self.operands)
                self.call.try_run(other)

        run(1000)
        before = [sys.getrefcount(x) for x in tensors]
        bytes_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run(20000)
        self.assertEqual([sys.getrefcount(x) for x in tensors], before)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - bytes_before
        self.assertLess(grown, 1024)  # KiB


if __name__ == "__main__":
    unittest.main()
