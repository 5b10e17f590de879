"""Draws sizes, masks and numbers for a variant of backward_variants.py, around
the edges of tiles, and the gradients that they have by numpy's definition.

Tiles have 64, 128 and 192 rows. With bounds, rows that are neither history nor
candidates hold NaN in everything that belongs to them.
SPDX-License-Identifier: Apache-2.0
"""

import zlib

import numpy

import attention_numpy
from attention_numpy import round_to

EDGES = (1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 320, 383, 384, 385)
# Query heads and KV heads.
HEADS = ((1, 1), (2, 1), (4, 2), (5, 1), (6, 3), (3, 3), (8, 2))


def draw_edge(random, limit):
    """0 to `limit`: most often next to a tile's edge."""
    near = [edge for edge in (0, *EDGES, limit) if edge <= limit]
    return int(random.choice(near)) if random.random() < 0.75 else int(random.integers(limit + 1))


def draw_sizes(random, variant, pairs_limit):
    """batch, q_tokens, kv_tokens, heads, kv_heads."""
    while True:
        q_tokens, kv_tokens = (int(random.choice(EDGES)) for _ in range(2))
        if random.random() < 0.5:
            kv_tokens = q_tokens
        heads, kv_heads = HEADS[random.integers(len(HEADS))]
        batch = int(random.integers(1, 4))
        if batch * heads * q_tokens * kv_tokens <= pairs_limit:
            return batch, q_tokens, kv_tokens, heads, kv_heads


def draw_bounds(random, positions):
    """A batch's: history lower and upper, candidates lower and upper."""
    end = positions - int(random.integers(0, min(10, positions)))
    middle = draw_edge(random, end)
    lower = draw_edge(random, middle)
    usual = [0, middle, middle, end]
    others = [
        [lower, middle, middle, end],
        [0, lower, middle, end],  # between them, rows of neither
        [0, middle, lower, end],  # they overlap
        [0, 0, middle, end],
        [0, middle, 0, 0],
        [-5, middle, middle, positions + 70],
        [middle, end, 0, middle],  # candidates come first
        [0, 0, 0, 0],
    ]
    return usual if random.random() < 0.5 else others[random.integers(len(others))]


def draw_ids(random, batch, tokens):
    """Runs of equal ids, or any ids."""
    if random.random() < 0.2:
        return random.integers(-1, 2, (batch, tokens)).astype(numpy.int32)
    ids = numpy.zeros((batch, tokens), numpy.int32)
    for row in ids:
        for _ in range(random.integers(0, 4)):
            row[draw_edge(random, tokens) :] = random.integers(-2, 4)
    return ids


class Case:
    """`given` are the op's operands in order, `wanted` the results by name;
    `shape` is batch, q_tokens, kv_tokens, heads, kv_heads."""

    def __init__(self, variant, cap, seed, shape=None, pairs_limit=1_000_000):
        self.variant = variant
        key = zlib.crc32(variant["name"].encode())
        self.random = numpy.random.default_rng([seed, key])
        self.shape = shape or draw_sizes(self.random, variant, pairs_limit)
        self.draw_numbers()
        self.draw_masks()
        self.give_forward(cap)
        self.cap = cap

    def normal(self, *shape):
        return round_to(self.random.standard_normal(shape), self.variant["dtype"])

    def draw_numbers(self):
        batch, q_tokens, kv_tokens, heads, kv_heads = self.shape
        head_dim = self.variant["head_dim"]
        self.q, self.dout = (self.normal(batch, q_tokens, heads, head_dim) for _ in range(2))
        if self.random.random() < 0.4:  # rows whose few keys all have low scores
            self.q = round_to(self.q * numpy.float32(6.0), self.variant["dtype"])
        self.k, self.v = (self.normal(batch, kv_tokens, kv_heads, head_dim) for _ in range(2))
        self.temp = self.dlse = None
        if self.variant["temp"]:
            temp = self.random.standard_normal((batch, q_tokens))
            temp[:, :: self.random.integers(2, 9)] = 0.0
            self.temp = round_to(temp, self.variant["temp"])
        if self.variant["has_dlse"]:
            dlse = self.random.standard_normal((batch, heads, q_tokens))
            self.dlse = round_to(dlse, "f32")

    def draw_masks(self):
        batch, q_tokens, kv_tokens, _, _ = self.shape
        masks, offset = self.variant["masks"], self.variant["q_offset"]
        self.bounds = self.q_ids = self.kv_ids = None
        if "ranker" in masks:
            positions = max(kv_tokens, q_tokens + offset)
            rows = [draw_bounds(self.random, positions) for _ in range(batch)]
            self.bounds = numpy.array(rows, numpy.int32)
        if "segments" in masks:
            self.q_ids, self.kv_ids = (
                draw_ids(self.random, batch, tokens) for tokens in (q_tokens, kv_tokens)
            )
            if q_tokens == kv_tokens and self.random.random() < 0.7:
                self.kv_ids = self.q_ids
        self.allowed = attention_numpy.allowed_pairs(
            self.variant, self.shape[:3], self.bounds, self.q_ids, self.kv_ids
        )

    def give_forward(self, cap):
        out, lse = attention_numpy.attention(
            self.q, self.k, self.v, self.temp, self.variant, cap, self.allowed
        )
        self.out, self.lse = round_to(out, self.variant["dtype"]), round_to(lse, "f32")

    def given(self):
        q, k, v, temp, out, lse, dout, dlse = (
            None if x is None else x.copy()
            for x in (self.q, self.k, self.v, self.temp, self.out, self.lse, self.dout, self.dlse)
        )
        if self.bounds is not None:
            _, q_tokens, kv_tokens, _, _ = self.shape
            rows = numpy.arange(q_tokens) + self.variant["q_offset"]
            dead_rows = ~attention_numpy.is_live(self.bounds, rows)
            dead_keys = ~attention_numpy.is_live(self.bounds, numpy.arange(kv_tokens))
            k[dead_keys] = v[dead_keys] = numpy.nan
            for x in (q, temp, out, dout):
                if x is not None:
                    x[dead_rows] = numpy.nan
            for x in (lse, dlse):
                if x is not None:
                    x.transpose(0, 2, 1)[dead_rows] = numpy.nan
        operands = [q, k, v, temp, self.bounds, self.q_ids, self.kv_ids, out, lse, dout, dlse]
        return [x for x in operands if x is not None]

    def wanted(self, takes_given_out=True):
        """As the op computes them, or without the rounding of out."""
        found = attention_numpy.gradients(
            self.q, self.k, self.v, self.temp, self.dout, self.dlse, self.variant, self.cap,
            self.allowed, self.out if takes_given_out else None
        )
        return dict(zip(self.variant["results"], found))
