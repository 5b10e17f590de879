"""What a Problem refuses, and its text.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import math
import unittest

import uattn


class Refusals(unittest.TestCase):
    def refuses(self, exception, message, **fields):
        with self.assertRaises(exception) as caught:
            uattn.Problem(**({"head_dim": 64} | fields))
        self.assertEqual(str(caught.exception), message)

    def test_head_dim(self):
        self.refuses(
            ValueError, "head_dim is 72: expected 64, 128, 192 or 256", head_dim=72
        )
        self.refuses(TypeError, "head_dim is None: expected an int", head_dim=None)

    def test_sizes(self):
        self.refuses(ValueError, "batch is 0: expected 1 or more", batch=0)
        self.refuses(ValueError, "batch is -1: expected 1 or more", batch=-1)
        self.refuses(TypeError, "kv_tokens is 2.0: expected an int or None", kv_tokens=2.0)
        self.refuses(
            ValueError, f"q_tokens is {2**31}: expected 1 to {2**31 - 1}", q_tokens=2**31
        )
        self.refuses(
            ValueError,
            f"q_tokens is {2**64 + 1}: expected a number of 64 bits",
            q_tokens=2**64 + 1,
        )

    def test_heads(self):
        self.refuses(
            ValueError,
            "q has 8 heads, not a multiple of the 3 kv heads",
            q_heads=8,
            kv_heads=3,
        )

    def test_types(self):
        self.refuses(ValueError, "dtype is 'f32': expected bf16, f16", dtype="f32")
        self.refuses(ValueError, "temp is 'i32': expected f32, bf16, f16", temp="i32")
        self.refuses(
            ValueError, "kind is 'both': expected forward, backward", kind="both"
        )
        self.refuses(TypeError, "causal is 1: expected True or False", causal=1)

    def test_scalars(self):
        self.refuses(
            ValueError, "sm_scale is nan: expected a finite f32 number", sm_scale=math.nan
        )
        self.refuses(
            ValueError, "sm_scale is inf: expected a finite f32 number", sm_scale=1e39
        )
        self.refuses(TypeError, "sm_scale is '1': expected a number", sm_scale="1")
        self.refuses(ValueError, "window_len is 0: expected 1 or more", window_len=0)

    def test_cap(self):
        self.refuses(TypeError, "cap is 'tanh': expected a uattn.Cap", cap="tanh")
        self.refuses(
            ValueError,
            "cap tanh has cap 0: expected a finite number above 0",
            cap=uattn.Cap("tanh"),
        )
        self.refuses(
            ValueError,
            "cap tanh has alpha 2, which it does not use: expected 0",
            cap=uattn.Cap("tanh", 30.0, alpha=2.0),
        )
        with self.assertRaisesRegex(ValueError, "'softcap': expected none, tanh"):
            uattn.Cap("softcap")

    def test_fields_of_the_other_kind(self):
        for name in ("dlse", "dtemp", "deterministic"):
            with self.assertRaisesRegex(ValueError, name):
                uattn.Problem(head_dim=64, **{name: True})
        with self.assertRaisesRegex(ValueError, "z_loss_weight"):
            uattn.Problem(head_dim=64, z_loss_weight=0.1)
        with self.assertRaisesRegex(ValueError, "lse is set on a backward"):
            uattn.Problem(head_dim=64, kind="backward", lse=True)
        with self.assertRaisesRegex(ValueError, "dtemp .* without operand temp"):
            uattn.Problem(head_dim=64, kind="backward", dtemp=True)


class Text(unittest.TestCase):
    def test_dynamic_forward(self):
        problem = uattn.Problem(head_dim=128, lse=True, q_heads=8, kv_heads=2)
        text = problem.mlir("attend")
        self.assertIn("func.func @attend(", text)
        self.assertIn("%q: tensor<?x?x8x128xbf16>", text)
        self.assertIn("%k: tensor<?x?x2x128xbf16>", text)
        self.assertIn("-> (tensor<?x?x8x128xbf16>, tensor<?x8x?xf32>)", text)
        for name in ("causal", "window_len", "q_offset", "z_loss", "deterministic"):
            self.assertNotIn(name, text)

    def test_sm_scale_is_that_of_the_head_dim_by_default(self):
        self.assertIn("sm_scale = 1.250000000e-01 : f32", uattn.Problem(head_dim=64).mlir())

    def test_equal_problems_give_equal_texts(self):
        first = uattn.Problem(head_dim=64, causal=True)
        second = dataclasses.replace(uattn.Problem(head_dim=64), causal=True)
        self.assertEqual(first.mlir(), second.mlir())
        self.assertNotEqual(first.mlir(), uattn.Problem(head_dim=64).mlir())

    def test_function_name(self):
        with self.assertRaisesRegex(ValueError, "function is 'a b'"):
            uattn.Problem(head_dim=64).mlir("a b")

    def test_compiler_reads_every_field(self):
        forward = uattn.Problem(
            head_dim=64, dtype="f16", batch=2, q_tokens=70, kv_tokens=80, q_heads=4,
            kv_heads=2, cap=uattn.Cap("alsc", 30.0, 4.0, 0.5), sm_scale=-1e-3,
            causal=True, window_len=9, q_offset=-3, bounds=True, segment_ids=True,
            temp="bf16", lse=True,
        )  # fmt: skip
        backward = forward.backward(
            dlse=True, dtemp=True, z_loss_weight=1e-4, deterministic=True
        )
        for problem in (forward, backward):
            artifact = uattn.compile(problem, ptxas="none")
            self.assertEqual(artifact.arguments(), problem.operands)
            shapes = [(x.dtype, x.shape) for x in artifact.results()]
            self.assertEqual(shapes, [(x.dtype, x.shape) for x in problem.results])


if __name__ == "__main__":
    unittest.main()
