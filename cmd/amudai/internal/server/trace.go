package server

import (
	"context"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/cmd/amudai/internal/traces"
)

// find is the trace of a request, as an encoded TracesData.
func (q query) find(ctx context.Context) ([]byte, error) {
	id, err := traces.ID(q.r.PathValue("id"))
	if err != nil {
		return nil, badRequest{err.Error()}
	}
	byLocation := map[string]traces.Source{}
	var locations []string
	for _, f := range q.files {
		locations = append(locations, f.Location)
		f.Close = func() error { return nil } // it is shared
		byLocation[f.Location] = f
	}
	found, err := traces.Find(ctx, locations, []string{id}, func(_ context.Context, location string) (traces.Source, error) { return byLocation[location], nil })
	if err != nil {
		return nil, err
	}
	wire, err := found[0].AppendOTLP(nil)
	if err == nil && len(wire) == 0 {
		err = errNotFound
	}
	return wire, err
}

// wantsProtobuf reports whether a client asks for protobuf, as Grafana does.
func (q query) wantsProtobuf() bool {
	return strings.Contains(q.r.Header.Get("Accept"), "application/protobuf")
}

const protobufType = "application/protobuf"

// trace answers with a Trace of Tempo, which is a TracesData of OTLP but for a name in JSON.
func (q query) trace(ctx context.Context) (any, error) {
	wire, err := q.find(ctx)
	if err != nil {
		return nil, err
	}
	if q.wantsProtobuf() {
		return body{protobufType, wire}, nil
	}
	spans, err := resourceSpans(wire)
	return map[string]any{"batches": spans}, err
}

// traceV2 answers with a TraceByIDResponse.
func (q query) traceV2(ctx context.Context) (any, error) {
	wire, err := q.find(ctx)
	if err != nil {
		return nil, err
	}
	if q.wantsProtobuf() {
		return body{protobufType, protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), wire)}, nil
	}
	spans, err := resourceSpans(wire)
	return map[string]any{"trace": map[string]any{"resourceSpans": spans}}, err
}

// resourceSpans are those of a TracesData in OTLP/JSON.
func resourceSpans(wire []byte) (json.RawMessage, error) {
	text, err := otlp.AppendJSON(nil, wire)
	if err != nil {
		return nil, err
	}
	var data struct {
		Spans json.RawMessage `json:"resourceSpans"`
	}
	err = json.Unmarshal(text, &data)
	return data.Spans, err
}
