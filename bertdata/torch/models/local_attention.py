"""Attention to near tokens only: up to `window` of them on each side (Beltagy et al. 2020, section 3.1).

In a row much longer than the window, almost all scores would be masked. `local_attention` therefore cuts it into blocks
and computes the scores of each with the blocks beside it, so time and memory grow with the length, not its square.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

_SMALLEST_BLOCK = 32


class NearTokens(NamedTuple):
    """What tokens of long rows attend to: those up to `window` places away that have the same owner.

    owner: int64 (N, L), or (1, L) for all rows: 0 at padding and 1 at tokens, or the number of a packed sequence.
    """

    owner: Tensor
    window: int

    def attended(self) -> Tensor:
        """Return the same as a mask, bool (N, 1, L, L)."""
        same_example = self.owner[:, None, :, None] == self.owner[:, None, None, :]
        return same_example & near(None, self.window, self.owner.shape[1], self.owner.device)


def near(mask: Tensor | None, window: int, length: int, device: torch.device) -> Tensor:
    """Return a mask, bool, with which a token attends to those of `mask` that are up to `window` places from it.

    It also attends to itself, so that of the scores of padding not all are masked. length: tokens of a row.

    >>> near(None, 1, 3, torch.device("cpu")).int()
    tensor([[1, 1, 0],
            [1, 1, 1],
            [0, 1, 1]], dtype=torch.int32)
    """
    place = torch.arange(length, device=device)
    distance = (place[:, None] - place).abs()
    return distance <= window if mask is None else (distance <= window) & mask | (distance == 0)


def worthwhile(length: int, window: int) -> bool:
    """Return whether rows are so long that blocks take less time than all scores of the row, most of them masked.

    >>> worthwhile(320, 64), worthwhile(321, 64)
    (False, True)
    """
    return length > 5 * _block(window)


def local_attention(query: Tensor, key: Tensor, value: Tensor, tokens: NearTokens, dropout: float = 0.0) -> Tensor:
    """Return softmax(query key / sqrt(d)) value over near tokens; query, key, value and result: (N, heads, L, d).

    Dropout of the probabilities is torch's own.
    """
    size, (rows, heads, length, _) = _block(tokens.window), query.shape
    count = -(-length // size)
    tail = count * size - length
    blocks = functional.pad(query, (0, 0, 0, tail)).reshape(rows, heads, count, size, -1).transpose(1, 2).flatten(0, 1)
    keys, values = (
        functional.pad(states, (0, 0, size, size + tail)).unfold(2, 3 * size, size).permute(0, 2, 1, 4, 3).flatten(0, 1)
        for states in (key, value)
    )
    owner = tokens.owner.expand(rows, -1)
    owners = functional.pad(owner, (0, tail), value=-1).view(rows, count, size)
    beside = functional.pad(owner, (size, size + tail), value=-1).unfold(1, 3 * size, size)
    place = torch.arange(3 * size, device=query.device)
    distance = (place[size : 2 * size, None] - place).abs()
    mask = (owners[..., None] == beside[..., None, :]) & (distance <= tokens.window)
    seen = mask.flatten(0, 1)[:, None]
    mixed = functional.scaled_dot_product_attention(blocks, keys, values, attn_mask=seen, dropout_p=dropout)
    return mixed.view(rows, count, *mixed.shape[1:]).transpose(1, 2).flatten(2, 3)[:, :, :length]


def _block(window: int) -> int:
    """Return the tokens of a block: at least the window, so that those beside it have all that its tokens attend to."""
    return max(window, _SMALLEST_BLOCK)
