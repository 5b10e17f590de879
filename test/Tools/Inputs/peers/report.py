"""In place of the peers' report.
SPDX-License-Identifier: Apache-2.0
"""

print("of the peers")
