package serve

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxReason is the length of an error in a response.
const maxReason = 1024

// Numbers of fields of messages.
const (
	responsePartialSuccess protowire.Number = 1 // ExportTraceServiceResponse
	partialRejected        protowire.Number = 1 // ExportTracePartialSuccess
	partialMessage         protowire.Number = 2
	statusCode             protowire.Number = 1 // google.rpc.Status
	statusMessage          protowire.Number = 2
)

// successBytes is an ExportTraceServiceResponse in protobuf.
func successBytes(a answer) []byte {
	if a.rejected == 0 {
		return nil
	}
	partial := protowire.AppendVarint(protowire.AppendTag(nil, partialRejected, protowire.VarintType), uint64(a.rejected))
	partial = protowire.AppendString(protowire.AppendTag(partial, partialMessage, protowire.BytesType), clip(a.reason.Error()))
	return protowire.AppendBytes(protowire.AppendTag(nil, responsePartialSuccess, protowire.BytesType), partial)
}

// writeSuccess writes an ExportTraceServiceResponse.
func writeSuccess(w http.ResponseWriter, asJSON bool, a answer) {
	if !asJSON {
		write(w, "application/x-protobuf", http.StatusOK, successBytes(a))
		return
	}
	type partial struct {
		Rejected string `json:"rejectedSpans"` // an int64 is a string in OTLP/JSON
		Message  string `json:"errorMessage"`
	}
	var response struct {
		Partial *partial `json:"partialSuccess,omitempty"`
	}
	if a.rejected > 0 {
		response.Partial = &partial{strconv.FormatInt(a.rejected, 10), clip(a.reason.Error())}
	}
	body, _ := json.Marshal(response) // numbers and strings have no errors
	write(w, "application/json", http.StatusOK, body)
}

// writeStatus writes a google.rpc.Status.
func writeStatus(w http.ResponseWriter, asJSON bool, r *Refusal) {
	text := clip(r.text)
	if !asJSON {
		body := protowire.AppendVarint(protowire.AppendTag(nil, statusCode, protowire.VarintType), uint64(r.Code))
		body = protowire.AppendString(protowire.AppendTag(body, statusMessage, protowire.BytesType), text)
		write(w, "application/x-protobuf", r.status, body)
		return
	}
	body, _ := json.Marshal(struct { // numbers and strings have no errors
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{r.Code, text})
	write(w, "application/json", r.status, body)
}

func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone sends again, if it wants to
}

// clip returns a text of valid UTF-8 that is not too long for a response.
func clip(text string) string {
	if len(text) > maxReason {
		text = text[:maxReason]
	}
	return strings.ToValidUTF8(text, "�")
}
