"""Writes a problem as MLIR, the language that the compiler reads.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from .problem import Problem, TensorSpec, presence


def module_text(problem: Problem, function: str) -> str:
    """A function that holds the problem's op and returns its results."""
    if not function.isidentifier() or not function.isascii():
        raise ValueError(
            f"function is {function!r}: expected a name of ASCII letters, "
            "digits and _"
        )
    operands, results = problem.operands, problem.results
    op = "uattn.ranker_attention"
    if problem.kind == "backward":
        op += "_bwd"
    arguments = ",\n    ".join(f"%{spec.name}: {spec.mlir_type()}" for spec in operands)
    given = f"{_types(results)}"
    # A backward result may not take the name of an argument.
    names = ", ".join(f"%result_{spec.name}" for spec in results)
    attributes = ",\n    ".join(_attributes(problem))
    return (
        f"func.func @{function}(\n    {arguments})\n    -> ({given}) {{\n"
        f'  {names} = "{op}"({", ".join("%" + spec.name for spec in operands)}) {{\n'
        f"    {attributes}\n"
        f"  }} : ({_types(operands)})\n    -> ({given})\n"
        f"  return {names} : {given}\n}}\n"
    )


def _types(specs: tuple[TensorSpec, ...]) -> str:
    return ", ".join(spec.mlir_type() for spec in specs)


def _f32(value: float) -> str:
    return f"{value:.9e} : f32"  # enough digits for every f32


def _attributes(problem: Problem) -> list[str]:
    cap, struct = problem.cap, problem.struct()
    numbers = ", ".join(_f32(x) for x in (cap.cap, cap.alpha, cap.beta))
    found = [
        f'cap = #uattn.cap<"{cap.method}", {numbers}>',
        f"sm_scale = {_f32(struct.sm_scale)}",
    ]
    if problem.causal:
        found.append("causal")
    if problem.window_len is not None:
        found.append(f"window_len = {problem.window_len} : i64")
    if problem.q_offset:
        found.append(f"q_offset = {problem.q_offset} : i64")
    if problem.z_loss_weight:
        found.append(f"z_loss_weight = {_f32(problem.z_loss_weight)}")
    if problem.deterministic:
        found.append("deterministic")
    operands, results = presence(problem)
    found.append(f"operandSegmentSizes = {_array(operands)}")
    found.append(f"resultSegmentSizes = {_array(results)}")
    return found


def _array(numbers: list[int]) -> str:
    return f"array<i32: {', '.join(map(str, numbers))}>"
