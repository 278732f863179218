#!/usr/bin/env bash
# Claim: once Ctrl-C has interrupted the import of tqdm.auto (or of anything that imports asyncio), importing it again in the same
#   process is a NameError, whatever happens later: asyncio's modules that were imported stay, the package is made anew, and its last
#   lines name modules that nothing puts into it any more.
# Packages: tqdm 4.69.0, Python 3.11 (asyncio of 3.12 to 3.14 ends with the same lines).
# Guess: a second import begins anew and works, as after an ImportError that was mended.
# It matters to whoever goes on after Ctrl-C: a trainer that saves a checkpoint or closes a progress bar in `finally`, a notebook in which
#   a cell of imports was interrupted. What is needed then must be imported before.
# Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tqdm==4.69.0
cat >interrupted.py <<'PYTHON'
"""Import tqdm three times; the first time Ctrl-C comes while asyncio imports one of its modules."""

import sys


class CtrlC:
    """A finder at which one import is interrupted."""

    waiting = True

    def find_spec(self, name, path=None, target=None):
        """Interrupt the first import of a module that asyncio imports late."""
        if self.waiting and name == "asyncio.runners":
            self.waiting = False
            raise KeyboardInterrupt
        return None


sys.meta_path.insert(0, CtrlC())
for _ in range(3):
    try:
        from tqdm.auto import tqdm
    except (KeyboardInterrupt, NameError) as error:
        print(type(error).__name__, "asyncio" in sys.modules, "asyncio.coroutines" in sys.modules)
    else:
        print("imported")
PYTHON
environment/bin/python interrupted.py | tee seen
cat >expected <<'TEXT'
KeyboardInterrupt False True
NameError False True
NameError False True
TEXT
diff expected seen
echo "as it was"
