"""What the tests of uattn.torch share: cases, and the float64 reference beside.

The same tests run on the CPU and, with UATTN_TEST_DEVICE=cuda, on a GPU.
SPDX-License-Identifier: Apache-2.0
"""

import os

import attention_testing
import numpy as np
import torch
import uattn
from attention_testing import BOUNDS, NAMES, SHORT, problem_of

DEVICE = os.environ.get("UATTN_TEST_DEVICE", "cpu")


def normal(seed, shape, dtype=torch.bfloat16):
    """Numbers that bfloat16 has, in any type."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.tensor(values).bfloat16().to(DEVICE, dtype)


def draw(batch=2, q_tokens=70, kv_tokens=83, heads=4, kv_heads=2, head_dim=64,
         dtype=torch.bfloat16, seed=0):
    """q, k, v."""
    q = normal(seed, (batch, q_tokens, heads, head_dim), dtype)
    k, v = (normal(seed + i, (batch, kv_tokens, kv_heads, head_dim), dtype)
            for i in (1, 2))
    return q, k, v


def temperatures(q, seed=7):
    return 1 + 0.3 * normal(seed, q.shape[:2], torch.float32)


def host(tensor):
    """numpy's form, bf16 as its bits."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16)
    return tensor.numpy()


def numbers(tensor):
    return tensor.detach().double().cpu().numpy()


def named(values):
    """For the reference, which takes float32 operands as bfloat16."""
    wide = values[0].dtype == torch.float32
    values = [x.bfloat16() if wide and i < 3 else x for i, x in enumerate(values)]
    return {name: host(x) for name, x in zip(NAMES, values) if x is not None}


def short_name(tensor):
    return SHORT[str(tensor.dtype).removeprefix("torch.")]


def error(found, wanted):
    return attention_testing.error(numbers(found), wanted)


def check_forward(test, values, found, **attributes):
    operands = named(values)
    wanted = uattn.run_reference(problem_of(operands, **attributes), **operands)
    test.assertLess(error(found[0], wanted["out"]), BOUNDS[short_name(values[0])][0])
    attention_testing.check_lse(test, numbers(found[1]), wanted["lse"])


def check_gradients(test, values, found, dout, dlse=None, **options):
    """`found` by name: dq, dk, dv, dtemp."""
    wide = dout.dtype == torch.float32
    wanted = attention_testing.backward_reference(
        named(values), host(dout.bfloat16() if wide else dout),
        None if dlse is None else host(dlse), **options)
    for name, gradient in found.items():
        bound = max(BOUNDS[short_name(x)][1] for x in (values[0], gradient))
        test.assertLess(error(gradient, wanted[name]), bound, name)


def keywords(values):
    """Operands after v as ranker_attention takes them."""
    return {name: x for name, x in zip(NAMES[3:], values[3:]) if x is not None}


def refused_layouts():
    """(message, q, k, v, temp) of layouts that no kernel takes."""
    q, k, v = draw()
    temp = temperatures(q)
    wide = normal(3, (2, 70, 4, 128))[..., ::2]
    odd = normal(4, (2, 83, 129))[..., :128].unflatten(2, (2, 64))
    shifted = normal(5, (k.numel() + 1,))[1:].view(k.shape)
    turned = normal(6, (70, 2), torch.float32).t()
    return [
        (r"\(q\) has stride 2 in dimension 3", wide, k, v, temp),
        (r"\(k\) has stride 129 in dimension 1", q, odd, v, temp),
        (r"\(v\) .*16", q, k, shifted, temp),
        (r"\(temp\) has stride 2 in dimension 1.*dense", q, k, v, turned),
    ]


class Case:
    """A case of attention_testing, its operands drawn."""

    def __init__(self, case, dtype=None):
        self.name, self.attributes = case.name, case.attributes
        half = getattr(torch, case.half)
        q, k, v = draw(dtype=dtype or half, **case.sizes)
        temp = None
        if case.temp:
            temp = temperatures(q).to(getattr(torch, case.temp))
        bounds = torch.tensor(attention_testing.RANKER_BOUNDS, dtype=torch.int32)
        ids = [torch.tensor(x) for x in attention_testing.segment_ids()]
        masks = (bounds if case.ranker else None,
                 *(ids if case.segments else (None, None)))
        self.values = (q, k, v, temp,
                       *(x if x is None else x.to(DEVICE) for x in masks))


def cases(dtype=None):
    """Every operand and attribute of the op, once at least; `dtype` replaces
    that of q, k and v."""
    return [Case(case, dtype) for case in attention_testing.CASES]
