"""Imports large packages sooner: the garbage collector would go through all that they make, again and again."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType

_OF_BEAM = (
    *(
        "pandas",
        "google.cloud.storage",
        "boto3",
        "azure.storage.blob",
        "azure.core",
        "azure.identity",
        "pymongo",
        "bson",
    ),
    *("hdfs", "apache_beam.io.gcp.bigquery"),
)
"""What Beam imports for its own data frames and stores if it is installed; bertdata uses none of it."""

is_command = False
"""Whether this process runs a command of bertdata, so that no other code in it uses Beam."""


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Stop the garbage collector until the context is left, for imports and for what is read at once: it stays.

    Apache Beam is imported in 0.7 s of processor time rather than 0.9; a tokenizer in five sixths of the time.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def collect_seldom() -> None:
    """Let the garbage collector leave out what was imported, and look for cycles after 50,000 new objects, not 700.

    Only for a process of our own: a build makes few cycles, and takes 0.2 s of processor time less.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def leave_threads_to_workers() -> None:
    """Let NumPy start no threads of OpenBLAS, one for each core, in this process and its workers, unless they are set.

    To start and wait they take 0.1 s of processor time on two cores; parts of a build are made by workers side by side.
    Only for a process of our own, before it imports NumPy.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def allocate_by_glibc() -> None:
    """Let Arrow take its memory from glibc, where Python runs on that and no other allocator is set.

    Arrow's own, mimalloc, gives large blocks back to the operating system, and gets them filled with zeros anew: that
    takes 0.15 s of the system's time for 400 MB of text, and as much memory. Only for a process of our own, before it
    imports Arrow, and its workers.
    """
    if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}) and os.confstr("CS_GNU_LIBC_VERSION"):
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


@contextlib.contextmanager
def without_packages_of_beam() -> Iterator[None]:
    """Let Beam be imported as if what it does without were not installed: in 0.5 s of processor time rather than 0.8.

    Only for a process in which no other code uses Beam. What was hidden can be imported afterwards.
    """
    with hidden(_OF_BEAM):
        yield


@contextlib.contextmanager
def hidden(names: Iterable[str]) -> Iterator[None]:
    """Let modules that were not imported yet be missing until the context is left."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules |= dict.fromkeys(absent)  # type: ignore[arg-type]  # None: importing it raises ImportError
    try:
        yield
    finally:
        for name in absent:
            if sys.modules.get(name) is None:
                sys.modules.pop(name, None)


class _ArraysOfNumba:
    """A finder that lets the module of numba that imports `scipy.linalg`, where it is installed, do without it."""

    name = "numba.np.arraymath"

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of that module, whose loader hides `scipy.linalg` from it, and None for all else."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_without(module: ModuleType) -> None:
                with hidden(["scipy.linalg"]):
                    load(module)

            spec.loader.exec_module = load_without  # type: ignore[method-assign]
        return spec


def keep_scipy_out_of_numba() -> None:
    """Let numba not import `scipy.linalg`, in 0.1 s of processor time: its kernels then have no products of matrices.

    Only for a process in which no other code uses numba.
    """
    if not {"scipy.linalg", _ArraysOfNumba.name} & {*sys.modules}:
        sys.meta_path.insert(0, _ArraysOfNumba())


class _Pandas:
    """A finder that says pandas is not installed; once it may be, that tells pyarrow when somebody imports it."""

    hidden = True

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of pandas, whose loader tells pyarrow, and None for all else."""
        if name != "pandas":
            return None
        if self.hidden:
            raise ModuleNotFoundError("pyarrow need not look whether a list is of pandas", name=name)
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_tell(module: ModuleType) -> None:
                load(module)
                import pyarrow as pa

                pa.table({"column": pa.array([0])}).to_pandas()

            spec.loader.exec_module = load_and_tell  # type: ignore[method-assign]
        return spec


def keep_pandas_out_of_pyarrow() -> None:
    """Let `pa.array` ask of no list whether it is a Series, for which it imports pandas, in 0.3 s of processor time.

    Once somebody imports pandas, `pa.array` takes a Series as ever.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    finder = _Pandas()
    sys.meta_path.insert(0, finder)
    pa.array([0])
    finder.hidden = False
