package http

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"time"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// noRanges is the error of reading ranges from a server without them.
func (r *httpReader) noRanges() error {
	return object.Failure{
		Text:   fmt.Sprintf("GET %s: the server has no ranges, which formats with a footer, such as shards and Parquet, need", r.name),
		Advice: "download the file first",
	}
}

// Stream implements [storage.Streamer]. A server that does not tell whether it has ranges is asked for one that has no end, so that
// its answer is the stream if it has none.
func (r *httpReader) Stream(ctx context.Context) (body io.ReadCloser, err error) {
	told := false
	err = r.retry.Do(ctx, func(ctx context.Context) error {
		resp, err := r.send(ctx, nethttp.MethodHead, "")
		if err != nil {
			return err
		}
		resp.Body.Close()
		switch code := resp.StatusCode; {
		case code == nethttp.StatusMethodNotAllowed, code == nethttp.StatusNotImplemented:
			return nil
		case code != nethttp.StatusOK:
			return r.status(resp)
		case resp.ContentLength >= 0 && resp.Header.Get("Accept-Ranges") == "bytes":
			told = true
			return r.sameVersion(resp, resp.ContentLength)
		}
		return nil
	})
	if err != nil || told {
		return nil, err
	}
	var w watched
	w.ctx, w.cancel = context.WithCancel(ctx) // of the body, beyond the attempts
	err = r.retry.Do(ctx, func(context.Context) error { return r.begin(&w) })
	if err != nil || w.ReadCloser == nil {
		w.cancel()
		return nil, err
	}
	w.timer = time.AfterFunc(stall, w.cancel)
	return &w, nil
}

// begin asks for all bytes as a range.
func (r *httpReader) begin(w *watched) error {
	resp, err := r.send(w.ctx, nethttp.MethodGet, "bytes=0-")
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case nethttp.StatusOK:
		if enc := resp.Header.Get("Content-Encoding"); enc == "" || enc == "identity" {
			w.ReadCloser = resp.Body
			return nil
		}
	case nethttp.StatusPartialContent, nethttp.StatusRequestedRangeNotSatisfiable: // of no bytes
		_, _, err := r.check(resp)
		resp.Body.Close()
		return err
	}
	resp.Body.Close()
	if _, _, err = r.check(resp); err == nil {
		err = r.status(resp)
	}
	return err
}

// stall is the longest time without a byte of a stream.
const stall = 30 * time.Second

// watched is the body of an answer that is given up if no byte comes for some time.
type watched struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
	timer  *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.timer.Reset(stall)
	}
	return n, err
}

func (w *watched) Close() error {
	w.timer.Stop()
	w.cancel()
	return w.ReadCloser.Close()
}
