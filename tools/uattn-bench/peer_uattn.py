#!/usr/bin/env python3
"""Times uattn artifacts by the protocol of the peers' benchmark scripts.

A worker for their runner: the current folder holds its modules (harness,
torch_common, workloads). A row has a forward artifact and, where gradients are
wanted, backward artifacts that take what the forward returns:

  forward   q, k, v and, where the row has them, temp and bounds
            -> out and, for a backward, lse
  backward  the same, then out, lse, dout -> dq, dk, dv

    peer_uattn.py --library libuattn_runtime.so
                  --artifacts ROW=FORWARD[:BACKWARD...][,...]
                  --out results.jsonl --sync DIR --name NAME [--limit SECONDS]

A result's variant is the name of its artifact's file without the suffix.
--limit ends the process where its work on the GPU takes longer: a kernel that
hangs must not keep the others from the GPU.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import ctypes as C
import os
import sys
import threading

sys.path.insert(0, os.getcwd())

import torch  # noqa: E402
from harness import Out, Sync  # noqa: E402
from torch_common import DEV, bench, burst, make_data, numerics  # noqa: E402
from workloads import ROWS  # noqa: E402

DTYPES = {torch.bfloat16: 0, torch.float16: 1, torch.float32: 2, torch.int32: 3}


class Tensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("dtype", C.c_int), ("rank", C.c_int32),
                ("shape", C.c_int64 * 4), ("strides", C.c_int64 * 4)]


class ValueInfo(C.Structure):
    _fields_ = [("name", C.c_char_p), ("dtype", C.c_int), ("rank", C.c_int32),
                ("shape", C.c_int64 * 4)]


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
                     "uattn_function_workspace_bytes", "uattn_function_launch"):
            getattr(self.lib, name).restype = C.c_void_p
        self.lib.uattn_error_message.restype = C.c_char_p
        for what in ("argument", "result"):
            getattr(self.lib, f"uattn_artifact_{what}_count").restype = C.c_size_t
            getattr(self.lib, f"uattn_artifact_{what}").restype = ValueInfo
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
        return artifact, program

    def names(self, artifact, what):
        """Of the first function's arguments or results, as the op calls them."""
        zero = C.c_size_t(0)
        count = getattr(self.lib, f"uattn_artifact_{what}_count")(artifact, zero)
        info = getattr(self.lib, f"uattn_artifact_{what}")
        return [info(artifact, zero, C.c_size_t(i)).name.decode() for i in range(count)]

    def make_workspace(self, program, arguments):
        """None where the launch wants no memory."""
        wanted = C.c_size_t()
        self.check(self.lib.uattn_function_workspace_bytes(
            program, C.c_size_t(0), arguments, C.c_size_t(len(arguments)), C.byref(wanted)))
        if wanted.value == 0:
            return None
        return torch.empty(wanted.value, dtype=torch.uint8, device=DEV)

    def bind(self, path, tensors):
        """A function that enqueues one call; its arguments and results are among
        `tensors`, by name."""
        artifact, program = self.load(path)
        written = [tensors[name] for name in self.names(artifact, "result")]
        for result in written:
            result.fill_(float("nan"))  # what the kernels leave out is no number
        arguments = describe([tensors[name] for name in self.names(artifact, "argument")])
        results = describe(written)
        workspace = self.make_workspace(program, arguments)
        place, size = (workspace.data_ptr(), workspace.numel()) if workspace is not None else (None, 0)
        launch = Launch(C.sizeof(Launch), arguments, len(arguments), results, len(results), place,
                        size, torch.cuda.current_stream().cuda_stream, None, None)
        pointer, zero = C.byref(launch), C.c_size_t(0)

        def call():
            error = self.lib.uattn_function_launch(program, zero, pointer)
            if error:
                self.check(error)

        call.keep = (arguments, results, launch, workspace, tensors)
        return call


class RowTimer:
    """The tensors of a row, as artifacts take them, and what is measured on them."""

    def __init__(self, runtime, out, row):
        self.runtime, self.out, self.row = runtime, out, row
        # Views (batch, heads, tokens, head_dim), as the peers have them.
        self.q, self.k, self.v, self.dout, self.temp = make_data(row, grad=False)
        given = {"q": self.q, "k": self.k, "v": self.v, "dout": self.dout}
        self.tensors = {name: x.transpose(1, 2).contiguous() for name, x in given.items()}
        if row.temp:
            self.tensors["temp"] = self.temp
        if row.mask == "ranker":
            bounds = torch.tensor([0, row.hu, row.hu, row.S], dtype=torch.int32, device=DEV)
            self.tensors["bounds"] = bounds.repeat(row.B, 1)
        for name, like in (("out", "q"), ("dq", "q"), ("dk", "k"), ("dv", "v")):
            self.tensors[name] = torch.empty_like(self.tensors[like])
        for name, shape in (("lse", (row.B, row.H, row.S)), ("dtemp", (row.B, row.S))):
            self.tensors[name] = torch.empty(shape, device=DEV)

    def view(self, name):
        return self.tensors[name].transpose(1, 2)

    def time(self, direction, path, sync):
        """Writes the time and the errors; without them, why."""
        row, variant = self.row, os.path.splitext(os.path.basename(path))[0]
        if sync.time_left() < 5:
            self.out.write("skipped", row=row.id, variant=variant, why="time deadline")
            return
        try:
            call = self.runtime.bind(path, self.tensors)
            stats = bench(call)
            self.out.time(row, direction, stats, variant=variant, burst_ms=round(burst(call), 5))
            call()
            grads = None
            if direction == "bwd":
                grads = [self.view(name) for name in ("dq", "dk", "dv")]
            found = numerics(row, self.q, self.k, self.v, self.dout, self.temp, self.view("out"),
                             grads)
            self.out.write("numerics", row=row.id, variant=variant, ref="float64", err=found)
        except Exception as error:
            self.out.error(direction, error, row=row.id, variant=variant)


def parse_artifacts(text):
    """(row, forward, backwards) of ROW=FORWARD[:BACKWARD...][,...]."""
    for item in text.split(","):
        name, _, paths = item.partition("=")
        forward, *backwards = paths.split(":")
        if name not in ROWS or not forward:
            sys.exit(f"peer_uattn: --artifacts has '{item}': expected ROW=FORWARD[:BACKWARD...]")
        yield ROWS[name], forward, backwards


def give_up(out, limit):
    out.write("error", where="time", error=f"no end after {limit:g} s on the GPU")
    os._exit(3)


def main():
    parser = argparse.ArgumentParser()
    for flag in ("library", "artifacts", "out", "sync", "name"):
        parser.add_argument("--" + flag, required=True)
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    rows = [*parse_artifacts(options.artifacts)]
    out, sync = Out(options.out, peer="uattn", worker=options.name), Sync(options.sync, options.name)
    runtime = Runtime(options.library)
    sync.ready()
    sync.wait_go()
    with sync.gpu():
        if options.limit:
            watch = threading.Timer(options.limit, give_up, (out, options.limit))
            watch.daemon = True
            watch.start()
        for row, forward, backwards in rows:
            try:
                timer = RowTimer(runtime, out, row)
            except Exception as error:
                out.error("data", error, row=row.id, variant=os.path.basename(forward))
                continue
            timer.time("fwd", forward, sync)
            for backward in backwards:
                timer.time("bwd", backward, sync)


if __name__ == "__main__":
    main()
