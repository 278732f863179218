"""The builds that tests of shards share."""

from tests.shards.conftest import dynamic_build, own_build, own_static_build, static_build

__all__ = ["dynamic_build", "own_build", "own_static_build", "static_build"]
