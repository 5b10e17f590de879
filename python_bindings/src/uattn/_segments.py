"""Segment ids of the ranker mask: what may be wrong with their values.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import numpy as np

from ._arrays import Array

HISTORY, CANDIDATE, PADDING = 1, -1, 0
KINDS = {"history": HISTORY, "candidate": CANDIDATE}


def check_shape(shape: tuple[int, ...]) -> None:
    """Raises ValueError where ids are not (B, S), or none."""
    wanted = "rank 2, (B, S)" if len(shape) != 2 else "no empty dimension"
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"segment_ids has shape {shape}: expected {wanted}")


def check_contiguous_ids(ids: Array) -> None:
    """Raises ValueError where ids (B, S) are not of {1, -1, 0}, or those of a
    kind do not stand together."""
    wrong = np.argwhere((ids != HISTORY) & (ids != CANDIDATE) & (ids != PADDING))
    if wrong.size:
        row, token = wrong[0]
        raise ValueError(
            f"segment_ids[{row}, {token}] is {ids[row, token]}: expected 1 "
            "(history), -1 (candidate) or 0 (padding)"
        )
    for name, kind in KINDS.items():
        for row, values in enumerate(ids == kind):
            tokens = np.flatnonzero(values)
            if tokens.size and tokens[-1] - tokens[0] + 1 != tokens.size:
                gap = tokens[np.argmax(np.diff(tokens) > 1)] + 1
                raise ValueError(
                    f"segment_ids[{row}, {gap}] is {ids[row, gap]} between "
                    f"{name} ids ({kind}): expected ids of one kind to stand "
                    "together"
                )
