"""Trains a tiny ranker in JAX: an attention layer with the ranker mask, a
temperature a query, a tanh cap and z-loss. The same code on CPU and GPU.

Usage: jax_training_step.py [STEPS]
SPDX-License-Identifier: Apache-2.0
"""

import sys

import jax
import jax.numpy as jnp
from uattn.jax import CapParams, KernelConfig, unified_attention

BATCH, HISTORY, CANDIDATES, PADDING = 4, 96, 24, 8
TOKENS, HEADS, KV_HEADS, HEAD_DIM, WIDTH = 128, 4, 2, 64, 64
CONFIG = KernelConfig(
    cap_method="tanh", cap_params=CapParams(cap=30.0), z_loss_weight=1e-4
)


def make_weights(key):
    sizes = {"q": HEADS * HEAD_DIM, "k": KV_HEADS * HEAD_DIM, "v": KV_HEADS * HEAD_DIM,
             "temp": 1}
    keys = jax.random.split(key, len(sizes) + 1)
    weights = {name: 0.1 * jax.random.normal(k, (WIDTH, size))
               for k, (name, size) in zip(keys, sizes.items())}
    weights["score"] = 0.1 * jax.random.normal(keys[-1], (HEADS * HEAD_DIM,))
    return weights


def score(weights, tokens, segment_ids):
    """A logit for each token."""
    def heads(name, count):
        x = (tokens @ weights[name]).astype(jnp.bfloat16)
        return x.reshape(BATCH, TOKENS, count, HEAD_DIM)

    temp = jax.nn.softplus(tokens @ weights["temp"] + 0.5)
    out = unified_attention(heads("q", HEADS), heads("k", KV_HEADS),
                            heads("v", KV_HEADS), temp, segment_ids, CONFIG)
    return out.reshape(BATCH, TOKENS, -1).astype(jnp.float32) @ weights["score"]


def loss(weights, tokens, segment_ids, clicks):
    """Cross entropy of clicks over the candidates."""
    logits = score(weights, tokens, segment_ids)
    losses = jnp.logaddexp(0.0, logits) - clicks * logits
    is_candidate = segment_ids == -1
    return jnp.sum(jnp.where(is_candidate, losses, 0.0)) / jnp.sum(is_candidate)


@jax.jit
def step(weights, tokens, segment_ids, clicks):
    value, gradients = jax.value_and_grad(loss)(weights, tokens, segment_ids, clicks)
    return value, jax.tree.map(lambda w, g: w - 0.5 * g, weights, gradients)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    weight_key, token_key = jax.random.split(jax.random.key(0))
    weights = make_weights(weight_key)
    tokens = jax.random.normal(token_key, (BATCH, TOKENS, WIDTH))
    kinds = [1] * HISTORY + [-1] * CANDIDATES + [0] * PADDING
    segment_ids = jnp.tile(jnp.asarray(kinds, jnp.int32), (BATCH, 1))
    clicks = (tokens[..., 0] > 0).astype(jnp.float32)
    print(f"on {jax.devices()[0]}")
    for i in range(steps):
        value, weights = step(weights, tokens, segment_ids, clicks)
        if i % 5 == 0 or i == steps - 1:
            print(f"step {i}: loss {float(value):.4f}")


if __name__ == "__main__":
    main()
