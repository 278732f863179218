"""Whether a model of transformers heeds the mask of causal rows: none of them says, so it is tried.

Some take a mask (N, 1, L, L) and do not heed it, mix neighbours by a convolution, or fail. Before the first step
`check_causal_mask` puts rows through a model: with a mask that hides nothing, the output has to be that without one,
and with a causal one, no output may move when later tokens change.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.loader.padding import padded_length
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.transformers_causal import causal_masks
from bertdata.torch.models.transformers_library import in_one_line
from bertdata.torch.models.transformers_probe import PROBED


@torch.no_grad()
def check_causal_mask(model: TransformersModel, info: PretrainingInfo) -> None:
    """Raise ConfigError where a model does not heed the mask of causal rows.

    The weights of a fresh model are so small that what a token sees hardly shows in its output, so it is the outputs of
    the encoder that are compared, by their own size.
    """
    length = min(padded_length(info.max_seq_length), PROBED)
    special = {info.pad_token_id, info.cls_token_id, info.sep_token_id, info.mask_token_id}
    ordinary = torch.tensor([token_id for token_id in range(info.vocab_size) if token_id not in special])
    ids = ordinary[torch.arange(2 * length).view(2, length) * 7919 % len(ordinary)]
    changed, cut = ids.clone(), length // 2
    changed[:, cut:] = ordinary[(torch.arange(2 * length).view(2, length) * 7919 + 1)[:, cut:] % len(ordinary)]
    was_training = model.training
    model.eval()
    try:
        reason = _wrong(model, ids, changed, cut)
    except Exception as error:  # whatever a model of any family makes of a mask that it does not know
        reason = f"{type(error).__name__}: {in_one_line(error)}"
    finally:
        model.train(was_training)
    if reason:
        raise ConfigError(
            f"{model.architecture} of transformers takes no attention_mask that makes rows causal ({reason}); train it "
            "with --phase-training masked, or take a model that does, such as bert, roberta or modernbert"
        )


def _wrong(model: TransformersModel, ids: Tensor, changed: Tensor, cut: int) -> str:
    """Return what is wrong with the outputs of a model for rows of which some are causal, "" for nothing."""

    def states(ids: Tensor, causal: list[bool] | None) -> Tensor:
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if causal is not None:
            inputs["attention_mask"] = causal_masks(model.model.config, None, torch.tensor(causal), ids.shape[1])
        outputs = model.encoder(**model.taken(inputs), return_dict=True)
        hidden: Tensor = outputs.last_hidden_state
        return hidden

    plain = states(ids, None)
    size = float((plain - plain.mean(1, keepdim=True)).abs().max())
    if _difference(states(ids, [False, False]), plain) > 1e-4 * size:
        return "with a mask that hides nothing its outputs are others than without one"
    first, second = states(ids, [True, False]), states(changed, [True, False])
    if _difference(first[1], plain[1]) > 1e-4 * size:
        return "a causal row changes the outputs of the row beside it"
    if _difference(first[0, :cut], second[0, :cut]) > 1e-6 * size:
        return "its outputs move when later tokens change"
    if _difference(first[0, :cut], plain[0, :cut]) == 0:
        return "its outputs are those without a mask"
    return ""


def _difference(first: Tensor, second: Tensor) -> float:
    return float((first - second).abs().max())
