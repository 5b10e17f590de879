"""Writes a .npy file of one number throughout.

Usage: make_npy.py FILE TYPE NUMBER SIZE...
SPDX-License-Identifier: Apache-2.0
"""

import sys

import numpy

path, dtype, number, *shape = sys.argv[1:]
numpy.save(path, numpy.full([int(size) for size in shape], float(number), dtype))
