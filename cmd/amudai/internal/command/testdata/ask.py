"""Answers questions, which are expressions of Python in lines of stdin, by lines of JSON: ask.py python|spark."""

import json
import os
import sys

import amudai
import duckdb
import polars as pl

# Java's notes go to stderr.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

names = {**vars(amudai), "pl": pl, "duckdb": duckdb}
if sys.argv[1] == "spark":
    import amudai.spark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    spark = spark.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    amudai.spark.register(spark)
    names["load"] = spark.read.format("amudai").load
for line in sys.stdin:
    try:
        answer = {"answer": repr(eval(line.strip(), names))}
    except Exception as e:
        answer = {"error": str(e) or repr(e)}
    print(json.dumps(answer), file=answers, flush=True)
