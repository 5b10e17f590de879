"""Runs kernels on the CPU, by executing the PTX of an artifact.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence

import numpy as np

from . import _abi
from ._arrays import NUMPY_DTYPES, Array, check_array, describe
from .artifact import Artifact


def emulate(
    artifact: Artifact,
    arguments: Sequence[Array],
    *,
    function: str | None = None,
    seed: int = 0,
) -> tuple[Array, ...]:
    """The results of a function that the emulator executed; bf16 as uint16
    bits.

    Arguments are numpy arrays, read where they lie. `seed` draws the order of
    warps and asynchronous work. RuntimeError says what the kernel did that it
    must not: an access out of bounds, a race, a missing wait.
    """
    index = artifact.function_index(function)
    specs = artifact.arguments(function)
    if len(arguments) != len(specs):
        raise TypeError(
            f"{len(arguments)} arguments are given: expected "
            + ", ".join(spec.name for spec in specs)
        )
    given = (_abi.Tensor * len(specs))(
        *(
            describe(check_array(array, spec), spec.dtype, spec.name)
            for array, spec in zip(arguments, specs)
        )
    )
    library = _abi.runtime()
    program = C.c_void_p()
    error = library.uattn_emulator_program_create(artifact.handle, C.byref(program))
    _abi.check(library, error)
    try:
        wanted = (_abi.Tensor * len(artifact.results(function)))()
        error = library.uattn_emulator_program_results(
            program, index, given, len(given), wanted
        )
        _abi.check(library, error)
        results = [
            np.empty(
                tensor.shape[: tensor.rank], NUMPY_DTYPES[_abi.DTYPES[tensor.dtype]]
            )
            for tensor in wanted
        ]
        for tensor, result in zip(wanted, results):
            tensor.data = result.ctypes.data
        call = _abi.EmulatorCall(
            struct_size=C.sizeof(_abi.EmulatorCall),
            arguments=given,
            argument_count=len(given),
            results=wanted,
            result_count=len(wanted),
            seed=seed,
        )
        error = library.uattn_emulator_program_run(
            program, index, C.byref(call), None
        )
        _abi.check(library, error)
    finally:
        library.uattn_emulator_program_destroy(program)
    return tuple(results)
