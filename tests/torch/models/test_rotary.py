from __future__ import annotations

import pytest
import torch

from bertdata.torch.models.rotary import rotation


@pytest.mark.parametrize("theta", [10.0, 10_000.0])
def test_scores_depend_on_the_distance_alone(theta: float) -> None:
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 1, 1, 1, 8, generator=generator)
    turn = rotation(torch.arange(20)[None], 8, theta)
    scores = turn.turned(query.expand(1, 1, 20, 8)) @ turn.turned(key.expand(1, 1, 20, 8)).transpose(-1, -2)
    for distance in (-7, 0, 3):
        diagonal = scores[0, 0].diagonal(distance)
        assert torch.allclose(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-4)
    assert not torch.allclose(scores[0, 0, 0, 3], scores[0, 0, 3, 0], atol=1e-2)


def test_pairs_of_dimensions_are_turned_by_angles_that_shrink_with_the_dimension() -> None:
    states = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
    turned_states = rotation(torch.tensor([[5]]), 4, 100.0).turned(states)[0, 0, 0]
    for pair, angle in ((0, 5.0), (1, 5.0 / 10.0)):
        turned = complex(states[0, 0, 0, pair], states[0, 0, 0, pair + 2]) * torch.exp(torch.tensor(1j * angle))
        assert turned_states[pair].item() == pytest.approx(turned.real.item(), abs=1e-5)
        assert turned_states[pair + 2].item() == pytest.approx(turned.imag.item(), abs=1e-5)


def test_positions_of_a_row_and_of_a_packed_row_turn_alike_and_the_type_stays() -> None:
    states = torch.randn(1, 2, 6, 4, generator=torch.Generator().manual_seed(1)).bfloat16()
    packed = rotation(torch.tensor([[0, 1, 2, 0, 1, 2]]), 4, 50.0).turned(states)
    halves = [rotation(torch.arange(3)[None], 4, 50.0).turned(half) for half in states.chunk(2, dim=2)]
    assert packed.dtype == torch.bfloat16
    assert torch.equal(packed, torch.cat(halves, dim=2))
    wide = rotation(torch.tensor([[0, 1, 2, 0, 1, 2]]), 4, 50.0).turned(states.float())
    assert torch.equal(packed, wide.bfloat16())
