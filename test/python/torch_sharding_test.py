"""uattn.torch on DTensors: batch and heads split over 4 processes, against the
call with whole tensors.

Every process runs all tests. float32, in which parts come out as the whole does
to the last few bits; heads differ, so that a wrong pairing shows.
SPDX-License-Identifier: Apache-2.0
"""

import datetime
import math
import os
import socket
import sys
import unittest

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import uattn
from attention_testing import NAMES
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (
    DTensor, Partial, Replicate, Shard, distribute_tensor,
)
from torch.distributed.tensor.debug import CommDebugMode
from torch_testing import draw, normal, temperatures
from uattn.torch import bounds_from_segment_ids, ranker_attention

PROCESSES = 4
WHOLE, BATCH, TOKENS, HEADS = Replicate(), Shard(0), Shard(1), Shard(2)
HEADS_OF_LSE = Shard(1)
DIFFERENTIABLE = ("q", "k", "v", "temp")
ATTRIBUTES = {"cap": uattn.Cap("tanh", 5.0), "z_loss_weight": 0.3, "q_offset": 2}


def make_operands(batch=4, heads=8, kv_heads=4, dtype=torch.float32):
    q, k, v = draw(batch, 18, 23, heads, kv_heads, 64, dtype)
    bounds = torch.tensor([[0, 9, 9, 20], [2, 8, 12, 21], [0, 5, 0, 0]]).int()
    ids = [(torch.arange(n) // 10).int().repeat(batch, 1) for n in (18, 23)]
    values = (q, k, v, temperatures(q), bounds.repeat(batch, 1)[:batch], *ids)
    return dict(zip(NAMES, values))


def results_of(operands, dout, dlse, differentiable=DIFFERENTIABLE, run=None):
    """By name; of operands that are leaves."""
    taken = {n: operands[n] for n in differentiable}
    for x in taken.values():
        x.requires_grad_()
    q, k, v, *_ = operands.values()
    rest = {n: operands[n] for n in NAMES[3:] if n in operands}
    out, lse = (run or ranker_attention)(
        q, k, v, **rest, **ATTRIBUTES, return_lse=True)
    gradients = torch.autograd.grad([out, lse], list(taken.values()), [dout, dlse])
    found = dict(zip(("d" + n for n in taken), gradients))
    return {"out": out.detach(), "lse": lse.detach(), **found}


def whole(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


class Sharded(unittest.TestCase):
    bound = 1e-5

    @classmethod
    def setUpClass(cls):
        cls.mesh = init_device_mesh("cpu", (2, 2))
        cls.line = init_device_mesh("cpu", (4,))

    def place(self, tensor, placements, mesh=None):
        mesh = mesh or self.mesh
        partial = [p.is_partial() for p in placements]
        whole_there = [WHOLE if x else p for x, p in zip(partial, placements)]
        placed = distribute_tensor(tensor.detach().clone(), mesh, whole_there)
        if not any(partial):
            return placed
        count = math.prod(n for n, x in zip(mesh.shape, partial) if x)
        return DTensor.from_local(placed.to_local() / count, mesh, placements)

    def check_close(self, found, wanted):
        for name, x in wanted.items():
            y = whole(found[name])
            self.assertEqual((y.shape, y.dtype), (x.shape, x.dtype), name)
            dead = x.isneginf()
            self.assertTrue(torch.equal(y.isneginf(), dead), name)
            x, y = (torch.where(dead, 0.0, z.float()) for z in (x, y))
            self.assertLess((y - x).norm() / x.norm(), self.bound, name)

    def check(self, operands, placements, like=None, mesh=None, dlse=None,
              differentiable=DIFFERENTIABLE, run=None):
        """Results by name and how often processes talked; `placements` by name,
        or that of all others; out's cotangent lies as `like` or q."""
        mesh = mesh or self.mesh
        nothing = [WHOLE] * mesh.ndim
        q = operands["q"]
        dout = normal(9, q.shape, q.dtype)
        dlse_whole = normal(10, (q.shape[0], q.shape[2], q.shape[1]), torch.float32)
        leaves = {n: x.detach().clone() for n, x in operands.items()}
        wanted = results_of(leaves, dout, dlse_whole, differentiable)
        placed = {n: self.place(x, placements.get(n, nothing), mesh)
                  for n, x in operands.items()}
        dout = self.place(dout, like or placements["q"], mesh)
        dlse = self.place(dlse_whole, dlse or nothing, mesh)
        with CommDebugMode() as talk:
            found = results_of(placed, dout, dlse, differentiable, run)
        self.check_close(found, wanted)
        return found, talk.get_total_counts()

    def check_split(self, operands, by_batch, by_heads, run=None):
        """Split along dimensions of the mesh, without a word between
        processes."""
        def along(heads):
            return [BATCH if i in by_batch else heads if i in by_heads else WHOLE
                    for i in range(2)]

        placements = dict.fromkeys(NAMES, along(WHOLE))
        placements.update(dict.fromkeys("qkv", along(HEADS)))
        found, count = self.check(
            operands, placements, dlse=along(HEADS_OF_LSE), run=run)
        self.assertEqual(count, 0)
        for name in ("out", "dq", "dk", "dv"):
            self.assertEqual(found[name].placements, tuple(along(HEADS)), name)
        self.assertEqual(found["lse"].placements, tuple(along(HEADS_OF_LSE)))
        self.assertEqual(found["dtemp"].placements, tuple(along(Partial())))
        batch, tokens, heads, size = operands["q"].shape
        self.assertEqual(
            found["out"].to_local().shape,
            (batch // 2 ** len(by_batch), tokens, heads // 2 ** len(by_heads), size))


class Split(Sharded):
    def test_bounds_from_segment_ids(self):
        ids = torch.tensor([[1] * (9 + i) + [-1] * 4 + [0] * (5 - i) for i in range(4)])
        wanted = bounds_from_segment_ids(ids)
        for placements in ((BATCH, WHOLE), (BATCH, BATCH), (WHOLE, TOKENS)):
            found = bounds_from_segment_ids(self.place(ids, placements))
            self.assertTrue(torch.equal(found.full_tensor(), wanted))
        found = bounds_from_segment_ids(self.place(ids, (BATCH, WHOLE)))
        self.assertEqual(found.placements, (BATCH, WHOLE))

    def test_batch(self):
        self.check_split(make_operands(), (0,), ())
        self.check_split(make_operands(), (0, 1), ())

    def test_heads(self):
        self.check_split(make_operands(), (), (1,))
        self.check_split(make_operands(), (), (0, 1))

    def test_batch_and_heads(self):
        self.check_split(make_operands(), (0,), (1,))
        self.check_split(make_operands(kv_heads=2), (1,), (0,))

    def test_queries_of_one_kv_head(self):
        """k and v stay whole, their gradients are sums over processes."""
        found, count = self.check(
            make_operands(kv_heads=1),
            {"q": [BATCH, HEADS], **dict.fromkeys(NAMES[1:], [BATCH, WHOLE])},
            dlse=[BATCH, HEADS_OF_LSE])
        self.assertEqual(count, 0)
        for name in ("dk", "dv", "dtemp"):
            self.assertEqual(found[name].placements, (BATCH, Partial()), name)

    def test_replicated(self):
        found, count = self.check(make_operands(), {"q": [WHOLE, WHOLE]})
        self.assertEqual(count, 0)
        for name, x in found.items():
            self.assertEqual(x.placements, (WHOLE, WHOLE), name)

    def test_without_optional_operands(self):
        operands = make_operands()
        operands = {n: operands[n] for n in "qkv"}
        split = dict.fromkeys("qkv", [BATCH, HEADS])
        _, count = self.check(operands, split, dlse=[BATCH, HEADS_OF_LSE],
                              differentiable="qkv")
        self.assertEqual(count, 0)

    def test_temp_without_gradient(self):
        """DTensor remembers what it decided: the same operands with a gradient
        have another decision."""
        split = dict.fromkeys(NAMES, [BATCH, WHOLE]) | dict.fromkeys(
            "qkv", [BATCH, HEADS])
        for differentiable in ("qkv", DIFFERENTIABLE, "qkv"):
            _, count = self.check(make_operands(batch=2), split,
                                  dlse=[BATCH, HEADS_OF_LSE],
                                  differentiable=differentiable)
            self.assertEqual(count, 0)

    def test_uneven_batch(self):
        for batch in (3, 5):
            split = dict.fromkeys(NAMES, [BATCH, WHOLE])
            _, count = self.check(make_operands(batch), split, dlse=[BATCH, WHOLE])
            self.assertEqual(count, 0)

    def test_inference_mode(self):
        operands = make_operands()
        q, k, v = (operands[n] for n in "qkv")
        wanted = ranker_attention(q, k, v)
        placed = [self.place(x, [BATCH, HEADS]) for x in (q, k, v)]
        with torch.inference_mode(), CommDebugMode() as talk:
            out = ranker_attention(*(x + 0 for x in placed))
        self.assertEqual(talk.get_total_counts(), 0)
        self.check_close({"out": out}, {"out": wanted})


class Moved(Sharded):
    """What cannot be split as it lies is moved, and right."""

    def test_groups_that_would_be_split(self):
        """12 heads and 3 kv heads in halves: 6 heads and 2 kv heads look right,
        and are not."""
        for heads, kv_heads in ((12, 3), (6, 3), (12, 6), (8, 2)):
            for way in ([WHOLE, HEADS], [HEADS, HEADS]):
                operands = make_operands(heads=heads, kv_heads=kv_heads)
                found, _ = self.check(operands, dict.fromkeys("qkv", way))
                count = 2 ** way.count(HEADS)
                if kv_heads % count:
                    self.assertNotEqual(found["out"].placements, tuple(way))
            operands = make_operands(heads=heads, kv_heads=kv_heads)
            self.check(operands, dict.fromkeys("qkv", [HEADS]), mesh=self.line)

    def test_kv_heads_that_lie_whole(self):
        """More processes than kv heads."""
        for kv_heads in (2, 3):
            operands = make_operands(heads=12, kv_heads=kv_heads)
            self.check(operands, {"q": [HEADS, HEADS]})
            self.check(operands, {"q": [HEADS], "k": [WHOLE]}, mesh=self.line)

    def test_one_kv_head_of_a_split_dimension(self):
        self.check(make_operands(kv_heads=1), dict.fromkeys("qkv", [WHOLE, HEADS]))
        self.check(make_operands(heads=5, kv_heads=1), {"q": [HEADS]}, mesh=self.line)

    def test_batch_with_empty_parts(self):
        for batch in (1, 5):
            self.check(make_operands(batch), dict.fromkeys(NAMES, [BATCH]),
                       mesh=self.line)

    def test_mixed_placements(self):
        self.check(make_operands(), {
            "q": [BATCH, HEADS], "k": [WHOLE, WHOLE], "v": [HEADS, BATCH],
            "temp": [WHOLE, TOKENS], "kv_segment_ids": [BATCH, TOKENS]})
        self.check(make_operands(), {
            "q": [WHOLE, WHOLE], "k": [WHOLE, HEADS], "v": [BATCH, WHOLE],
            "bounds": [BATCH, BATCH]}, like=[HEADS, BATCH])

    def test_tokens(self):
        self.check(make_operands(), dict.fromkeys("qkv", [BATCH, TOKENS]))
        self.check(make_operands(), {"q": [TOKENS, TOKENS]}, dlse=[Shard(2), WHOLE])

    def test_sums(self):
        self.check(make_operands(), {
            "q": [BATCH, Partial()], "k": [Partial(), HEADS],
            "temp": [WHOLE, Partial()]}, like=[Partial(), WHOLE])

    def test_loss_of_a_module(self):
        """Gradients through DTensor's own ops, from a sum."""
        operands = make_operands()
        q, k, v = (operands[n] for n in "qkv")
        gradients = []
        for place in (lambda x: x.clone(), lambda x: self.place(x, [BATCH, HEADS])):
            leaves = [place(x).requires_grad_() for x in (q, k, v)]
            (ranker_attention(*leaves) ** 2).sum().backward()
            gradients.append({"qkv"[i]: whole(x.grad) for i, x in enumerate(leaves)})
        self.check_close(gradients[1], gradients[0])


class Halves(Sharded):
    bound = 1e-2

    def test_temp_in_bfloat16(self):
        for dtype in (torch.bfloat16, torch.float16):
            operands = make_operands(dtype=dtype)
            operands["temp"] = operands["temp"].bfloat16()
            split = dict.fromkeys("qkv", [WHOLE, HEADS])
            found, _ = self.check(operands, split, dlse=[WHOLE, HEADS_OF_LSE])
            self.assertEqual(found["out"].placements, (WHOLE, HEADS))


class Compiled(Sharded):
    def test_fullgraph(self):
        run = torch.compile(ranker_attention, fullgraph=True, backend="aot_eager")
        self.check_split(make_operands(), (0,), (1,), run)


class Refused(Sharded):
    def test_bad_input(self):
        operands = make_operands(heads=6, kv_heads=4)
        placed = [self.place(operands[n], [BATCH, WHOLE]) for n in "qkv"]
        message = "q has 6 heads: expected a multiple of the 4 of k"
        with self.assertRaisesRegex(RuntimeError, message):
            ranker_attention(*placed)

    def test_tensors_beside_dtensors(self):
        operands = make_operands()
        q, k, v = (operands[n] for n in "qkv")
        with self.assertRaisesRegex(RuntimeError, "mixed torch.Tensor and DTensor"):
            ranker_attention(self.place(q, [BATCH, WHOLE]), k, v)


def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=PROCESSES,
                            timeout=datetime.timedelta(seconds=60))
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    # The others wait for one that failed: it ends all.
    report = unittest.TextTestRunner(failfast=True).run(tests)
    if not report.wasSuccessful():
        os._exit(1)
    assert report.testsRun > 0
    dist.barrier()
    dist.destroy_process_group()


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes.spawn(work, args=(port,), nprocs=PROCESSES)


if __name__ == "__main__":
    main()
