"""The packages of the wheel: those of `bertdata`, and the folders beside it that ship inside of it."""

from setuptools import find_packages, setup

BESIDE = ("pipelines", "recipes", "vocab")

setup(
    packages=[*find_packages(include=["bertdata", "bertdata.*"]), *(f"bertdata.{name}" for name in BESIDE)],
    package_dir={f"bertdata.{name}": name for name in BESIDE},
)
