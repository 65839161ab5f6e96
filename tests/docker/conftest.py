"""The Docker engine that the tests of containers share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.docker.engine import Docker, Unavailable, engine
from tests.docker.image import Image, built


@pytest.fixture(scope="session")
def docker() -> Iterator[Docker]:
    """An engine with an image for softmark; without one the tests are skipped, but fail in continuous integration."""
    try:
        with engine() as found:
            yield found
    except Unavailable as why:
        if os.environ.get("CI"):
            pytest.fail(str(why), pytrace=False)
        pytest.skip(str(why))


@pytest.fixture(scope="session")
def image(docker: Docker) -> Iterator[Image]:
    """The image of docker/Dockerfile, for one homework, on the bare base image."""
    with built(docker) as made:
        yield made
