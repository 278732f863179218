"""What all tests share: nothing reaches for a network, and Beam keeps its import-time remarks to itself.

Examples of hypothesis have no deadline: the first one may load or compile kernels, and a machine may be busy.
"""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["BERTDATA_CACHE"] = os.path.join(tempfile.gettempdir(), f"bertdata-tests-{os.getuid()}")

settings.register_profile("bertdata", deadline=None)
settings.load_profile("bertdata")
