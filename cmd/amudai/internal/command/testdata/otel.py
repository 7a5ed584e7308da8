"""Exports spans by OpenTelemetry's SDK, and writes what it has exported: otel.py PROTOCOL ENDPOINT TRACE WANT [CERTIFICATE TOKEN]"""

import os
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # the library requests takes them instead of the certificate
    os.environ.pop(name, None)
protocol, endpoint, trace_id, want = sys.argv[1:5]
certificate, token = (sys.argv[5:] + [None, None])[:2]
headers = {"authorization": f"Bearer {token}"} if token else None

if protocol == "grpc":
    import grpc
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    credentials = None
    if certificate:
        with open(certificate, "rb") as f:
            credentials = grpc.ssl_channel_credentials(f.read())
    exporter = OTLPSpanExporter(
        endpoint=endpoint, insecure=certificate is None, credentials=credentials, headers=headers, compression=grpc.Compression.Gzip
    )
else:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=endpoint, certificate_file=certificate, headers=headers, compression=Compression.Gzip)

attributes = {
    "text": "späte Größe", "empty": "", "yes": True, "no": False, "int": -(2**63), "most": 2**63 - 1, "float": 0.1, "whole": 2.0, "huge": 1e300,
    "bytes": b"\x00\xff", "texts": ["a", ""], "bools": [True, False], "ints": [1, -2], "floats": [1.0, 0.5], "none": [],
    "http.status_code": 200,
}  # fmt: skip
kept = InMemorySpanExporter()
provider = TracerProvider(
    resource=Resource.create({"service.name": "shop", **attributes}, "https://opentelemetry.io/schemas/1.21.0"),
    span_limits=SpanLimits(max_events=3, max_links=2, max_span_attributes=len(attributes) + 1),
)
provider.add_span_processor(SimpleSpanProcessor(kept))
provider.add_span_processor(BatchSpanProcessor(exporter))
tracer = provider.get_tracer("tests", "1.2.3", schema_url="https://opentelemetry.io/schemas/1.24.0", attributes={"lang": "python"})

remote = trace.SpanContext(int(trace_id, 16), 0x0123456789ABCDEF, True, trace.TraceFlags(1), trace.TraceState([("vendor", "x")]))
with tracer.start_as_current_span("GET /", trace.set_span_in_context(trace.NonRecordingSpan(remote)), kind=trace.SpanKind.SERVER) as root:
    root.set_attributes(attributes)
    root.set_attribute("http.status_code", "200")  # another type in another span
    for i, kind in enumerate(trace.SpanKind):
        link = trace.Link(root.get_span_context(), {"why": "retry", **attributes})
        with tracer.start_as_current_span(f"step {i}", kind=kind, links=[link] * i, attributes={**attributes, "extra": 1, "too many": 2}) as span:
            for k in range(i):
                span.add_event(f"event {k}", attributes, timestamp=1_700_000_000_000_000_000 + k)
            span.set_status(trace.StatusCode(i % 3), "no stock" if i % 3 == 2 else None)
    try:
        with tracer.start_as_current_span("fails"):
            raise ValueError("späte Größe")
    except ValueError:
        pass
if not provider.force_flush():
    sys.exit("the spans were not exported")
provider.shutdown()
with open(want, "wb") as f:
    f.write(encode_spans(kept.get_finished_spans()).SerializeToString())
