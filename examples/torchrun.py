"""Pretrain on several processes with torchrun; a run may go on with another number of them.

    torchrun --nproc-per-node 2 examples/torchrun.py corpus/train --output runs/ddp --steps 1000

Each rank reads its own part of every step, without a word between them; the state is the same on every rank.
"""

from __future__ import annotations

import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from transformers import BertConfig, BertForPreTraining

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--workers", type=int, default=0)
    flags = parser.parse_args()
    os.makedirs(flags.output, exist_ok=True)
    path = os.path.join(flags.output, "state.pt")

    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")

    dataset = ShardDataset(flags.shards)
    sampler = ResumableBatchSampler(dataset, flags.batch_size, epochs=None)  # of the rank that torch.distributed says
    loader = ResumableLoader(dataset, sampler, num_workers=flags.workers, pin_memory=cuda)

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=dataset.info.vocab_size,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    bare = BertForPreTraining(config).to(device)
    model = DistributedDataParallel(bare)
    optimizer = torch.optim.AdamW(bare.parameters(), lr=1e-3)
    step = 0
    if os.path.exists(path):
        saved = torch.load(path, weights_only=True, map_location=device)
        bare.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])
        step = saved["step"]

    batches = iter(loader)
    while step < flags.steps:
        batch = {name: tensor.to(device, non_blocking=True) for name, tensor in next(batches).items()}
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if dist.get_rank() == 0:
            print(f"step {step} loss {mean.item() / dist.get_world_size():.6f}", flush=True)

    if dist.get_rank() == 0:
        state = {
            "model": bare.state_dict(),
            "optimizer": optimizer.state_dict(),
            "loader": loader.state_dict(),
            "step": step,
        }
        torch.save(state, path)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
