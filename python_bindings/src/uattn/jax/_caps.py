"""Caps as JAX computes them, where no kernel does.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..problem import Cap


def apply_cap(cap: Cap, s: jax.Array) -> jax.Array:
    """The cap of logits s, float32, differentiable; see uattn.Cap."""
    c = cap.cap
    if cap.method == "tanh":
        return c * jnp.tanh(s / c)
    if cap.method == "soft_sign":
        return s / (1 + jnp.abs(s) / c)
    if cap.method == "alsc":
        middle = jax.nn.sigmoid(jnp.float32(cap.alpha * cap.beta))
        risen = jax.nn.sigmoid(cap.alpha * (s / c + cap.beta))
        return c * (risen - middle) / (middle * (1 - middle) + 1e-12)
    return s
