package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Memory of a request beside its body.
const (
	requestBytes = 16 << 10
	gzipBytes    = 48 << 10
)

// Refusal is the error of a request that is refused.
type Refusal struct {
	status int // of HTTP
	Code   int // of google.rpc.Code, as gRPC has them
	text   string
}

func (r *Refusal) Error() string { return r.text }

// Codes of google.rpc.Status.
const (
	codeInvalidArgument   = 3
	codeDeadlineExceeded  = 4
	codeNotFound          = 5
	codeResourceExhausted = 8
	codeUnimplemented     = 12
	codeUnavailable       = 14
)

// ServeHTTP implements [http.Handler]. It answers when the spans of the request are durable, or are refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asJSON := isJSON(r)
	control := http.NewResponseController(w) // not all servers have deadlines
	_ = control.SetWriteDeadline(time.Time{})
	_ = control.SetReadDeadline(time.Now().Add(s.o.ReadTimeout)) // also of what is left of a refused body
	a, size, err := s.receive(w, r)
	refused := s.outcome(a, size, err)
	_ = control.SetWriteDeadline(time.Now().Add(responseTimeout))
	if refused == nil {
		writeSuccess(w, asJSON, a)
		return
	}
	if refused.Code == codeResourceExhausted || refused.Code == codeUnavailable {
		w.Header().Set("Retry-After", strconv.FormatInt(max(1, int64((s.o.RetryAfter+time.Second-1)/time.Second)), 10))
	}
	writeStatus(w, asJSON, refused)
}

// Export stores an encoded ExportTraceServiceRequest, as OTLP over gRPC brings it, and returns an encoded ExportTraceServiceResponse once the spans are
// durable. The message must not be changed until then. The error is a [*Refusal], or that of ctx.
func (s *Server) Export(ctx context.Context, message []byte) (response []byte, err error) {
	a, err := s.export(ctx, message)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if refused := s.outcome(a, int64(len(message)), err); refused != nil {
		return nil, refused
	}
	return successBytes(a), nil
}

func (s *Server) export(ctx context.Context, message []byte) (a answer, err error) {
	memory := share{budget: s.budget}
	defer memory.giveAll()
	switch {
	case int64(len(message)) > s.o.MaxMessageBytes:
		return a, errTooLarge
	case len(message) == 0:
		return a, nil
	}
	if err := memory.take(requestBytes + int64(len(message))); err != nil {
		return a, err
	}
	return s.wait(ctx, message)
}

// outcome counts a request. It is the refusal, or nil.
func (s *Server) outcome(a answer, size int64, err error) (refused *Refusal) {
	switch {
	case err != nil:
		refused = s.refusalOf(err)
	case a.err != nil:
		refused = s.refusalOf(a.err)
	}
	s.count(func(st *Stats) {
		st.Requests++
		switch {
		case refused == nil:
			st.Acknowledged++
			st.Bytes += size
			st.Rejected += a.rejected
		case refused.status == http.StatusTooManyRequests:
			st.Throttled++
		case refused.status == http.StatusServiceUnavailable:
			st.Unavailable++
		default:
			st.Invalid++
		}
	})
	return refused
}

// receive reads a request and waits until it is stored. Size is the number of bytes of the message.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (a answer, size int64, err error) {
	if err := s.check(w, r); err != nil {
		return a, 0, err
	}
	memory := share{budget: s.budget}
	defer memory.giveAll()
	if err := memory.take(requestBytes); err != nil {
		return a, 0, err
	}
	message, err := s.message(r, &memory)
	if err != nil || len(message) == 0 {
		return a, 0, err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the client need not wait for the disk
	a, err = s.wait(r.Context(), message)
	return a, int64(len(message)), err
}

// wait waits until a message is stored, or refused.
func (s *Server) wait(ctx context.Context, message []byte) (a answer, err error) {
	select {
	case <-s.closing:
		return a, errClosed
	default:
	}
	waiting := &request{message: message, answer: make(chan answer, 1)}
	select {
	case s.queue <- waiting:
	case <-ctx.Done(): // the client has gone
		return a, ctx.Err()
	case <-s.done:
		return a, errClosed
	}
	select {
	case a = <-waiting.answer:
		return a, nil
	case <-s.done:
	}
	select { // the loop answers before it ends
	case a = <-waiting.answer:
		return a, nil
	default:
		return a, errClosed
	}
}

// check refuses requests by their headers.
func (s *Server) check(w http.ResponseWriter, r *http.Request) error {
	switch encoding := r.Header.Get("Content-Encoding"); {
	case r.URL.Path != Path:
		return &Refusal{http.StatusNotFound, codeNotFound, "traces are received at " + Path}
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return &Refusal{http.StatusMethodNotAllowed, codeUnimplemented, "traces are sent by POST"}
	case !isJSON(r) && mediaType(r) != "application/x-protobuf":
		return &Refusal{http.StatusUnsupportedMediaType, codeInvalidArgument, "the content type is neither application/x-protobuf nor application/json"}
	case encoding != "" && encoding != "identity" && encoding != "gzip":
		return &Refusal{http.StatusUnsupportedMediaType, codeInvalidArgument, "the content encoding is neither gzip nor identity"}
	case r.ContentLength > s.o.MaxRequestBytes:
		return errTooLarge
	}
	return nil
}

func mediaType(r *http.Request) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func isJSON(r *http.Request) bool { return mediaType(r) == "application/json" }

// message reads the body of a request, as protobuf.
func (s *Server) message(r *http.Request, memory *share) (message []byte, err error) {
	defer fault.Recover(&err)
	var body io.Reader = http.MaxBytesReader(nil, r.Body, s.o.MaxRequestBytes)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if err := memory.take(gzipBytes); err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		body = z
	}
	message, err = memory.readAll(body, s.o.MaxMessageBytes)
	if err != nil || !isJSON(r) {
		return message, err
	}
	if err := memory.take(int64(cap(message))); err != nil { // protobuf is never longer than the same as JSON
		return nil, err
	}
	return new(wire.Decoder).Append(make([]byte, 0, len(message)/2), message, wire.TracesData)
}

var errClosed = fmt.Errorf("%w: the receiver ends", errUnavailable)

// refusalOf is the refusal of a request after an error.
func (s *Server) refusalOf(err error) *Refusal {
	var r *Refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, errQueueFull):
		return &Refusal{http.StatusTooManyRequests, codeResourceExhausted, err.Error()}
	case errors.Is(err, errUnavailable):
		return &Refusal{http.StatusServiceUnavailable, codeUnavailable, errUnavailable.Error()}
	case errors.Is(err, errTooLarge), errors.As(err, new(*http.MaxBytesError)):
		return &Refusal{http.StatusRequestEntityTooLarge, codeInvalidArgument,
			fmt.Sprintf("%v: at most %d bytes, and %d after decompression, are accepted", errTooLarge, s.o.MaxRequestBytes, s.o.MaxMessageBytes)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Refusal{http.StatusRequestTimeout, codeDeadlineExceeded, "the request took too long"}
	case errors.Is(err, blockpack.ErrRefused):
		return &Refusal{http.StatusBadRequest, codeInvalidArgument, err.Error()}
	}
	return &Refusal{http.StatusBadRequest, codeInvalidArgument, "the request does not parse: " + err.Error()}
}
