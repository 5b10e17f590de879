"""Bounds and offsets at the ends of i32: kernels clamp bounds to positions that
there are before they form differences, and a call whose positions leave i32 is
refused.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import numpy as np
import uattn

LEAST, LARGEST = -(2**31), 2**31 - 1


class ExtremeBounds(unittest.TestCase):
    def check(self, q_tokens, kv_tokens, bounds, **attributes):
        random = np.random.default_rng(0)
        shapes = [(1, q_tokens, 2, 64), *[(1, kv_tokens, 1, 64)] * 2]
        q, k, v = (random.normal(size=s).astype(np.float16) for s in shapes)
        operands = {"q": q, "k": k, "v": v}
        if bounds:
            operands["bounds"] = np.array([bounds], np.int32)
        forward = uattn.Problem(head_dim=64, dtype="f16", bounds=bool(bounds), lse=True,
                                **attributes)
        given = list(operands.values())
        wanted = uattn.run_reference(forward, **operands)
        out, lse = uattn.emulate(uattn.compile(forward, ptxas="none"), given)
        self.close(out, wanted["out"], 1e-3)
        backward = forward.backward()
        found = uattn.emulate(uattn.compile(backward, ptxas="none"),
                              [*given, out, lse, q])
        wanted = uattn.run_reference(backward, **operands, out=out, lse=lse, dout=q)
        for spec, gradient in zip(backward.results, found):
            self.close(gradient, wanted[spec.name], 3e-3)

    def close(self, found, wanted, bound):
        scale = max(np.linalg.norm(wanted), 1e-2)
        self.assertLess(np.linalg.norm(found.astype(np.float64) - wanted),
                        bound * scale)

    def test_upper_bounds_beside_a_negative_offset(self):
        """Were read and written out of bounds: upper - q_offset wrapped."""
        self.check(16, 16, [0, LARGEST, 0, 0], q_offset=-3)
        self.check(16, 16, [0, 10, 10, LARGEST], q_offset=-3)
        self.check(64, 64, [LEAST, LARGEST, LEAST, LARGEST], q_offset=-64)

    def test_reversed_bounds_are_empty(self):
        self.check(31, 31, [LARGEST, LEAST, 0, 31])
        self.check(31, 31, [LARGEST, LARGEST, 0, 31])

    def test_ranges_beyond_both_ends(self):
        self.check(40, 64, [LEAST, 30, 30, LARGEST], q_offset=24)
        self.check(70, 90, [0, LARGEST, 5, LARGEST], q_offset=100)

    def test_largest_offset(self):
        self.check(16, 16, None, causal=True, q_offset=LARGEST - 16)

    def test_positions_beyond_i32_are_refused_where_sizes_are_known(self):
        """Were computed wrong: the compiler had counted one row."""
        with self.assertRaisesRegex(ValueError, "q_offset is 2147483632 with 16 query"):
            self.check(16, 16, None, causal=True, q_offset=LARGEST - 15)
        with self.assertRaisesRegex(ValueError, "with 16 keys: expected them less"):
            self.check(16, 16, None, causal=True, q_offset=LEAST + 2)


if __name__ == "__main__":
    unittest.main()
