"""Triton compiles what uattn-emit-ttgir writes, with registers enough where the plan
was made for it, and the emulator, which runs Triton's PTX, gets the op's result
from it.

usage: ttgir_test.py FOLDER [PATTERN]...   cases of such names, else all
SPDX-License-Identifier: Apache-2.0
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

import numpy
import triton
from triton.backends.compiler import GPUTarget

import ttgir_testing as testing


def launch_text(case, kernel, path):
    """The launch for uattn-run, and the names of the inputs in its order."""
    q_rows, kv_rows = testing.tile_rows(path)
    tiles = -(-case.q_tokens // q_rows)
    kinds = {"temp": case.temp, "bounds": "i32", "q_ids": "i32", "kv_ids": "i32"}
    arrays = testing.draw_inputs(case)
    lines = [f"grid {tiles}x{case.q_heads}x{case.batch}",
             f"block {32 * kernel.metadata.num_warps}",
             f"shared {kernel.metadata.shared}"]
    for name, array in arrays.items():
        shape = "x".join(map(str, array.shape))
        lines.append(f"buffer {name} {kinds.get(name, case.dtype)} {shape} in")
    q_shape = "x".join(map(str, arrays["q"].shape))
    lines.append(f"buffer out {case.dtype} {q_shape} out")
    if case.lse:
        lines.append(f"buffer lse f32 {case.batch}x{case.q_heads}x{case.q_tokens} out")
    for name, rows in (("q", 64), ("k", kv_rows), ("v", kv_rows)):
        lines.append(map_line(name, arrays[name].shape, rows))
    lines += [f"argument pointer {name}" for name in list(arrays)[3:]]
    lines.append(map_line("out", arrays["q"].shape, 64))
    if case.lse:
        lines.append("argument pointer lse")
    sizes = (case.q_tokens, case.kv_tokens, case.q_heads, case.kv_heads)
    lines += [f"argument i32 {size}" for size in sizes]
    lines += ["argument u64 0"] * 2  # Triton's scratch
    return "\n".join(lines) + "\n", arrays


def map_line(name, shape, rows):
    batch, tokens, heads, dim = shape
    strides = (heads * dim * 2, dim * 2, tokens * heads * dim * 2)
    return (f"argument map {name} dims {dim}x{tokens}x{heads}x{batch} "
            f"strides {'x'.join(map(str, strides))} box 64x{rows}x1x1 swizzle 128")


def one_writer(ptx):
    """Triton's warps all store the same words that tell partitions what to do;
    for the emulator that is a race. Lets the first thread alone store them."""
    head, body = ptx.split("\n{\n", 1)
    declared = ("\t.reg .pred %first_thread;\n\t.reg .b32 %thread_index;\n"
                "\tmov.u32 %thread_index, %tid.x;\n"
                "\tsetp.eq.u32 %first_thread, %thread_index, 0;\n")
    words = r"^\t(st\.shared\.(?:v\d\.)?b\d+\s+\[global_smem\+\d+\], \{?[\d, ]+\}?;)"
    body = re.sub(words, r"\t@%first_thread \1", body, flags=re.MULTILINE)
    return head + "\n{\n" + declared + body


def emulate(case, kernel, path):
    """Runs the kernel's PTX; what is wrong with its results, and how far off."""
    base = path.with_suffix("")
    base.with_suffix(".ptx").write_text(one_writer(kernel.asm["ptx"]))
    text, arrays = launch_text(case, kernel, path)
    base.with_suffix(".launch").write_text(text)
    command = ["uattn-run", f"{base}.ptx", f"--launch={base}.launch"]
    for name, array in arrays.items():
        numpy.save(f"{base}.{name}.npy", array)
        command.append(f"--input={base}.{name}.npy")
    names = ["out", "lse"] if case.lse else ["out"]
    command += [f"--output={base}.{name}.npy" for name in names]
    subprocess.run(command, check=True)
    results = [numpy.load(f"{base}.{name}.npy") for name in names]
    return testing.complaint(case, arrays, results[0], results[1] if case.lse else None)


def spills(case, kernel, path):
    """Whether a kernel keeps registers in memory though its plan is uattn-plan's."""
    if case.plan:
        return False
    cubin = path.with_suffix(".cubin")
    cubin.write_bytes(kernel.asm["cubin"])
    tool = pathlib.Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    usage = subprocess.run([tool, "--dump-resource-usage", cubin], check=True,
                           capture_output=True, text=True).stdout
    return int(re.search(r"\bSTACK:(\d+)", usage).group(1)) > 0


def main(folder, patterns):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures = 0
    for case in testing.cases():
        if patterns and not any(fnmatch.fnmatch(case.name, one) for one in patterns):
            continue
        path = testing.emit(case, folder)
        kernel = triton.compile(str(path), target=GPUTarget("cuda", 90, 32))
        wrong, text = emulate(case, kernel, path)
        if spills(case, kernel, path):
            wrong = text = f"{text}, spills"
        failures += wrong is not None
        print(f"{case.name}: {text}: {'wrong' if wrong else 'ok'}", flush=True)
    print("all right" if failures == 0 else f"{failures} wrong")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
