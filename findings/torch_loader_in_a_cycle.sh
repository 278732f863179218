#!/usr/bin/env bash
# Claim: an iterator of torch's DataLoader that the garbage collector frees, as it is in a cycle of references, takes 5 seconds for
#   each of its workers to go: they are not told to end, and are killed when the time is over. One that nothing refers to any more
#   goes at once. An error of a worker that is caught leaves such a cycle, and whatever holds a loop and refers to itself.
# Packages: torch 2.13.0.
# Guess: workers end at once however the iterator is freed, as `__del__` tells them to in both cases. Before that, the collector runs
#   the finalizers of the queues through which they would be told.
# It matters to whoever catches errors of batches and goes on, in a notebook too, or begins many epochs with workers in such a loop.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 numpy==2.4.6
cat >free.py <<'PYTHON'
"""Print how many times 5 seconds it takes to free an iterator with three workers, by who frees it."""

import gc
import time

from torch.utils.data import DataLoader


class Numbers:
    def __len__(self):
        return 64

    def __getitem__(self, number):
        if number == self.broken:
            raise ValueError(number)
        return number


def iterator(broken=None):
    numbers = Numbers()
    numbers.broken = broken
    return iter(DataLoader(numbers, batch_size=4, num_workers=3))


def seconds(free):
    began = time.monotonic()
    free()
    return f"{(time.monotonic() - began) // 5:.0f} times 5 seconds"


def of_no_cycle():
    batches = iterator()
    next(batches)
    holder = [batches]
    del batches
    return seconds(holder.clear)


def of_a_cycle():
    batches = iterator()
    next(batches)
    holder = [batches]
    holder.append(holder)
    del batches, holder
    return seconds(gc.collect)


def of_an_error():
    batches = iterator(broken=0)
    try:
        next(batches)
    except ValueError as error:
        caught = error
    del batches, caught
    return seconds(gc.collect)


print("nothing refers to it:", of_no_cycle())
print("in a cycle:", of_a_cycle())
print("after an error that was caught:", of_an_error())
PYTHON
environment/bin/python -W ignore free.py | tee seen
cat >expected <<'TEXT'
nothing refers to it: 0 times 5 seconds
in a cycle: 3 times 5 seconds
after an error that was caught: 3 times 5 seconds
TEXT
diff expected seen
