"""Caps as JAX computes them, where no kernel does.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import math

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
        return _alsc(cap, s)
    return s


def _alsc(cap: Cap, s: jax.Array) -> jax.Array:
    """No difference of two sigmoids, which would cancel: with u = alpha s / c,

    sigma(z) - sigma(z - u) = sigma(z) sigma(u - z) (1 - exp(-u))     u >= 0
                            = -sigma(-z) sigma(z - u) (1 - exp(u))    u < 0
    """
    middle = cap.alpha * cap.beta
    above, below = _logistic(middle), _logistic(-middle)
    scale = cap.cap / (above * below + 1e-12)
    u = cap.alpha / cap.cap * s
    rise = jax.nn.sigmoid(u + middle) * -jnp.expm1(-jnp.where(u >= 0, u, 0.0))
    fall = jax.nn.sigmoid(-u - middle) * jnp.expm1(jnp.where(u < 0, u, 0.0))
    return jnp.where(u >= 0, scale * below * rise, scale * above * fall)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
