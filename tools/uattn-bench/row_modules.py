"""Prints a row of the peers' workload table as uattn's ops, a module each.

What a row holds is said in the peers' workloads.py. Shapes are static, as in a
model that is compiled for them; elements are bf16.
SPDX-License-Identifier: Apache-2.0
"""


def _shaped(*sizes, element="bf16"):
    return f"tensor<{'x'.join(map(str, sizes))}x{element}>"


def _cap(row, workloads):
    numbers = (0.0, 0.0, 0.0)
    if row.cap != "none":
        numbers = (workloads.CAP, 0.0, 0.0)
    if row.cap == "alsc":
        numbers = (workloads.CAP, workloads.ALPHA, workloads.BETA)
    return f'#uattn.cap<"{row.cap}", ' + ", ".join(f"{x:e} : f32" for x in numbers) + ">"


def _types(row):
    """Of every operand and result, by name."""
    q = _shaped(row.B, row.S, row.H, row.D)
    k = _shaped(row.B, row.S, row.Hkv, row.D)
    return {
        "q": q, "k": k, "v": k, "out": q, "dout": q, "dq": q, "dk": k, "dv": k,
        "temp": _shaped(row.B, row.S, element="f32"), "bounds": _shaped(row.B, 4, element="i32"),
        "lse": _shaped(row.B, row.H, row.S, element="f32"),
    }


def _module(row, workloads, op, operands, results, flags=""):
    """`operands` are (name, is present), in the op's order."""
    types = _types(row)
    present = [name for name, is_present in operands if is_present]
    attributes = f"cap = {_cap(row, workloads)}, sm_scale = {row.scale:.9g} : f32{flags}"
    if row.mask in ("causal", "window"):
        attributes += ", causal"
    if row.mask == "window":
        attributes += f", window_len = {row.window} : i64"
    arguments = ", ".join(f"%{name}: {types[name]}" for name in present)
    operand_types = ", ".join(types[name] for name in present)
    result_names = ", ".join(f"%{name}" for name, is_present in results if is_present)
    result_types = ", ".join(types[name] for name, is_present in results if is_present)
    segments, result_segments = (
        ", ".join(str(int(is_present)) for _, is_present in values) for values in (operands, results)
    )
    return f"""\
func.func @main({arguments})
    -> ({result_types}) {{
  {result_names} = "{op}"({", ".join(f"%{name}" for name in present)}) {{
    {attributes},
    operandSegmentSizes = array<i32: {segments}>,
    resultSegmentSizes = array<i32: {result_segments}>
  }} : ({operand_types})
    -> ({result_types})
  return {result_names} : {result_types}
}}
"""


def _common_operands(row):
    return [
        ("q", True), ("k", True), ("v", True), ("temp", row.temp),
        ("bounds", row.mask == "ranker"), ("q_segment_ids", False), ("kv_segment_ids", False),
    ]


def forward_module(row, workloads):
    """It returns out and lse, as a training step wants them."""
    results = [("out", True), ("lse", True)]
    return _module(row, workloads, "uattn.ranker_attention", _common_operands(row), results)


def backward_module(row, workloads, is_deterministic=False):
    """Of q, k and v: the peers form no gradient of temp."""
    operands = [
        *_common_operands(row), ("out", True), ("lse", True), ("dout", True), ("dlse", False)
    ]
    results = [("dq", True), ("dk", True), ("dv", True), ("dtemp", False)]
    flags = ", deterministic" if is_deterministic else ""
    return _module(row, workloads, "uattn.ranker_attention_bwd", operands, results, flags)
