"""Rows as the peers' workload table has them, small enough for tests.
SPDX-License-Identifier: Apache-2.0
"""

import collections

CAP, ALPHA, BETA = 30.0, 4.0, 0.5
Row = collections.namedtuple("Row", "id B S H Hkv D cap mask hu window temp scale")

ROWS = {
    row.id: row
    for row in (
        Row("A-D128", 2, 200, 2, 2, 128, "none", "full", 0, 0, False, 128**-0.5),
        Row("D-S8192-D128-alsc", 2, 200, 4, 2, 128, "alsc", "ranker", 130, 0, True, 128**-0.5),
    )
}
