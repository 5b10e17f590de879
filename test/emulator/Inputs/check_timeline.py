"""Checks a picture of uattn-run --timeline as XML and prints what it shows.
Usage: check_timeline.py F.svg
SPDX-License-Identifier: Apache-2.0
"""

import collections
import os
import re
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def fail(message):
    sys.exit(f"check_timeline: {message}")


def check_static(root):
    allowed = {"svg", "title", "style", "defs", "marker", "path", "rect", "g", "text"}
    for element in root.iter():
        if element.tag.removeprefix(SVG) not in allowed:
            fail(f"unexpected element {element.tag}")
        for name in element.attrib:
            if name.startswith("on") or "href" in name:
                fail(f"unexpected attribute {name}")


def boxes_of_texts(root):
    """Widths are guessed: as wide as characters of the sizes in use can be."""
    size = {"h": 15, "n": 12, "s": 10.5, "t": 10.5, "l": 10}
    for text in root.iter(SVG + "text"):
        style = text.get("class")
        width = len(text.text) * size[style] * 0.56
        x = float(text.get("x")) - (width / 2 if style in "tl" else 0)
        y = float(text.get("y"))
        yield text.text, x, y - 0.75 * size[style], x + width, y + 0.2 * size[style]


def check_texts(root):
    boxes = list(boxes_of_texts(root))
    width = float(root.get("width"))
    for i, (text, left, top, right, bottom) in enumerate(boxes):
        if left < 0 or right > width:
            fail(f"'{text}' leaves the picture")
        for other, left2, top2, right2, bottom2 in boxes[:i]:
            if left < right2 and left2 < right and top < bottom2 and top2 < bottom:
                fail(f"'{text}' and '{other}' overlap")


def check_rects(root):
    width, height = float(root.get("width")), float(root.get("height"))
    for rect in root.iter(SVG + "rect"):
        x, y = float(rect.get("x", 0)), float(rect.get("y", 0))
        right, bottom = x + float(rect.get("width")), y + float(rect.get("height"))
        if x < 0 or y < 0 or right > width + 0.1 or bottom > height + 0.1:
            fail("a rectangle leaves the picture")


def show(root):
    for lane in root.iter(SVG + "g"):
        name = lane.get("id")
        if re.fullmatch(r"kernel\d+", name):
            print(f"{name}: {lane.find(SVG + 'text').text}")
            continue
        titles = [t.text for t in lane.iter(SVG + "title")]
        labels = [t.text for t in lane.findall(SVG + "text") if t.get("class") == "n"]
        waits = {m.group() for t in titles
                 for m in [re.search(r"mbarrier 0x[0-9a-f]+, phase \d+", t)] if m}
        kinds = collections.Counter(
            r.get("class") for r in lane.findall(SVG + "rect") if r.get("class") != "lane")
        print(f"{name} [{', '.join(labels)}]: {len(titles)} titles, "
              f"phases of mbarriers: {len(waits)}, "
              f"kinds: {' '.join(sorted(kinds))}")


def main():
    path = sys.argv[1]
    if os.path.getsize(path) > 500000:
        fail("more than 500 KB")
    root = xml.etree.ElementTree.parse(path).getroot()
    check_static(root)
    check_texts(root)
    check_rects(root)
    show(root)


main()
