"""What a launch refuses, with tensors that only say that they are on a GPU.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import unittest

import numpy as np
from uattn import _dlpack, _exchange
from uattn.program import stream_handle

FLOAT, BFLOAT, INT = 2, 4, 0
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class FakeTensor:
    """Exports a tensor that never is read."""

    def __init__(self, **changes):
        facts = {"shape": (2, 3), "strides": None, "code": BFLOAT, "bits": 16, "lanes": 1}
        facts |= {"device": (2, 0), "offset": 0, "read_only": False, "is_old": False}
        self.__dict__.update(facts | changes)
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **options):
        if self.is_old and options:
            raise TypeError("unexpected keyword max_version")
        self.streams.append(stream)
        rank = len(self.shape)
        self.keep = versioned = _dlpack._Versioned(flags=int(self.read_only))
        versioned.version.major = 1
        versioned.tensor = _exchange.Tensor(
            data=0x1000,
            device=self.device,
            ndim=rank,
            dtype=(self.code, self.bits, self.lanes),
            shape=(ctypes.c_int64 * rank)(*self.shape),
            byte_offset=self.offset,
        )
        if self.strides:
            versioned.tensor.strides = (ctypes.c_int64 * rank)(*self.strides)
        if self.is_old:
            return new_capsule(ctypes.addressof(versioned.tensor), b"dltensor", None)
        return new_capsule(ctypes.addressof(versioned), b"dltensor_versioned", None)


WORK_STREAM = 0x77


class QuickTensor(FakeTensor):
    """Of a framework that has DLPack's C exchange interface as well."""

    is_cuda = True

    def __init__(self, *, requires_grad=False, is_negative=False, **changes):
        super().__init__(**changes)
        self.requires_grad, self.is_negative = requires_grad, is_negative

    def is_neg(self):
        return self.is_negative


@_exchange._Describe
def describe(tensor, found):
    capsule = FakeTensor.__dlpack__(tensor, stream=None)
    versioned = _dlpack._Versioned.from_address(
        _dlpack._pointer(capsule, b"dltensor_versioned"))
    found[0] = versioned.tensor
    tensor.streams.pop()
    return 0


@_exchange._CurrentStream
def current_stream(kind, ordinal, found):
    found[0] = WORK_STREAM
    return 0


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


exchange_api = _exchange._Api(
    version=(1, 3), describe=address(describe), current_stream=address(current_stream))
# As a framework that is ahead of this package would have it.
newer_api = _exchange._Api(version=(2, 0), older=ctypes.addressof(exchange_api))


def capsule_of(api):
    return new_capsule(ctypes.addressof(api), b"dlpack_exchange_api", None)


QuickTensor.__dlpack_c_exchange_api__ = capsule_of(exchange_api)


def borrow(tensor, *, ordinal=0, stream=0, is_written=False):
    return _dlpack.borrow(
        tensor, "q", ordinal=ordinal, stream=stream, is_written=is_written
    )[0]


class Taken(unittest.TestCase):
    def test_dense(self):
        for is_old in (False, True):
            tensor = borrow(FakeTensor(is_old=is_old, offset=32))
            self.assertEqual((tensor.data, tensor.dtype, tensor.rank), (0x1020, 0, 2))
            self.assertEqual(tensor.shape[:2], [2, 3])
            self.assertEqual(tensor.strides[:2], [3, 1])

    def test_strides(self):
        self.assertEqual(borrow(FakeTensor(strides=(8, 1))).strides[:2], [8, 1])

    def test_producer_hears_of_the_stream(self):
        tensor = FakeTensor()
        borrow(tensor, stream=0x77)
        borrow(tensor)  # the default stream is 1 in the protocol
        self.assertEqual(tensor.streams, [0x77, 1])


class Glances(unittest.TestCase):
    """No capsule is made where the framework works on the stream anyway."""

    def check(self, tensor, streams, stream=WORK_STREAM):
        found = borrow(tensor, stream=stream)
        self.assertEqual((found.data, found.dtype, found.rank), (0x1020, 0, 2))
        self.assertEqual(found.shape[:2], [2, 3])
        self.assertEqual(found.strides[:2], [3, 1])
        self.assertEqual(tensor.streams, streams)

    def test_current_stream(self):
        self.check(QuickTensor(offset=32), [])

    def test_another_stream_has_to_wait(self):
        self.check(QuickTensor(offset=32), [0x78], stream=0x78)

    def test_what_a_capsule_may_refuse(self):
        for change in ({"requires_grad": True}, {"is_negative": True}):
            self.check(QuickTensor(offset=32, **change), [WORK_STREAM])

    def test_another_device_is_named(self):
        with self.assertRaisesRegex(ValueError, "q is on device cuda:1: expected cuda:0"):
            borrow(QuickTensor(device=(2, 1)), stream=WORK_STREAM)

    def test_bytes(self):
        found = _dlpack.borrow_bytes(
            QuickTensor(offset=32), "workspace", ordinal=0, stream=WORK_STREAM)
        self.assertEqual(found[:2], (0x1020, 12))

    def test_older_table_of_a_newer_framework(self):
        newer = type("Newer", (QuickTensor,), {})
        newer.__dlpack_c_exchange_api__ = capsule_of(newer_api)
        self.check(newer(offset=32), [])
        newest = type("Newest", (QuickTensor,), {})
        alone = _exchange._Api(version=(2, 0))
        newest.__dlpack_c_exchange_api__ = capsule_of(alone)
        self.check(newest(offset=32), [WORK_STREAM])

    def test_bytes(self):
        found = _dlpack.borrow_bytes(
            FakeTensor(shape=(5,), code=1, bits=8), "workspace", ordinal=0, stream=0
        )
        self.assertEqual(found[:2], (0x1000, 5))


class Refused(unittest.TestCase):
    def refuses(self, kind, message, tensor, **options):
        with self.assertRaises(kind) as caught:
            borrow(tensor, **options)
        self.assertEqual(str(caught.exception), message)

    def test_no_tensor(self):
        self.refuses(
            TypeError, "q is a list: expected a tensor with __dlpack__", [1.0]
        )

    def test_host_memory(self):
        self.refuses(
            ValueError,
            "q is on device cpu:0: expected a cuda device (uattn.emulate takes "
            "host arrays)",
            np.zeros((2, 3), np.float16),
        )

    def test_another_gpu(self):
        self.refuses(
            ValueError,
            "q is on device cuda:1: expected cuda:0, the program's",
            FakeTensor(device=(2, 1)),
        )

    def test_dtype(self):
        wanted = "expected bfloat16, float16, float32 or int32"
        self.refuses(
            TypeError, f"q has dtype float64: {wanted}", FakeTensor(code=FLOAT, bits=64)
        )
        self.refuses(
            TypeError, f"q has dtype float32x2: {wanted}",
            FakeTensor(code=FLOAT, bits=32, lanes=2),
        )  # fmt: skip

    def test_rank(self):
        self.refuses(
            ValueError, "q has rank 5: expected at most 4", FakeTensor(shape=(1,) * 5)
        )

    def test_read_only_result(self):
        borrow(FakeTensor(read_only=True))
        self.refuses(
            ValueError,
            "q is read-only: expected memory that can be written",
            FakeTensor(read_only=True),
            is_written=True,
        )

    def test_workspace_with_gaps(self):
        with self.assertRaisesRegex(ValueError, "workspace is not dense"):
            _dlpack.borrow_bytes(
                FakeTensor(strides=(8, 1)), "workspace", ordinal=0, stream=0
            )

    def test_streams(self):
        class Torch:
            cuda_stream = 5

        class Cuda:
            def __cuda_stream__(self):
                return 0, 7

        self.assertEqual([stream_handle(x) for x in (3, Torch(), Cuda())], [3, 5, 7])
        for wrong in (None, "0", -1, True):
            with self.assertRaisesRegex(TypeError, "stream is .*: expected a CUstream"):
                stream_handle(wrong)


if __name__ == "__main__":
    unittest.main()
