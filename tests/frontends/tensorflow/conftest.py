"""TensorFlow, imported once for the tests that need it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from nanproof.frontends.tensorflow.live import quiet


@pytest.fixture(scope="session")
def tf() -> Any:
    """TensorFlow without its start-up messages."""
    quiet()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tensorflow as tf
    return tf
