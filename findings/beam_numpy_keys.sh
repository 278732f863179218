#!/usr/bin/env bash
# Claim: Beam does not group by keys that are NumPy scalars: np.int64(1) and even np.str_("x"), which is a str, are a TypeError in
#   GroupByKey, unless the type is declared. Of Python's own types True, 1 and 1.0 are three groups.
# Packages: apache-beam 2.77.0, numpy 2.4.6.
# Guess: NumPy's scalars are pickled, and make groups of their own beside Python's; np.str_("x") falls together with "x".
# It matters to whoever takes keys from a column of Arrow or NumPy: the pipeline that worked on Python's numbers stops.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check apache-beam==2.77.0 numpy==2.4.6
cat >group.py <<'PYTHON'
"""Print the groups of some keys."""

import logging

import apache_beam as beam
import numpy as np

logging.disable(logging.CRITICAL)
groups = []
for keys in ([1, 1.0, True], [np.int64(1), 1], [np.str_("x"), "x"]):
    try:
        with beam.Pipeline() as pipeline:
            grouped = pipeline | beam.Create([(key, 1) for key in keys]) | beam.GroupByKey()
            _ = grouped | beam.combiners.Count.Globally() | beam.Map(lambda count: print(count, "groups"))
    except TypeError as error:
        print("TypeError", str(error).split("Unable")[-1].split(",")[0])
PYTHON
environment/bin/python -W ignore group.py 2>said | tee seen
cat >expected <<'TEXT'
3 groups
TypeError  to deterministically encode '1' of type '<class 'numpy.int64'>'
TypeError  to deterministically encode 'x' of type '<class 'numpy.str_'>'
TEXT
diff expected seen
