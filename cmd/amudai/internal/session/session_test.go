package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/session"
)

// answers are the frames of a session, as text.
func answers(t *testing.T, out []byte) (all []string) {
	for len(out) > 0 {
		first, second := binary.LittleEndian.Uint64(out), binary.LittleEndian.Uint64(out[8:])
		n := first
		if first == 0 {
			n = second
		} else {
			require.Zero(t, second)
		}
		all = append(all, string(out[16:16+n]))
		out = out[16+n:]
	}
	return all
}

// echo is a command that prints its arguments and stdin, and fails if the first argument is "fail".
func echo(_ context.Context, r session.Request, stdin io.Reader, stdout, stderr io.Writer, _ *session.Memory) int {
	fmt.Fprint(stdout, strings.Join(r.Arguments, " "))
	if b, err := io.ReadAll(stdin); err != nil || len(b) > 0 {
		fmt.Fprintf(stdout, "%s", b)
	}
	if r.Arguments[0] == "fail" {
		fmt.Fprint(stderr, "amudai: no\n")
		return 3
	}
	return 0
}

func TestServe(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	in := `{"arguments":["a","b"]}` + "\n" + `{"arguments":["fail"],"stdin":3}` + "\n\n\n1" + `{"arguments":["` + big + `"]}` + "\n"
	var out bytes.Buffer
	require.NoError(t, session.Serve(t.Context(), strings.NewReader(in), &out, "", echo))
	require.Equal(t, []string{
		"a b", `{"status":0,"stderr":""}`,
		"fail", "\n\n1", `{"status":3,"stderr":"amudai: no\n"}`,
		big, `{"status":0,"stderr":""}`,
	}, answers(t, out.Bytes()))
}

func TestServeWrongRequests(t *testing.T) {
	for in, want := range map[string]string{
		`{"arguments":["a"]}`:                   "", // without the end of the line
		"x\n":                                   "no JSON",
		`{"arguments":["a"],"stdin":5}` + "\nx": "stdin of a request",
		`{"argum`:                               "request",
	} {
		err := session.Serve(t.Context(), strings.NewReader(in), io.Discard, "", echo)
		if want == "" {
			require.ErrorIs(t, err, io.EOF)
		} else {
			require.ErrorContains(t, err, want, in)
		}
	}
	require.ErrorContains(t, session.Serve(t.Context(), strings.NewReader(""), io.Discard, "7", echo), "AMUDAI_SHARED_MEMORY=7")
}

// TestServeOutputThatFails ends a session whose other process has gone.
func TestServeOutputThatFails(t *testing.T) {
	broken := errors.New("broken")
	for after := range 4 {
		w := &failing{after: after, err: broken}
		err := session.Serve(t.Context(), strings.NewReader(strings.Repeat(`{"arguments":["a"]}`+"\n", 4)), w, "", echo)
		require.ErrorIs(t, err, broken)
	}
}

// failing fails after some writes.
type failing struct {
	after int
	err   error
}

func (w *failing) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// TestServeIsCancelled ends a session that waits for a request.
func TestServeIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	requests, _ := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- session.Serve(ctx, requests, io.Discard, "", echo) }()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}
