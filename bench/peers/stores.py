"""Requests, dependent rounds and bytes of questions to a shard and to a Parquet file in a store that answers late.

    python bench/peers/stores.py --amudai BINARY --shard FILE --parquet FILE [--latency SECONDS]

A server of its own answers GET and HEAD for objects as S3 does, each after the latency. The round of a request is one more than that of the
last one that was answered before it came: an answer that is waited for costs a round. With pyarrow and polars installed, they ask the same of the Parquet file.
"""

import argparse, email.utils, http.server, os, re, shutil, subprocess, sys, tempfile, threading, time

P = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
P.add_argument("--amudai", required=True)
P.add_argument("--shard", required=True, action="append", help="may be repeated")
P.add_argument("--parquet", required=True)
P.add_argument("--latency", type=float, default=0.2)
P.add_argument("--verbose", action="store_true", help="every request")


class Log:
    def __init__(self):
        self.lock, self.requests, self.done, self.bytes = threading.Lock(), [], 0, 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log, latency, objects = Log(), 0.0, {}
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, body):
        log = Handler.log
        with log.lock:
            number = log.done + 1
        time.sleep(Handler.latency)
        path = Handler.objects.get(self.path.split("?")[0].removeprefix("/bucket/"))
        if path is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = os.path.getsize(path)
        start, end, asked = 0, size, self.headers.get("Range")
        if asked:
            first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", asked).groups()
            start, end = (int(first), min(int(last) + 1 if last else size, size)) if first else (max(size - int(last), 0), size)
        with open(path, "rb") as f:
            f.seek(start)
            content = f.read(end - start)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{size}"')
        self.send_header("Last-Modified", email.utils.formatdate(0, usegmt=True))
        self.end_headers()
        with log.lock:
            log.requests.append((number, self.command, start, end))
            log.done = max(log.done, number)
            log.bytes += len(content) if body else 0
        if body:
            self.wfile.write(content)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass  # a client that left


SETUP = """
import pyarrow.dataset as ds, pyarrow.compute as pc, pyarrow.fs as fs, polars as pl, sys
def arrow():
    s3 = fs.S3FileSystem(endpoint_override=URL.removeprefix("http://"), scheme="http", anonymous=True, region="us-east-1")
    return ds.dataset("bucket/f.parquet", filesystem=s3)
def polars():
    return pl.scan_parquet("s3://bucket/f.parquet", storage_options={"aws_endpoint_url": URL, "aws_skip_signature": "true", "aws_region": "us-east-1", "aws_allow_http": "true"})
"""
QUESTIONS = {
    "one column": (["convert", "-q", "--force", "--columns", "delay", "S", "T.arrow"], "polars().select('delay').collect()", "arrow().to_table(columns=['delay'])"),
    "filter": (["scan", "S", "--where", "delay > 1200", "--format", "csv"], "polars().filter(pl.col('delay') > 1200).collect()", "arrow().to_table(filter=pc.field('delay') > 1200)"),
    "agg": (["agg", "S", "sum(delay), avg(distance)"], "polars().select(pl.sum('delay'), pl.mean('distance')).collect()", "arrow().to_table(columns=['delay', 'distance'])"),
    "take": (["take", "S", "1700000"], "polars().slice(1700000, 1).collect()", "arrow().take([1700000])"),
    "head": (["head", "-n", "5", "S"], "polars().head(5).collect()", "arrow().head(5)"),
}


def main():
    o = P.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    env = dict(os.environ, AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true")
    Handler.latency = o.latency
    Handler.objects = {"f.parquet": o.parquet, **{f"{i}.amudai.shard": s for i, s in enumerate(o.shard)}}
    out = os.path.join(tempfile.mkdtemp(), "t")
    print("| question | of | requests | rounds | KiB | seconds |\n| --- | --- | ---: | ---: | ---: | ---: |")
    for name, (args, polars, arrow) in QUESTIONS.items():
        runs = []
        for i, s in enumerate(o.shard):
            at = f"s3://bucket/{i}.amudai.shard"
            runs.append((os.path.basename(s), [o.amudai] + [{"S": at, "T.arrow": out + ".arrow"}.get(a, a) for a in args]))
        for who, question in ("Polars", polars), ("pyarrow", arrow):
            runs.append((who, [sys.executable, "-c", f"URL = {url!r}\n{SETUP}\n{question}"]))
        for who, command in runs:
            log = Handler.log = Log()
            began = time.time()
            r = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            took = time.time() - began
            if r.returncode:
                print(f"| {name} | {who} | failed: {r.stderr.strip().splitlines()[-1]} |")
                continue
            print(f"| {name} | {who} | {len(log.requests)} | {log.done} | {log.bytes >> 10:,} | {took:.1f} |")
            if o.verbose:
                for number, method, start, end in sorted(log.requests):
                    print(f"    {number} {method} {start:,} to {end:,}")
    shutil.rmtree(os.path.dirname(out))


if __name__ == "__main__":
    main()
