"""Trains a tiny ranker in PyTorch: an attention layer with the ranker mask, a
temperature a query, a tanh cap and z-loss. The same code on CPU and GPU.

Usage: torch_training_step.py [STEPS]
SPDX-License-Identifier: Apache-2.0
"""

import sys

import torch
from torch import nn
from torch.nn import functional
from uattn.torch import bounds_from_segment_ids, ranker_attention

BATCH, HISTORY, CANDIDATES, PADDING = 4, 96, 24, 8
TOKENS, HEADS, KV_HEADS, HEAD_DIM, WIDTH = 128, 4, 2, 64, 64
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Ranker(nn.Module):
    """A logit for each token."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, HEADS * HEAD_DIM)
        self.k = nn.Linear(WIDTH, KV_HEADS * HEAD_DIM)
        self.v = nn.Linear(WIDTH, KV_HEADS * HEAD_DIM)
        self.temp = nn.Linear(WIDTH, 1)
        self.score = nn.Linear(HEADS * HEAD_DIM, 1)

    def forward(self, tokens, bounds):
        def heads(layer):
            return layer(tokens).bfloat16().unflatten(2, (-1, HEAD_DIM))

        out = ranker_attention(
            heads(self.q), heads(self.k), heads(self.v),
            temp=functional.softplus(self.temp(tokens).squeeze(2) + 0.5),
            bounds=bounds, cap=("tanh", 30.0, 0.0, 0.0), z_loss_weight=1e-4)
        return self.score(out.flatten(2).float()).squeeze(2)


def loss_of(model, tokens, segment_ids, clicks):
    """Cross entropy of clicks over the candidates."""
    logits = model(tokens, bounds_from_segment_ids(segment_ids))
    losses = functional.binary_cross_entropy_with_logits(logits, clicks,
                                                         reduction="none")
    is_candidate = segment_ids == -1
    return torch.where(is_candidate, losses, 0.0).sum() / is_candidate.sum()


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    torch.manual_seed(0)
    model = Ranker().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    tokens = torch.randn(BATCH, TOKENS, WIDTH).to(DEVICE)
    kinds = [1] * HISTORY + [-1] * CANDIDATES + [0] * PADDING
    segment_ids = torch.tensor([kinds] * BATCH, device=DEVICE)
    clicks = (tokens[..., 0] > 0).float()
    # One graph: the op is no break to the compiler.
    step_loss = torch.compile(loss_of, fullgraph=True,
                              backend="inductor" if DEVICE == "cuda" else "aot_eager")
    print(f"on {DEVICE}")
    for i in range(steps):
        optimizer.zero_grad()
        value = step_loss(model, tokens, segment_ids, clicks)
        value.backward()
        optimizer.step()
        if i % 5 == 0 or i == steps - 1:
            print(f"step {i}: loss {value.item():.4f}")


if __name__ == "__main__":
    main()
