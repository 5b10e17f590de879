"""What uattn.torch refuses, and how it says so.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import numpy as np
import torch
import uattn.torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch_testing import DEVICE, draw, temperatures
from uattn.torch import bounds_from_segment_ids, check_segment_ids

attention = uattn.torch.ranker_attention
q, k, v = draw()
TEMP = temperatures(q)


def nested(tensor):
    return torch.nested.nested_tensor([*tensor])


def ints(*shape, dtype=torch.int32):
    return torch.zeros(shape, dtype=dtype, device=DEVICE)


class BadInput(unittest.TestCase):
    def refuse(self, kind, message, *operands, **keywords):
        with self.assertRaisesRegex(kind, message):
            attention(*operands, **keywords)

    def test_dtypes(self):
        self.refuse(TypeError, "q has dtype float64: expected bfloat16 or float16",
                    q.double(), k, v)
        self.refuse(TypeError, "v has dtype float16: expected bfloat16 as q",
                    q, k, v.half())
        self.refuse(TypeError, "temp has dtype int32: expected float32 or bfloat16",
                    q, k, v, temp=TEMP.int())
        self.refuse(TypeError, "bounds has dtype float32: expected int32",
                    q, k, v, bounds=torch.zeros(2, 4, device=DEVICE))
        self.refuse(TypeError, "bounds has dtype int64: expected int32",
                    q, k, v, bounds=ints(2, 4).long())
        self.refuse(TypeError, "q_segment_ids has dtype int64: expected int32",
                    q, k, v, q_segment_ids=ints(2, 70).long(),
                    kv_segment_ids=ints(2, 83).long())

    def test_float32_on_a_gpu(self):
        """As a compiler sees it, which needs no GPU."""
        with FakeTensorMode():
            wide = torch.empty(2, 70, 4, 64, device="cuda")
            self.refuse(TypeError, "q has dtype float32: expected bfloat16 or "
                        "float16; float32 is for CPU tensors alone", wide, wide, wide)
            half = wide.half()
            out = attention(half, half, half)
        self.assertEqual((out.shape, out.device.type), (half.shape, "cuda"))

    def test_ranks_and_sizes(self):
        self.refuse(ValueError, r"q has shape \(70, 4, 64\): expected rank 4",
                    q[0], k, v)
        self.refuse(ValueError, r"k has 1 in dimension 0 \(B\): expected 2, as q has",
                    q, k[:1], v)
        self.refuse(ValueError, r"v has 80 in dimension 1 \(KV\): expected 83, as k",
                    q, k, v[:, :80])
        self.refuse(ValueError, r"k has 32 in dimension 3 \(D\): expected 64, as q",
                    q, k[..., :32], v)
        self.refuse(ValueError, "q has 4 heads: expected a multiple of the 3 of k",
                    q, *(x.repeat(1, 1, 2, 1)[:, :, :3] for x in (k, v)))
        self.refuse(ValueError, r"temp has 83 in dimension 1 \(Q\): expected 70",
                    q, k, v, temp=torch.ones(2, 83, device=DEVICE))
        self.refuse(ValueError, r"bounds has 5 in dimension 1 \(4\): expected 4",
                    q, k, v, bounds=ints(2, 5))
        self.refuse(ValueError, "expected no empty dimension", q[:, :0], k, v)
        self.refuse(ValueError, "head_dim 72 is not supported|head_dim is 72",
                    *draw(head_dim=72))
        self.refuse(ValueError, "head_dim", *draw(head_dim=320))

    def test_absent_operands(self):
        self.refuse(TypeError, "kv_segment_ids is None: expected both",
                    q, k, v, q_segment_ids=ints(2, 70))
        self.refuse(TypeError, "k is a NoneType: expected a torch.Tensor", q, None, v)
        self.refuse(TypeError, "q is a list: expected a torch.Tensor", [1.0], k, v)
        self.refuse(TypeError, "bounds is a ndarray: expected a torch.Tensor", q, k, v,
                    bounds=np.zeros((2, 4), np.int32))

    def test_devices(self):
        other = "meta" if DEVICE == "cpu" else "cpu"
        found = rf"temp is on {other}.*: expected {DEVICE}.*, where q is"
        self.refuse((ValueError, NotImplementedError), found, q, k, v,
                    temp=torch.ones(2, 70, device=other))

    def test_attributes(self):
        self.refuse(TypeError, "sm_scale is '1': expected a number", q, k, v,
                    sm_scale="1")
        self.refuse(ValueError, "sm_scale", q, k, v, sm_scale=float("inf"))
        self.refuse(ValueError, "window_len is -1: expected 1 or more", q, k, v,
                    window_len=-1)
        self.refuse(TypeError, "window_len is 1.5: expected an int", q, k, v,
                    window_len=1.5)
        self.refuse(TypeError, "causal is 1: expected True or False", q, k, v,
                    causal=1)
        self.refuse(TypeError, "cap is 'tanh': expected a uattn.Cap or", q, k, v,
                    cap="tanh")
        self.refuse(TypeError, "cap cap is '3': expected a number", q, k, v,
                    cap=("tanh", "3", 0.0, 0.0))
        self.refuse(ValueError, "cap method is 'cosh': expected none, tanh", q, k, v,
                    cap=("cosh", 3.0, 0.0, 0.0))
        self.refuse(ValueError, "cap", q, k, v, cap=("tanh", -3.0, 0.0, 0.0))
        self.refuse(ValueError, "z_loss_weight", q, k, v, z_loss_weight=float("nan"))
        self.refuse(TypeError, "deterministic is None", q, k, v, deterministic=None)
        self.refuse(TypeError, "return_lse is 1: expected True or False", q, k, v,
                    return_lse=1)

    def test_numbers_beyond_all_types(self):
        for name, value in (("window_len", 2**63), ("q_offset", -(2**63) - 1),
                            ("window_len", np.uint64(2**63))):
            self.refuse(ValueError, f"{name} is -?[0-9]+: expected a number of 64 bits",
                        q, k, v, **{name: value})
        for name in ("sm_scale", "z_loss_weight"):
            self.refuse(ValueError, f"{name} is a number of 603 digits: expected one b",
                        q, k, v, **{name: 2**2000})

    def test_layouts_without_strides(self):
        for name, value in (("sparse_coo", q.to_sparse()), ("nested", nested(q))):
            self.refuse(TypeError, f"q has layout {name}: expected strided",
                        value, k, v)
            self.refuse(TypeError, f"v has layout {name}: expected strided",
                        q, k, value)
        jagged = torch.nested.nested_tensor([*q], layout=torch.jagged)
        self.refuse(TypeError, "k has layout nested: expected strided", q, jagged, v)
        ids = ints(2, 70)
        self.refuse(TypeError, "q_segment_ids has layout sparse_coo: expected strided",
                    q, k, v, q_segment_ids=ids.to_sparse(), kv_segment_ids=ints(2, 83))
        with self.assertRaisesRegex(TypeError, "segment_ids has layout sparse_coo"):
            bounds_from_segment_ids(ids.to_sparse())

    def test_tangents_are_not_lost(self):
        ones = torch.ones_like(TEMP)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(q, torch.ones_like(q))
            self.refuse(NotImplementedError, "no forward derivatives", dual, k, v)
            self.refuse(NotImplementedError, "no forward derivatives", q, k, v,
                        temp=forward_ad.make_dual(ones, ones))
            leaf = q.clone().requires_grad_()
            out = attention(leaf, k, v)
            dual = forward_ad.make_dual(torch.ones_like(out), torch.ones_like(out))
            with self.assertRaisesRegex(NotImplementedError, "no forward derivatives"):
                torch.autograd.grad(out, leaf, dual)

    def test_errors_leave_the_call_usable(self):
        attention(q, k, v)
        self.refuse(ValueError, "v has 80", q, k, v[:, :80])
        attention(q, k, v)


class Accepted(unittest.TestCase):
    def test_numbers_of_numpy(self):
        found = attention(q, k, v, sm_scale=np.float32(0.5), window_len=np.int64(9))
        wanted = attention(q, k, v, sm_scale=0.5, window_len=9)
        self.assertTrue(torch.equal(found, wanted))

    def test_short_integers(self):
        bounds = torch.tensor([[0, 60, 60, 70]] * 2, device=DEVICE)
        wanted = attention(q, k, v, bounds=bounds.int())
        for dtype in (torch.int8, torch.uint8, torch.int16):
            found = attention(q, k, v, bounds=bounds.to(dtype))
            self.assertTrue(torch.equal(found, wanted), dtype)

    def test_both_forms_of_a_cap(self):
        found = attention(q, k, v, cap=("tanh", 3, 0, 0))
        wanted = attention(q, k, v, cap=uattn.Cap("tanh", 3.0))
        self.assertTrue(torch.equal(found, wanted))


class SegmentIds(unittest.TestCase):
    def test_bounds(self):
        ids = torch.tensor([[0, 1, 1, -1, -1, 0], [-1, -1, 1, 1, 1, 1],
                            [0, 0, 0, 0, 0, -1], [0] * 6], device=DEVICE)
        wanted = [[1, 3, 3, 5], [2, 6, 0, 2], [0, 0, 5, 6], [0, 0, 0, 0]]
        for dtype in (torch.int8, torch.int32, torch.int64):
            found = bounds_from_segment_ids(ids.to(dtype))
            self.assertEqual(found.dtype, torch.int32)
            self.assertEqual(found.tolist(), wanted)

    def test_refusals(self):
        apart = torch.tensor([[1, 0, 1, -1]], device=DEVICE)
        message = r"segment_ids\[0, 1\] is 0 between history ids \(1\)"
        with self.assertRaisesRegex(ValueError, message):
            check_segment_ids(apart)
        with self.assertRaisesRegex(ValueError, message):
            bounds_from_segment_ids(apart, check=True)
        found = bounds_from_segment_ids(apart, check=False)
        self.assertEqual(found.tolist(), [[0, 3, 3, 4]])
        with self.assertRaisesRegex(ValueError, r"segment_ids\[0, 1\] is 2: expected"):
            check_segment_ids(torch.tensor([[1, 2]]))
        with self.assertRaisesRegex(TypeError, "dtype float32: expected a signed"):
            bounds_from_segment_ids(torch.zeros(1, 2))
        with self.assertRaisesRegex(TypeError, "check is 1: expected True, False or"):
            bounds_from_segment_ids(ints(1, 2), check=1)
        with self.assertRaisesRegex(ValueError, "expected rank 2"):
            bounds_from_segment_ids(torch.zeros(2, dtype=torch.int32))
        with self.assertRaisesRegex(ValueError, "expected no empty dimension"):
            bounds_from_segment_ids(torch.zeros(2, 0, dtype=torch.int32))

    def test_only_tensors_of_the_cpu_are_checked_by_default(self):
        apart = torch.tensor([[1, 0, 1, -1]], device=DEVICE)
        if DEVICE == "cpu":
            with self.assertRaises(ValueError):
                bounds_from_segment_ids(apart)
        else:
            bounds_from_segment_ids(apart)

    def test_ids_without_values_are_not_checked_by_default(self):
        apart = torch.tensor([[1, 0, 1, -1]], device=DEVICE)
        found = torch.vmap(bounds_from_segment_ids)(torch.stack([apart, apart]))
        self.assertEqual(found.tolist(), [[[0, 3, 3, 4]]] * 2)
        with FakeTensorMode() as mode:
            fake = mode.from_tensor(apart)
            self.assertEqual(bounds_from_segment_ids(fake).shape, (1, 4))
            with self.assertRaisesRegex(ValueError, "check is True where segment_ids"):
                bounds_from_segment_ids(fake, check=True)

        def loss(q):
            return (q * bounds_from_segment_ids(apart)).sum()

        ones = torch.ones(1, 4, device=DEVICE)
        for found in (torch.func.grad(loss)(ones), torch.func.jacrev(loss)(ones),
                      torch.func.functionalize(bounds_from_segment_ids)(apart)):
            self.assertEqual(found.tolist(), [[0, 3, 3, 4]])
        meta = bounds_from_segment_ids(apart.to("meta"))
        self.assertEqual((meta.shape, meta.dtype), ((1, 4), torch.int32))


if __name__ == "__main__":
    unittest.main()
