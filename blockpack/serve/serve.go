// Package serve receives traces by OTLP over HTTP, and stores them in Blockpack files in a folder.
//
//	DIR/20260102T150405.123456789Z.blockpack   published files, named by the time of their first message
//	DIR/.20260102T160000.000000000Z….tmp       the file that is being written
//	DIR/wal/20260102T160000.000000000Z.log     the write-ahead log of this file
//
// A request is answered with success only once its spans are in the log, and the log is durable. One fsync serves all requests that
// wait at that time. A file ends by size or age. It is then made durable and visible in one step, and its log is removed. After
// a crash [Open] writes the file of each log anew: a log whose file exists is only removed. So no span is lost that was
// acknowledged, and none is stored twice, unless a client sends it again because it got no answer.
//
// When the disk is full, or fails, requests are refused with status 503 and nothing is acknowledged. The file is written anew from its
// log as soon as that works.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/storage"
)

// Path is the path of the requests.
const Path = "/v1/traces"

// Options are the options of [Open]. The zero value is the default.
type Options struct {
	// FileBytes ends a file once so many bytes of it are written, by default 64 MiB.
	FileBytes int64
	// LogBytes ends a file once its log has so many bytes, which a restart after a crash must read, by default 512 MiB.
	LogBytes int64
	// FileAge ends a file so long after its first message, by default 5 minutes.
	FileAge time.Duration

	// MaxRequestBytes is the size of a request's body as it is sent, by default 16 MiB. A larger one is refused.
	MaxRequestBytes int64
	// MaxMessageBytes is the size of a request's body after it is decompressed, by default 16 MiB. A larger one is refused.
	MaxMessageBytes int64
	// QueueBytes is the memory of the requests that are being read, or wait to be stored, by default 64 MiB, at least four times
	// MaxMessageBytes. Requests beyond it are refused with status 429.
	QueueBytes int64
	// ReadTimeout is the time in which a client must send a request, by default 30 seconds.
	ReadTimeout time.Duration
	// RetryAfter is how long clients are told to wait after status 429 or 503, by default 5 seconds. After a failure of the disk
	// nothing is tried for so long.
	RetryAfter time.Duration

	// Writer has the options of the files. Its Store is not used.
	Writer blockpack.WriterOptions
	// Notice is told what happens that is no answer to a request: files that are written anew, failures of the disk. It is called
	// by one goroutine, and must not call the server. It may be nil.
	Notice func(string)
}

func (o *Options) setDefaults() error {
	for _, err := range []error{
		option.SetDefault("Options.FileBytes", &o.FileBytes, 64<<20),
		option.SetDefault("Options.LogBytes", &o.LogBytes, 512<<20),
		option.SetDefault("Options.FileAge", &o.FileAge, 5*time.Minute),
		option.SetDefault("Options.MaxRequestBytes", &o.MaxRequestBytes, 16<<20),
		option.SetDefault("Options.MaxMessageBytes", &o.MaxMessageBytes, 16<<20),
		option.SetDefault("Options.QueueBytes", &o.QueueBytes, max(64<<20, 4*o.MaxMessageBytes)),
		option.SetDefault("Options.ReadTimeout", &o.ReadTimeout, 30*time.Second),
		option.SetDefault("Options.RetryAfter", &o.RetryAfter, 5*time.Second),
	} {
		if err != nil {
			return err
		}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	switch {
	case o.MaxMessageBytes > maxMessage:
		return fmt.Errorf("Options.MaxMessageBytes is %d; at most %d are allowed", o.MaxMessageBytes, int64(maxMessage))
	case o.QueueBytes/4 < o.MaxMessageBytes:
		return fmt.Errorf("Options.QueueBytes is %d; it must be at least four times MaxMessageBytes, %d", o.QueueBytes, o.MaxMessageBytes)
	}
	return nil
}

// Stats are the counts of a [Server].
type Stats struct {
	Requests     int64 // that were answered, in any way
	Acknowledged int64 // requests that were answered with success, in part or in full
	Spans        int64 // that were acknowledged
	Bytes        int64 // of the messages that were acknowledged, decompressed, as protobuf
	Rejected     int64 // spans that cannot be stored, of requests that were acknowledged in part
	Invalid      int64 // requests that were refused for what they contain: statuses 400 to 415
	Throttled    int64 // requests that were refused because the queue was full: status 429
	Unavailable  int64 // requests that were refused because of the disk, or of the end: status 503
	Files        int64 // that were published
	FileBytes    int64 // of these
}

// Server is a receiver of traces for one folder. It is an [http.Handler] for requests to [Path], and may be used concurrently.
type Server struct {
	o      Options
	clock  clock
	folder *folder
	queue  chan *request
	budget *semaphore.Weighted // of the memory of requests

	closing chan struct{}      // closed by Close
	done    chan struct{}      // closed when the loop has ended
	cancel  context.CancelFunc // ends what the loop does
	once    sync.Once
	err     error // of the loop; for Close

	mu    sync.Mutex
	stats Stats
}

var _ http.Handler = (*Server)(nil)

// parts are what tests replace.
type parts struct {
	fs     sys.FS
	clock  clock
	create func(ctx context.Context, location string) (spanWriter, error)
}

// spanWriter is a [blockpack.Writer].
type spanWriter interface {
	WriteOTLP(ctx context.Context, message []byte) error
	Stats() blockpack.WriterStats
	Close(ctx context.Context) error
	Abort(ctx context.Context) error
}

// Open begins to receive traces for a folder, which is created if it does not exist. The files of logs that a crash left are written
// first. The error wraps [ErrLocked] if another server uses the folder. The caller must end the server with Close.
func Open(ctx context.Context, dir string, o Options) (*Server, error) {
	fs := sys.OS{}
	w := o.Writer
	w.Store = storage.NewLocal(fs)
	return open(ctx, dir, o, parts{fs: fs, clock: wallClock{}, create: func(ctx context.Context, location string) (spanWriter, error) {
		return blockpack.Create(ctx, location, w)
	}})
}

func open(ctx context.Context, dir string, o Options, p parts) (*Server, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, LogFolder), 0o777); err != nil {
		return nil, err
	}
	s := &Server{
		o: o, clock: p.clock, queue: make(chan *request), budget: semaphore.NewWeighted(o.QueueBytes),
		closing: make(chan struct{}), done: make(chan struct{}),
		folder: &folder{fs: p.fs, dir: dir, create: p.create, notice: o.Notice},
	}
	if err := s.folder.open(ctx); err != nil {
		return nil, err
	}
	s.countFiles()
	loop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	go func() {
		defer close(s.done)
		var err error
		defer func() { s.err = errors.Join(s.err, err) }()
		defer fault.RecoverInternal(&err)
		err = s.loop(loop)
	}()
	return s, nil
}

// Stats are the counts so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *Server) count(add func(st *Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.stats)
}

func (s *Server) countFiles() {
	s.count(func(st *Stats) { st.Files, st.FileBytes = s.folder.files, s.folder.fileBytes })
}

// Close refuses further requests, answers those that wait, publishes the file and unlocks the folder. If ctx ends before, the file is
// not published: its log stays, and the next Open writes it. This is also so after an error. Later calls return the result of the first.
func (s *Server) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	s.once.Do(func() { close(s.closing) })
	<-s.done
	s.cancel()
	return s.err
}

// Timeouts of connections.
const (
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	responseTimeout = 10 * time.Second
	maxHeaderBytes  = 64 << 10
)

// Serve answers HTTP requests at a listener until ctx ends, or the listener fails. It then waits until the requests that have begun are
// answered, for at most ReadTimeout, and closes the listener. It does not close the server.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return Serve(ctx, l, s, s.o.ReadTimeout)
}

// Serve answers HTTP requests at a listener by a handler, such as one of several servers, until ctx ends, or the listener fails. It then waits
// until the requests that have begun are answered, for some time at most, and closes the listener.
func Serve(ctx context.Context, l net.Listener, handler http.Handler, wait time.Duration) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	ended := make(chan error, 1)
	running := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		err := server.Shutdown(end)
		if err != nil { // some client is too slow
			err = server.Close()
		}
		ended <- err
	})
	if err := server.Serve(l); running() { // the listener has failed
		return errors.Join(err, server.Close())
	}
	return <-ended
}
