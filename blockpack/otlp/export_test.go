package otlp

import (
	"context"
	"io"
	"iter"
	"testing"
)

// Messages returns the messages of a file. A message is valid until the next step of the loop. An error ends the loop.
func Messages(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m := newReader(r, ReadOptions{}, func(int64) {})
		for {
			msg, ok, err := m.Next(context.Background())
			if err == nil && !ok || !yield(msg, err) || err != nil {
				return
			}
		}
	}
}

// SetMaxKept changes the memory for blocks until the end of a test.
func SetMaxKept(t testing.TB, n int64) {
	before := maxKept
	maxKept = n
	t.Cleanup(func() { maxKept = before })
}
