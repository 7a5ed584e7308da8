package http

import (
	"context"
	"io"
	nethttp "net/http"
	"time"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// Stream implements [storage.Streamer]. A server that does not tell whether it has ranges is asked for one that has no end, so that
// its answer is the stream if it has none.
func (r *reader) Stream(ctx context.Context) (io.ReadCloser, error) {
	told := false
	err := r.Do(ctx, func(ctx context.Context) error {
		resp, err := r.client.send(ctx, nethttp.MethodHead, "", "")
		if err != nil {
			return err
		}
		resp.Body.Close()
		switch code := resp.StatusCode; {
		case code == nethttp.StatusMethodNotAllowed, code == nethttp.StatusNotImplemented:
			return nil
		case code != nethttp.StatusOK:
			return status(resp)
		case resp.ContentLength >= 0 && resp.Header.Get("Accept-Ranges") == "bytes":
			told = true
			return r.Pin(object.Properties{Size: resp.ContentLength, Version: versionOf(resp.Header)})
		}
		return nil
	})
	if err != nil || told {
		return nil, err
	}
	var w watched
	w.ctx, w.cancel = context.WithCancel(ctx) // of the body, beyond the attempts
	err = r.Do(ctx, func(context.Context) error { return r.begin(&w) })
	if err != nil || w.ReadCloser == nil {
		w.cancel()
		return nil, err
	}
	w.timer = time.AfterFunc(stall, w.cancel)
	return &w, nil
}

// begin asks for all bytes as a range.
func (r *reader) begin(w *watched) error {
	const all = 1 << 62
	resp, err := r.client.send(w.ctx, nethttp.MethodGet, "bytes=0-", "")
	if err != nil {
		return err
	}
	content, err := contentOf(resp, 0, all, "")
	if err == errNoRanges || err == nil && resp.StatusCode == nethttp.StatusOK {
		w.ReadCloser = resp.Body
		return nil
	}
	resp.Body.Close()
	if err == nil && content.Version != "" {
		err = r.Pin(content.Properties)
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
