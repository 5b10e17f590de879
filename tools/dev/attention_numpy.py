"""The ops' definitions in numpy and float64, which are independent of uattn's
reference: caps, masks, attention, gradients by the chain rule.

A variant is one of forward_variants.py or backward_variants.py, as a dictionary;
`cap` the numbers of its cap. Arrays lie as the ops' operands do.
SPDX-License-Identifier: Apache-2.0
"""

import numpy


def round_to(numbers, dtype):
    """As the element type stores them; f32 arrays."""
    numbers = numpy.ascontiguousarray(numbers, numpy.float32)
    if dtype == "f16":
        return numbers.astype(numpy.float16).astype(numpy.float32)
    if dtype == "f32":
        return numbers
    bits = numbers.view(numpy.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return numpy.where(numpy.isnan(numbers), numbers, rounded.view(numpy.float32))


def apply_cap(scores, method, cap, alpha, beta):
    if method == "tanh":
        return cap * numpy.tanh(scores / cap)
    if method == "soft_sign":
        return scores / (1 + abs(scores) / cap)
    if method == "alsc":
        middle = 1 / (1 + numpy.exp(-alpha * beta))
        norm = middle * (1 - middle) + 1e-12
        return cap * (1 / (1 + numpy.exp(-alpha * (scores / cap + beta))) - middle) / norm
    return scores


def cap_slope(scores, method, cap, alpha, beta):
    """The derivative of apply_cap."""
    if method == "tanh":
        return 1 - numpy.tanh(scores / cap) ** 2
    if method == "soft_sign":
        return (1 + abs(scores) / cap) ** -2.0
    if method == "alsc":
        middle = 1 / (1 + numpy.exp(-alpha * beta))
        sigma = 1 / (1 + numpy.exp(-alpha * (scores / cap + beta)))
        return alpha * sigma * (1 - sigma) / (middle * (1 - middle) + 1e-12)
    return numpy.ones_like(scores)


def is_in(positions, lower, upper):
    """[batch, position] of half-open ranges, one a batch."""
    return (positions >= 0) & (positions >= lower[:, None]) & (positions < upper[:, None])


def is_live(bounds, positions):
    """[batch, position]: in the history or among the candidates."""
    return is_in(positions, bounds[:, 0], bounds[:, 1]) | is_in(
        positions, bounds[:, 2], bounds[:, 3]
    )


def allowed_pairs(variant, sizes, bounds=None, q_ids=None, kv_ids=None):
    """[batch, row, key]; sizes are batch, q_tokens, kv_tokens."""
    batch, q_tokens, kv_tokens = sizes
    q, k = numpy.arange(q_tokens) + variant["q_offset"], numpy.arange(kv_tokens)
    allowed = numpy.ones((batch, q_tokens, kv_tokens), bool)
    if "causal" in variant["masks"]:
        allowed &= q[:, None] >= k
    if "window" in variant["masks"]:
        allowed &= k > q[:, None] - variant["window"]
    if "segments" in variant["masks"]:
        allowed &= q_ids[:, :, None] == kv_ids[:, None, :]
    if "ranker" in variant["masks"]:
        history = is_in(k, bounds[:, 0], bounds[:, 1])[:, None, :]
        own = is_in(q, bounds[:, 2], bounds[:, 3])[:, :, None]
        own = own & is_in(k, bounds[:, 2], bounds[:, 3])[:, None, :] & (q[:, None] == k)
        allowed &= history & is_live(bounds, q)[:, :, None] | own
    return allowed


def by_head(x, group=1):
    """[batch, token, head, d] as float64 [batch, head, token, d], a KV head once
    for each of its query heads."""
    return numpy.repeat(x.astype(numpy.float64).transpose(0, 2, 1, 3), group, axis=1)


def rows_without_key(allowed):
    """[batch, 1, row, 1]; False without masks."""
    return False if allowed is None else ~allowed.any(axis=2)[:, None, :, None]


def attention(q, k, v, temp, variant, cap, allowed=None):
    """out and lse in float64, after the op's semantics; a row without a key gives
    0 and -inf."""
    group = q.shape[2] // k.shape[2]
    q, k, v = by_head(q), by_head(k, group), by_head(v, group)
    with numpy.errstate(all="ignore"):
        logits = q @ k.transpose(0, 1, 3, 2) * float(numpy.float32(variant["sm_scale"]))
        logits = apply_cap(logits, variant["cap"], *cap)
        if temp is not None:
            logits = logits * temp.astype(numpy.float64)[:, None, :, None]
        if allowed is not None:
            logits = numpy.where(allowed[:, None], logits, -numpy.inf)
        top = logits.max(axis=3, keepdims=True)
        is_empty = rows_without_key(allowed)
        weights = numpy.exp(logits - numpy.where(is_empty, 0.0, top))
        total = weights.sum(axis=3, keepdims=True)
        lse = numpy.where(is_empty, -numpy.inf, top + numpy.log(total))[..., 0]
        out = weights / numpy.where(is_empty, 1.0, total) @ v
    return out.transpose(0, 2, 1, 3), lse


def gradients(q, k, v, temp, dout, dlse, variant, cap, allowed=None, out=None):
    """dq, dk, dv and dtemp in float64 by the chain rule alone, from probabilities
    that are formed here. With `out`, which is what the op is given, dq, dk and dv
    take delta from it, as the op does: where one key has all of the weight they
    are nothing but the rounding of out."""
    kv_heads = k.shape[2]
    group = q.shape[2] // kv_heads
    q, k, v, dout = by_head(q), by_head(k, group), by_head(v, group), by_head(dout)
    scale = float(numpy.float32(variant["sm_scale"]))
    scores = q @ k.transpose(0, 1, 3, 2) * scale
    capped = apply_cap(scores, variant["cap"], *cap)
    factor = numpy.ones(q.shape[::2]) if temp is None else temp.astype(numpy.float64)
    factor = factor[:, None, :, None]
    logits = factor * capped
    if allowed is not None:
        logits = numpy.where(allowed[:, None], logits, -numpy.inf)
    top = logits.max(axis=3, keepdims=True)
    is_empty = rows_without_key(allowed)
    weights = numpy.exp(logits - numpy.where(is_empty, 0.0, top))
    total = numpy.where(is_empty, 1.0, weights.sum(axis=3, keepdims=True))
    weights /= total
    of_lse = numpy.where(is_empty, 0.0, top + numpy.log(total))
    of_lse = of_lse * float(numpy.float32(variant["z_loss_weight"]))
    if dlse is not None:
        of_lse = of_lse + dlse.astype(numpy.float64)[..., None]
    dweights = dout @ v.transpose(0, 1, 3, 2)
    delta = (weights * dweights).sum(axis=3, keepdims=True)
    dtemp = (weights * (dweights - delta + of_lse) * capped).sum(axis=(1, 3))
    if out is not None:
        delta = (by_head(out) * dout).sum(axis=3, keepdims=True)
    dlogits = weights * (dweights - delta + of_lse)
    dscores = dlogits * factor * cap_slope(scores, variant["cap"], *cap) * scale
    dq = dscores @ k
    dk, dv = dscores.transpose(0, 1, 3, 2) @ q, weights.transpose(0, 1, 3, 2) @ dout
    shape = (k.shape[0], kv_heads, group, *k.shape[2:])
    dk, dv = (x.reshape(shape).sum(axis=2).transpose(0, 2, 1, 3) for x in (dk, dv))
    return dq.transpose(0, 2, 1, 3), dk, dv, dtemp
