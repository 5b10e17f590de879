"""The float64 reference of both ops, on numpy arrays.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import dataclasses

import numpy as np

from . import _abi
from ._arrays import Array, check_array, values_of
from .problem import Problem, indexed_operands, indexed_results

# Where each size of a problem is read: (operand, axis).
_SIZES = {
    "batch": ("q", 0),
    "q_tokens": ("q", 1),
    "q_heads": ("q", 2),
    "kv_tokens": ("k", 1),
    "kv_heads": ("k", 2),
}


def run_reference(problem: Problem, **operands: Array) -> dict[str, Array]:
    """What the op computes, in float64: its results by name.

    Operands come by name, as `problem.operands` lists them, in the problem's
    types: bf16 as uint16 bits or ml_dtypes' bfloat16. Their shapes give the
    sizes that the problem leaves open. The gradients are exact ones: of a
    backward, `out` need not have more than 16 bits.
    """
    names = [spec.name for spec in problem.operands]
    for name in names:
        if name not in operands:
            raise TypeError(f"operand {name} is missing: expected " + ", ".join(names))
    for name in operands:
        if name not in names:
            raise TypeError(
                f"operand {name} is given: expected " + ", ".join(names) + " alone"
            )
    for spec in problem.operands:
        check_array(operands[spec.name], spec)
    found = {
        size: operands[name].shape[axis] for size, (name, axis) in _SIZES.items()
    }
    sized = dataclasses.replace(problem, **found)
    tensors, keep = _abi.ReferenceTensors(), []
    for index, spec in indexed_operands(sized):
        values = values_of(check_array(operands[spec.name], spec), spec)
        tensors.operands[index] = values.ctypes.data
        keep.append(values)
    results = {}
    for index, spec in indexed_results(sized):
        result = np.empty([n for n in spec.shape if n is not None], np.float64)
        tensors.results[index] = result.ctypes.data
        results[spec.name] = result
    library = _abi.reference()
    struct = sized.struct()
    error = library.uattn_reference_run(C.byref(struct), C.byref(tensors), None)
    _abi.check(library, error)
    return results
