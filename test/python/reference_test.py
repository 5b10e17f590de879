"""The reference against the formula in numpy, and the emulator against it.

SPDX-License-Identifier: Apache-2.0
"""

import unittest

import numpy as np
import uattn

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

PROBLEM = uattn.Problem(
    head_dim=64, cap=uattn.Cap("tanh", 20.0), causal=True, q_offset=3, temp="f32", lse=True
)


def draw(problem, seed=0):
    """Operands of 2 batches, 5 queries, 9 keys, 4 heads over 2."""
    random = np.random.default_rng(seed)
    shapes = {"q": (2, 5, 4, 64), "k": (2, 9, 2, 64), "v": (2, 9, 2, 64), "temp": (2, 5)}
    shapes |= {"dout": (2, 5, 4, 64), "lse": (2, 4, 5)}
    found = {}
    for spec in problem.operands:
        if spec.name in shapes:
            values = random.standard_normal(shapes[spec.name])
            is_bf16 = spec.dtype == "bf16"
            found[spec.name] = uattn.to_bf16(values) if is_bf16 else np.float32(values)
    return found


def formula(problem, q, k, v, temp):
    q, k, v = (uattn.from_bf16(x).astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    s = np.einsum("bihd,bjhd->bhij", q, k) * 0.125
    t = temp.astype(np.float64)[:, None, :, None] * problem.cap.cap * np.tanh(s / problem.cap.cap)
    i, j = np.arange(q.shape[1]) + problem.q_offset, np.arange(k.shape[1])
    t = np.where(i[:, None] >= j, t, -np.inf)
    lse = np.log(np.exp(t).sum(-1))
    return np.einsum("bhij,bjhd->bihd", np.exp(t - lse[..., None]), v), lse


class Reference(unittest.TestCase):
    def test_forward_is_the_formula(self):
        operands = draw(PROBLEM)
        found = uattn.run_reference(PROBLEM, **operands)
        out, lse = formula(PROBLEM, **operands)
        np.testing.assert_allclose(found["out"], out, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found["lse"], lse, rtol=1e-12, atol=1e-13)

    def test_backward_is_the_derivative(self):
        backward = PROBLEM.backward(dtemp=True)
        operands = draw(backward)
        given = {name: operands[name] for name in ("q", "k", "v", "temp")}
        made = uattn.run_reference(PROBLEM, **given)
        operands["out"] = uattn.to_bf16(made["out"])
        operands["lse"] = made["lse"].astype(np.float32)
        found = uattn.run_reference(backward, **operands)
        dout = uattn.from_bf16(operands["dout"]).astype(np.float64)
        losses = []
        for step in (1e-3, -1e-3):
            moved = dict(given, temp=given["temp"].astype(np.float64))
            moved["temp"][1, 2] += step
            losses.append((formula(PROBLEM, **moved)[0] * dout).sum())
        self.assertAlmostEqual(
            found["dtemp"][1, 2], (losses[0] - losses[1]) / 2e-3, places=4
        )

    def test_kernel_agrees(self):
        operands = draw(PROBLEM)
        artifact = uattn.compile(PROBLEM, ptxas="none")
        out, lse = uattn.emulate(artifact, list(operands.values()))
        wanted = uattn.run_reference(PROBLEM, **operands)
        difference = uattn.from_bf16(out) - wanted["out"]
        self.assertLess(np.linalg.norm(difference), 5e-3 * np.linalg.norm(wanted["out"]))
        np.testing.assert_allclose(lse, wanted["lse"], atol=2e-3)

    @unittest.skipUnless(ml_dtypes, "ml_dtypes is not installed")
    def test_bfloat16_arrays(self):
        operands = draw(PROBLEM)
        typed = {
            name: x.view(ml_dtypes.bfloat16) if x.dtype == np.uint16 else x
            for name, x in operands.items()
        }
        first = uattn.run_reference(PROBLEM, **operands)
        second = uattn.run_reference(PROBLEM, **typed)
        np.testing.assert_array_equal(first["out"], second["out"])


class Refusals(unittest.TestCase):
    def refuses(self, kind, message, **changes):
        with self.assertRaisesRegex(kind, message):
            uattn.run_reference(PROBLEM, **(draw(PROBLEM) | changes))

    def test_arrays(self):
        q = draw(PROBLEM)["q"]
        self.refuses(TypeError, "q is a list: expected a numpy array", q=[1])
        self.refuses(
            TypeError, r"q has dtype float32: expected uint16", q=q.astype(np.float32)
        )
        self.refuses(ValueError, "q has rank 3: expected 4", q=q[0])
        self.refuses(ValueError, "q has 32 in dimension 3: expected 64", q=q[..., :32])
        self.refuses(ValueError, "temp has 1 in dimension 0: expected 2",
                     temp=np.ones((1, 5), np.float32))  # fmt: skip

    def test_operands(self):
        self.refuses(TypeError, "operand bounds is given", bounds=np.zeros((2, 4)))
        operands = draw(PROBLEM)
        del operands["temp"]
        with self.assertRaisesRegex(TypeError, "operand temp is missing"):
            uattn.run_reference(PROBLEM, **operands)

    def test_arguments_of_the_emulator(self):
        artifact = uattn.compile(PROBLEM, ptxas="none")
        q, k, v, temp = draw(PROBLEM).values()
        with self.assertRaisesRegex(TypeError, "3 arguments are given: expected q, k"):
            uattn.emulate(artifact, [q, k, v])
        with self.assertRaisesRegex(ValueError, "temp"):
            uattn.emulate(artifact, [q, k, v, temp[:, :4].copy()])


class Rounding(unittest.TestCase):
    def test_to_nearest_even(self):
        one, ulp = 1.0, 2.0**-7
        values = [one + ulp / 2, one + 3 * ulp / 2, one + 0.51 * ulp, -one, np.inf]
        wanted = [one, one + 2 * ulp, one + ulp, -one, np.inf]
        np.testing.assert_array_equal(uattn.from_bf16(uattn.to_bf16(values)), wanted)

    def test_nan_stays(self):
        bits = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
        self.assertTrue(np.isnan(uattn.from_bf16(uattn.to_bf16(bits))).all())


if __name__ == "__main__":
    unittest.main()
