package serve

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

var ctx = context.Background()

// TestSenders lets several clients send at the same time. Every span is stored once, and nothing else is left in the folder.
func TestSenders(t *testing.T) {
	defer leaktest.Goroutines(t)()
	dir := t.TempDir()
	s, err := open(ctx, dir, Options{FileBytes: 2000}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	var want []*tracev1.TracesData
	var mu sync.Mutex
	var wait sync.WaitGroup
	for sender := range 8 {
		wait.Go(func() {
			for i := range 50 {
				td := traces(fmt.Sprintf("%d.%d.a", sender, i), fmt.Sprintf("%d.%d.b", sender, i))
				response := post(s, encode(t, td))
				if response.StatusCode != http.StatusOK || len(bodyOf(t, response)) != 0 || response.Header.Get("Content-Type") != "application/x-protobuf" {
					t.Errorf("%v", response)
				}
				mu.Lock()
				want = append(want, td)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	require.NoError(t, s.Close(ctx))
	require.NoError(t, s.Close(ctx))
	require.Empty(t, otlpgen.Diff(want, fakeSpans(t, dir)))
	require.Empty(t, logs(t, dir))
	requireIdle(t, s)
	st := s.Stats()
	require.Equal(t, Stats{Requests: 400, Acknowledged: 400, Spans: 800, Bytes: st.Bytes, Files: st.Files, FileBytes: st.FileBytes}, st)
	require.Greater(t, st.Files, int64(3))
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, int(st.Files)+1)
	require.Equal(t, http.StatusServiceUnavailable, post(s, encode(t, traces("late"))).StatusCode)
}

// TestFileAge publishes a file by its age. The clock may go back: names still rise.
func TestFileAge(t *testing.T) {
	dir := t.TempDir()
	clock := newClock()
	s, err := open(ctx, dir, Options{FileAge: time.Minute}, fakes(sys.OS{}, clock, nil))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("a"))).StatusCode)
	require.Empty(t, fakeSpans(t, dir))
	require.Equal(t, []string{"20260102T150405.000000000Z.log"}, logs(t, dir))
	clock.Advance(time.Minute)
	clock.Advance(-time.Hour)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("b"))).StatusCode) // after the tick, or it makes it happen at Close
	require.NoError(t, s.Close(ctx))
	require.Equal(t, map[string]int{"a": 1, "b": 1}, counts(fakeSpans(t, dir)))
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "20260102T150405.000000000Z.blockpack"), names[0])

	s, err = open(ctx, dir, Options{}, fakes(sys.OS{}, clock, nil))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("c"))).StatusCode)
	require.NoError(t, s.Close(ctx))
	again, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, again, len(names)+1)
	require.Greater(t, again[len(again)-2], names[len(names)-2])
}

// TestTick waits for the publication by age itself.
func TestTick(t *testing.T) {
	dir := t.TempDir()
	clock := newClock()
	p := fakes(sys.OS{}, clock, nil)
	create, closed := p.create, make(chan struct{})
	p.create = func(ctx context.Context, location string) (spanWriter, error) {
		w, err := create(ctx, location)
		return &signalling{w, closed}, err
	}
	s, err := open(ctx, dir, Options{FileAge: time.Minute}, p)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("a"))).StatusCode)
	clock.Advance(time.Minute)
	<-closed
	require.NoError(t, s.Close(ctx))
}

type signalling struct {
	spanWriter
	closed chan struct{}
}

func (s *signalling) Close(ctx context.Context) error {
	defer close(s.closed)
	return s.spanWriter.Close(ctx)
}

// TestFullFile goes on with another file when one takes no more.
func TestFullFile(t *testing.T) {
	dir := t.TempDir()
	s, err := open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), func(f *fakeFile) { f.full = 2 }))
	require.NoError(t, err)
	for i := range 5 {
		require.Equal(t, http.StatusOK, post(s, encode(t, traces(fmt.Sprint(i)))).StatusCode)
	}
	require.NoError(t, s.Close(ctx))
	require.Len(t, counts(fakeSpans(t, dir)), 5)
	require.Equal(t, int64(3), s.Stats().Files)
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s, err := open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	_, err = open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), nil))
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, s.Close(ctx))
	s, err = open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	require.NoError(t, s.Close(ctx))
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{QueueBytes: 1 << 20}, {FileBytes: -1}, {FileAge: -1}, {MaxMessageBytes: 2 << 30, QueueBytes: 1 << 40}} {
		_, err := open(ctx, t.TempDir(), o, fakes(sys.OS{}, newClock(), nil))
		require.ErrorContains(t, err, "Options.")
	}
}

// TestQueueFull refuses requests while the queue is full, and stores those that wait.
func TestQueueFull(t *testing.T) {
	dir := t.TempDir()
	hold := make(chan struct{})
	s, err := open(ctx, dir, Options{MaxMessageBytes: 64 << 10, QueueBytes: 256 << 10}, fakes(sys.OS{}, newClock(), func(f *fakeFile) { f.hold = hold }))
	require.NoError(t, err)
	const senders = 10
	statuses := make(chan *http.Response, senders)
	for i := range senders {
		go func() { statuses <- post(s, encode(t, traces(fmt.Sprint(i), strings.Repeat("x", 60<<10)))) }()
	}
	// Each takes at least 76 KiB: at most 3 wait.
	for range senders - 3 {
		r := <-statuses
		require.Equal(t, http.StatusTooManyRequests, r.StatusCode)
		require.Equal(t, "5", r.Header.Get("Retry-After"))
	}
	close(hold)
	ok := 0
	for range 3 {
		if r := <-statuses; r.StatusCode == http.StatusOK {
			ok++
		}
	}
	require.Positive(t, ok)
	require.NoError(t, s.Close(ctx))
	require.Len(t, counts(fakeSpans(t, dir)), ok+1)
	require.Equal(t, int64(senders-ok), s.Stats().Throttled)
	requireIdle(t, s)
}

// TestFaults lets each operation on the disk fail, one after the other. What was acknowledged is stored once, what was not at most once.
func TestFaults(t *testing.T) {
	const messages = 12
	o := Options{FileBytes: 200, RetryAfter: time.Second}
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Create, faultstore.Write, faultstore.Sync, faultstore.Rename, faultstore.Close, faultstore.Remove} {
		for _, forever := range []bool{false, true} {
			for k := 1; ; k += sweep.Step(3) {
				dir := t.TempDir()
				faults := faultstore.New()
				clock := newClock()
				if faults.FailAt(op, k); forever {
					faults.FailFrom(op, k)
				}
				s, err := open(ctx, dir, o, fakes(faults.FS(), clock, nil))
				if err != nil {
					require.ErrorIs(t, err, faultstore.Err)
					continue
				}
				acknowledged := map[string]bool{}
				for i := range messages {
					name := fmt.Sprintf("%s %d: %d", op, k, i)
					switch r := post(s, encode(t, traces(name))); r.StatusCode {
					case http.StatusOK:
						acknowledged[name] = true
					case http.StatusServiceUnavailable:
						require.NotEmpty(t, r.Header.Get("Retry-After"))
						if i == messages/2 {
							faults.Reset()
						}
						clock.Advance(time.Second)
					default:
						t.Fatalf("status %d", r.StatusCode)
					}
				}
				closeErr := s.Close(ctx)
				reached := faults.Count(op) >= k
				if closeErr != nil {
					require.ErrorIs(t, closeErr, faultstore.Err)
				} else if !forever {
					require.GreaterOrEqual(t, len(acknowledged), messages-2) // one that failed, one while it waited
				}
				s, err = open(ctx, dir, o, fakes(sys.OS{}, clock, nil))
				require.NoError(t, err)
				require.NoError(t, s.Close(ctx))
				require.Empty(t, logs(t, dir))
				stored := counts(fakeSpans(t, dir))
				for name, n := range stored {
					require.Equal(t, 1, n, "%s is stored %d times", name, n)
				}
				for name := range acknowledged {
					require.Equal(t, 1, stored[name], "%s was acknowledged, and is lost", name)
				}
				if !reached {
					break
				}
			}
		}
	}
}

// TestFullDisk refuses requests while the disk is full, and stores them again when it is not.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	faults, clock := faultstore.New(), newClock()
	var notices []string
	s, err := open(ctx, dir, Options{RetryAfter: 3 * time.Second, Notice: func(text string) { notices = append(notices, text) }}, fakes(faults.FS(), clock, nil))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("before"))).StatusCode)
	faults.FailFrom(faultstore.Write, 1)
	for range 3 {
		r := post(s, encode(t, traces("full")))
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		require.Equal(t, "3", r.Header.Get("Retry-After"))
	}
	faults.Reset()
	require.Equal(t, http.StatusServiceUnavailable, post(s, encode(t, traces("too early"))).StatusCode)
	clock.Advance(3 * time.Second)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("after"))).StatusCode)
	require.NoError(t, s.Close(ctx))
	require.Equal(t, map[string]int{"before": 1, "after": 1}, counts(fakeSpans(t, dir)))
	require.Equal(t, int64(4), s.Stats().Unavailable)
	require.Contains(t, strings.Join(notices, "\n"), "traces are accepted again")
}

// TestCloseWithoutTime leaves the log when the time for Close is over.
func TestCloseWithoutTime(t *testing.T) {
	dir := t.TempDir()
	s, err := open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, post(s, encode(t, traces("a"))).StatusCode)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Close(ended); err != nil {
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, logs(t, dir), 1)
	}
	s, err = open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	require.NoError(t, s.Close(ctx))
	require.Equal(t, map[string]int{"a": 1}, counts(fakeSpans(t, dir)))
}

// TestDamagedLog changes each byte of a log, and cuts it everywhere. Whole messages are stored, and a loss of what was durable is told.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	s, err := open(ctx, dir, Options{}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	for i := range 3 {
		require.Equal(t, http.StatusOK, post(s, encode(t, traces(fmt.Sprint(i)))).StatusCode)
	}
	name := logs(t, dir)[0]
	whole, err := os.ReadFile(filepath.Join(dir, LogFolder, name))
	require.NoError(t, err)
	require.NoError(t, s.Close(ctx))
	frame := len(whole) / 3

	replay := func(data []byte) (map[string]int, string, []string) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, LogFolder), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, LogFolder, name), data, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "."+strings.TrimSuffix(name, logSuffix)+fileSuffix+".12.tmp"), nil, 0o600))
		var notices strings.Builder
		s, err := open(ctx, dir, Options{Notice: func(text string) { notices.WriteString(text) }}, fakes(sys.OS{}, newClock(), nil))
		require.NoError(t, err)
		require.NoError(t, s.Close(ctx))
		hidden, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		require.NoError(t, err)
		require.Empty(t, hidden)
		return counts(fakeSpans(t, dir)), notices.String(), logs(t, dir)
	}
	for n := 0; n < len(whole); n += sweep.Step(7) {
		stored, text, left := replay(whole[:n])
		require.Len(t, stored, n/frame, n)
		require.Empty(t, left)
		if n%frame != 0 && n > frame {
			require.Contains(t, text, fmt.Sprintf("the last %d bytes of the log are incomplete", n%frame))
		}
	}
	for i := 0; i < len(whole); i += sweep.Step(7) {
		data := bytes.Clone(whole)
		data[i] ^= 0x55
		stored, text, left := replay(data)
		require.Len(t, stored, 2, i)
		if i < 2*frame { // the frame after it says that it was durable
			require.Contains(t, text, fmt.Sprintf("has lost %d bytes that were acknowledged", frame))
			require.Equal(t, []string{name + damaged}, left)
		} else {
			require.Contains(t, text, fmt.Sprintf("the last %d bytes of the log are incomplete", frame))
			require.Empty(t, left)
		}
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte("OTLP"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &logReader{f: bytes.NewReader(data), size: int64(len(data))}
		total := int64(0)
		for {
			m, ok, err := r.next()
			require.NoError(t, err)
			if !ok {
				break
			}
			total += int64(len(m)) + frameHeader
		}
		if total+r.Incomplete+r.Damaged != int64(len(data)) {
			t.Fatalf("%d + %d + %d bytes of %d", total, r.Incomplete, r.Damaged, len(data))
		}
	})
}
