"""A session of the engine that AMUDAI_ENGINE names: a master of Spark, such as local[2], or sail or sail-cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import amudai.spark
from amudai import _command

ENGINE = os.environ.get("AMUDAI_ENGINE", "local[2]")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    # Workers are other processes.
    os.environ["AMUDAI_PROGRAM"] = _command.program()
    os.environ["PYTHONPATH"] = str(Path(amudai.__file__).parent.parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    server = None
    if ENGINE.startswith("sail"):
        os.environ["SAIL_MODE"] = "local-cluster" if ENGINE == "sail-cluster" else "local"
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    else:
        session = (
            SparkSession.builder.master(ENGINE)
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
            .config("spark.executorEnv.AMUDAI_PROGRAM", os.environ["AMUDAI_PROGRAM"])
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
    amudai.spark.register(session)
    yield session
    session.stop()
    if server is not None:
        server.stop()
