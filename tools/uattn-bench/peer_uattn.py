#!/usr/bin/env python3
"""Times uattn artifacts by the protocol of the peers' benchmark scripts.

A worker for their runner: the current folder holds its modules (harness,
torch_common, workloads). Artifacts take q, k, v and, where the row has them,
temp and bounds, and return out or out and lse.

    peer_uattn.py --library libuattn_runtime.so --artifacts ROW=FILE[,...]
                  --out results.jsonl --sync DIR --name NAME

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import ctypes as C
import os
import sys

sys.path.insert(0, os.getcwd())

import torch  # noqa: E402
from harness import Out, Sync  # noqa: E402
from torch_common import bench, burst, make_data, numerics  # noqa: E402
from workloads import ROWS  # noqa: E402

DTYPES = {torch.bfloat16: 0, torch.float16: 1, torch.float32: 2, torch.int32: 3}


class Tensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("dtype", C.c_int), ("rank", C.c_int32),
                ("shape", C.c_int64 * 4), ("strides", C.c_int64 * 4)]


class Launch(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("arguments", C.POINTER(Tensor)),
                ("argument_count", C.c_size_t), ("results", C.POINTER(Tensor)),
                ("result_count", C.c_size_t), ("workspace", C.c_void_p),
                ("workspace_bytes", C.c_size_t), ("stream", C.c_void_p),
                ("sm_scale", C.c_void_p), ("cap", C.c_void_p)]


def describe(tensors):
    array = (Tensor * len(tensors))()
    for at, x in zip(array, tensors):
        at.data, at.dtype, at.rank = x.data_ptr(), DTYPES[x.dtype], x.dim()
        at.shape[: x.dim()] = x.shape
        at.strides[: x.dim()] = x.stride()
    return array


class Runtime:
    def __init__(self, path):
        self.lib = C.CDLL(path)
        for name in ("uattn_artifact_read", "uattn_device_open", "uattn_program_create",
                     "uattn_function_launch"):
            getattr(self.lib, name).restype = C.c_void_p
        self.lib.uattn_error_message.restype = C.c_char_p
        self.lib.uattn_artifact_result_count.restype = C.c_size_t
        torch.cuda.current_stream().synchronize()  # makes the primary context
        self.device = C.c_void_p()
        self.check(self.lib.uattn_device_open(None, C.byref(self.device)))

    def check(self, error):
        if error:
            raise RuntimeError(self.lib.uattn_error_message(C.c_void_p(error)).decode())

    def load(self, path):
        artifact, program = C.c_void_p(), C.c_void_p()
        self.check(self.lib.uattn_artifact_read(path.encode(), C.byref(artifact)))
        self.check(self.lib.uattn_program_create(self.device, artifact, C.byref(program)))
        return program, self.lib.uattn_artifact_result_count(artifact, C.c_size_t(0))

    def bind(self, path, arguments, out, lse):
        """A function that enqueues one call and returns out."""
        program, result_count = self.load(path)
        args, results = describe(arguments), describe([out, lse][:result_count])
        launch = Launch(C.sizeof(Launch), args, len(args), results, len(results), None, 0,
                        torch.cuda.current_stream().cuda_stream, None, None)
        pointer, zero = C.byref(launch), C.c_size_t(0)

        def call():
            error = self.lib.uattn_function_launch(program, zero, pointer)
            if error:
                self.check(error)
            return out

        call.keep = (args, results, launch, arguments, lse)
        return call


def main():
    parser = argparse.ArgumentParser()
    for flag in ("library", "artifacts", "out", "sync", "name"):
        parser.add_argument("--" + flag, required=True)
    options = parser.parse_args()
    out, sync = Out(options.out, peer="uattn", worker=options.name), Sync(options.sync, options.name)
    sync.ready()
    sync.wait_go()
    with sync.gpu():
        runtime = Runtime(options.library)
        for item in options.artifacts.split(","):
            name, path = item.split("=")
            row, variant = ROWS[name], os.path.basename(path)
            try:
                q, k, v, do, temp = make_data(row, grad=False)
                arguments = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
                if row.temp:
                    arguments.append(temp)
                if row.mask == "ranker":
                    bounds = torch.tensor([0, row.hu, row.hu, row.S], dtype=torch.int32, device="cuda")
                    arguments.append(bounds.repeat(row.B, 1))
                result = torch.full_like(arguments[0], float("nan"))
                lse = torch.full((row.B, row.H, row.S), float("nan"), device="cuda")
                call = runtime.bind(path, arguments, result, lse)
                out.time(row, "fwd", bench(call), variant=variant, burst_ms=round(burst(call), 5))
                error = numerics(row, q, k, v, do, temp, call().transpose(1, 2), None)
                out.write("numerics", row=name, variant=variant, ref="float64", err=error)
            except Exception as error:
                out.error("fwd", error, row=name, variant=variant)


if __name__ == "__main__":
    main()
