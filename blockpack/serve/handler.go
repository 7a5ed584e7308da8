package serve

import (
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

// refusal is a request that is refused.
type refusal struct {
	status int // of HTTP
	code   int // of RPC
	text   string
}

func (r *refusal) Error() string { return r.text }

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
	var refused *refusal
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
	_ = control.SetWriteDeadline(time.Now().Add(responseTimeout))
	if refused == nil {
		writeSuccess(w, asJSON, a)
		return
	}
	if refused.code == codeResourceExhausted || refused.code == codeUnavailable {
		w.Header().Set("Retry-After", strconv.FormatInt(max(1, int64((s.o.RetryAfter+time.Second-1)/time.Second)), 10))
	}
	writeStatus(w, asJSON, refused)
}

// receive reads a request and waits until it is stored. Size is the number of bytes of the message.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (a answer, size int64, err error) {
	if err := s.check(w, r); err != nil {
		return a, 0, err
	}
	select {
	case <-s.closing:
		return a, 0, errClosed
	default:
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
	waiting := &request{message: message, answer: make(chan answer, 1)}
	select {
	case s.queue <- waiting:
	case <-r.Context().Done(): // the client has gone
		return a, 0, r.Context().Err()
	case <-s.done:
		return a, 0, errClosed
	}
	select {
	case a = <-waiting.answer:
		return a, int64(len(message)), nil
	case <-s.done:
	}
	select { // the loop answers before it ends
	case a = <-waiting.answer:
		return a, int64(len(message)), nil
	default:
		return a, 0, errClosed
	}
}

// check refuses requests by their headers.
func (s *Server) check(w http.ResponseWriter, r *http.Request) error {
	switch encoding := r.Header.Get("Content-Encoding"); {
	case r.URL.Path != Path:
		return &refusal{http.StatusNotFound, codeNotFound, "traces are received at " + Path}
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return &refusal{http.StatusMethodNotAllowed, codeUnimplemented, "traces are sent by POST"}
	case !isJSON(r) && mediaType(r) != "application/x-protobuf":
		return &refusal{http.StatusUnsupportedMediaType, codeInvalidArgument, "the content type is neither application/x-protobuf nor application/json"}
	case encoding != "" && encoding != "identity" && encoding != "gzip":
		return &refusal{http.StatusUnsupportedMediaType, codeInvalidArgument, "the content encoding is neither gzip nor identity"}
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
func (s *Server) refusalOf(err error) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, errQueueFull):
		return &refusal{http.StatusTooManyRequests, codeResourceExhausted, err.Error()}
	case errors.Is(err, errUnavailable):
		return &refusal{http.StatusServiceUnavailable, codeUnavailable, errUnavailable.Error()}
	case errors.Is(err, errTooLarge), errors.As(err, new(*http.MaxBytesError)):
		return &refusal{http.StatusRequestEntityTooLarge, codeInvalidArgument,
			fmt.Sprintf("%v: at most %d bytes, and %d after decompression, are accepted", errTooLarge, s.o.MaxRequestBytes, s.o.MaxMessageBytes)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{http.StatusRequestTimeout, codeDeadlineExceeded, "the request took too long"}
	case errors.Is(err, blockpack.ErrRefused):
		return &refusal{http.StatusBadRequest, codeInvalidArgument, err.Error()}
	}
	return &refusal{http.StatusBadRequest, codeInvalidArgument, "the request does not parse: " + err.Error()}
}
