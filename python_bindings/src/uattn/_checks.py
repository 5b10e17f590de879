"""Refuses values of the wrong type or range by name.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import numbers


def expect_real(name: str, value: object) -> None:
    """A number that float takes."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}: expected a number")
    try:
        float(value)
    except OverflowError:
        raise ValueError(
            f"{name} is a number of {len(str(value))} digits: expected one below 2^1024"
        ) from None


def expect_int(name: str, value: object, or_none: bool) -> None:
    if value is None and or_none:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} is {value!r}: expected an int" + (" or None" if or_none else "")
        )
    if not -(2**63) <= int(value) < 2**63:
        raise ValueError(f"{name} is {value}: expected a number of 64 bits")


def expect_one_of(name: str, value: object, wanted: tuple[str, ...]) -> None:
    if value not in wanted:
        raise ValueError(f"{name} is {value!r}: expected " + ", ".join(wanted))
