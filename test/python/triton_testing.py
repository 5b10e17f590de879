"""Triton on a libcuda that only records, and tensors that only say where they
are, for the tests of uattn.triton.

Usage of those tests: TEST.py [LIBCUDA], a shared library of
Inputs/triton_driver.c.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import pathlib
import sys
import tempfile

# Before Triton is imported: nothing cached by or for others.
_cache = tempfile.TemporaryDirectory()
os.environ["TRITON_CACHE_DIR"] = _cache.name
os.environ.pop("TRITON_ALWAYS_COMPILE", None)

from uattn import _abi, _dlpack, _exchange

STREAM = 0x5EED
PARAM_BYTES = {"map": 128, "pointer": 8, "i32": 4, "f32": 4}
CODES = {"bf16": (4, 16), "f16": (2, 16), "f32": (2, 32), "i32": (0, 32), "u8": (1, 8)}
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class FakeTensor:
    """GPU memory that nobody reads, each at an address of its own."""

    count = 0

    def __init__(self, shape, dtype="bf16", device=0):
        FakeTensor.count += 1
        self.address = FakeTensor.count << 32
        self.shape, self.dtype, self.device = tuple(shape), dtype, device

    def __dlpack_device__(self):
        return (2, self.device)

    def __dlpack__(self, *, stream=None, **options):
        rank = len(self.shape)
        self.keep = versioned = _dlpack._Versioned()
        versioned.version.major = 1
        versioned.tensor = _exchange.Tensor(
            data=self.address,
            device=self.__dlpack_device__(),
            ndim=rank,
            dtype=(*CODES[self.dtype], 1),
            shape=(ctypes.c_int64 * rank)(*self.shape),
        )
        return new_capsule(ctypes.addressof(versioned), b"dltensor_versioned", None)


class EncodedMap(ctypes.Structure):
    """map_t of Inputs/triton_driver.c."""

    _fields_ = [
        ("dtype", ctypes.c_uint32),
        ("rank", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("sizes", ctypes.c_uint64 * 4),
        ("stride_bytes", ctypes.c_uint64 * 3),
        ("box", ctypes.c_uint32 * 4),
        ("element_strides", ctypes.c_uint32 * 4),
        ("interleave", ctypes.c_uint32),
        ("swizzle", ctypes.c_uint32),
        ("fill", ctypes.c_uint32),
    ]


class RecordedLaunch(ctypes.Structure):
    """launch_t of Inputs/triton_driver.c."""

    _fields_ = [
        ("entry", ctypes.c_char * 128),
        ("stream", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("smem_bytes", ctypes.c_uint32),
        ("attribute_count", ctypes.c_uint32),
        ("params", (ctypes.c_uint8 * 128) * 64),
    ]


class FakeCuda:
    """The recording libcuda, under the name by which Triton links one."""

    def __init__(self, path):
        path = pathlib.Path(path)
        os.environ["TRITON_LIBCUDA_PATH"] = str(path.parent)
        self.library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self.library.fake_launches.restype = ctypes.POINTER(RecordedLaunch)

    def expect(self, kernels):
        """Forgets what was launched; the next launches are those of `kernels`."""
        self.library.fake_reset()
        for index, kernel in enumerate(kernels):
            sizes = [PARAM_BYTES[param.kind] for param in kernel.params]
            array = (ctypes.c_uint32 * len(sizes))(*sizes)
            self.library.fake_expect(index, array, len(sizes))

    def launches(self):
        count = ctypes.c_int()
        found = self.library.fake_launches(ctypes.byref(count))
        return [found[index] for index in range(count.value)]

    @property
    def module_count(self):
        return self.library.fake_module_count()


def activate(capability=(9, 0)):
    """Triton's own driver on the recording libcuda, without torch."""
    from triton.backends.nvidia import driver as nvidia
    from triton.runtime import driver

    class Driver(nvidia.CudaDriver):
        def __init__(self):
            self.utils = nvidia.CudaUtils()
            self.launcher_cls = nvidia.CudaLauncher
            self.device, self.devices = 0, []
            self.get_device_capability = lambda device: capability
            self.get_current_stream = lambda device: STREAM
            self.get_current_device = lambda: self.device

        def set_current_device(self, device):
            self.device = device
            self.devices.append(device)

    made = Driver()
    driver.set_active(made)
    return made


def tensors_of(artifact, sizes, device=0):
    """(arguments, results) of a function, with the dimensions that `sizes` has
    in place of dynamic ones: (batch, tokens, heads) by name."""
    made = [
        [FakeTensor(sizes[spec.name], spec.dtype, device) for spec in specs]
        for specs in (artifact.arguments(), artifact.results())
    ]
    return made


def param_value(param, raw):
    """What a kernel would read at a parameter."""
    raw = bytes(raw)[: PARAM_BYTES[param.kind]]
    if param.kind == "map":
        return EncodedMap.from_buffer_copy(raw)
    kinds = {"pointer": ctypes.c_uint64, "i32": ctypes.c_int32, "f32": ctypes.c_float}
    return kinds[param.kind].from_buffer_copy(raw).value


def library_argument():
    """The path of the recording libcuda, from the command line."""
    return sys.argv.pop(1)
