package object

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// cleanUpTime limits how long a caller that has given up waits for an upload to be dropped.
const cleanUpTime = 10 * time.Second

var errEnded = errors.New("writer has ended")

// writer creates an object. A small one is a single request; larger ones are sent in parts
// while the next one fills.
//
//	Write    |part 0|part 1|part 2|part 3|rest
//	Publish                               rest, then Complete
//
// It holds Options.Parallel parts that are sent, and the one that fills.
type writer struct {
	place
	o     Options
	c     Condition
	token string // tells this object from that of another writer, with those of the objects that it replaces

	buf    []byte // the part that fills
	free   chan []byte
	size   int64
	parts  int // handed to send
	upload Upload
	group  *errgroup.Group // sends parts
	sends  context.Context // of all parts; ends with the first error
	cancel context.CancelFunc
	err    error // the first; errEnded after the end
}

// Create implements [storage.Store]. It asks for the object, so that a taken location is an error before anything is written.
func (s *Store) Create(ctx context.Context, location string, o storage.CreateOptions) (storage.Writer, error) {
	w, err := s.create(ctx, location, o)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (s *Store) create(ctx context.Context, location string, o storage.CreateOptions) (*writer, error) {
	p, err := s.place(ctx, location, false)
	if err != nil {
		return nil, err
	}
	w := &writer{place: p, o: s.o, c: Condition{Absent: !o.Overwrite, IfMatch: o.IfMatch}, token: rand.Text()}
	if o.IfMatch != "" {
		w.c.Absent = false
	}
	w.free = make(chan []byte, s.o.Parallel)
	if err := w.check(ctx); err != nil {
		return nil, w.failed(err)
	}
	return w, nil
}

// check fails if the condition does not hold already. Who may only write gets no answer.
func (w *writer) check(ctx context.Context) error {
	if w.c == (Condition{}) {
		return nil
	}
	p, err := w.head(ctx)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil
	case errors.Is(err, fs.ErrNotExist) && w.c.Absent:
		return nil
	case err == nil && (w.c.Absent || p.Version != w.c.IfMatch):
		return ErrCondition
	}
	w.token = succeed(w.token, p.Token)
	return err
}

// A token is a word. An object that replaces a version which was read has the tokens of that one behind its own, so that a writer whose answer is lost sees
// that its object was there, even if another has replaced it since:
//
//	version   1      2        3
//	token     "A"    "B.A"    "C.B.A"
const tokenSeparator = "."

// mostTokens is the number of tokens of an object. Clouds limit metadata to 2 KiB.
const mostTokens = 24

// succeed is the token of an object that replaces one.
func succeed(token, old string) string {
	all := append([]string{token}, strings.Split(old, tokenSeparator)...)
	return strings.TrimSuffix(strings.Join(all[:min(len(all), mostTokens)], tokenSeparator), tokenSeparator)
}

func (w *writer) head(ctx context.Context) (p Properties, err error) {
	err = w.retry.Do(ctx, func(ctx context.Context) error {
		p, err = w.client.Head(ctx, w.key)
		return err
	})
	return p, err
}

// failed translates the errors of conditions, and adds the location.
func (w *writer) failed(err error) error {
	switch {
	case errors.Is(err, ErrCondition) && w.c.Absent:
		err = &fs.PathError{Op: "create", Path: w.name, Err: fs.ErrExist}
	case errors.Is(err, ErrCondition), w.c.IfMatch != "" && errors.Is(err, fs.ErrNotExist):
		err = &fs.PathError{Op: "create", Path: w.name, Err: storage.ErrChanged}
	default:
		err = named(w.name, err)
	}
	return err
}

func (w *writer) Name() string { return w.name }
func (w *writer) Size() int64  { return w.size }

// Flush implements [storage.Writer]: only whole parts can be sent.
func (w *writer) Flush(context.Context) error { return w.err }

// partBytes is the size of part number i.
func (w *writer) partBytes(i int) int { return w.o.PartBytes << max(0, i/1000-4) }

func (w *writer) Write(ctx context.Context, p []byte) error {
	if w.err == nil {
		w.err = ctx.Err()
	}
	for len(p) > 0 && w.err == nil {
		limit := w.partBytes(w.parts)
		if len(w.buf) == limit {
			w.err = w.send(ctx)
			continue
		}
		n := min(len(p), limit-len(w.buf))
		if need := len(w.buf) + n; need > cap(w.buf) {
			w.buf = append(make([]byte, 0, min(max(need, 2*cap(w.buf)), limit)), w.buf...)
		}
		w.buf = append(w.buf, p[:n]...)
		w.size += int64(n)
		p = p[n:]
	}
	return w.err
}

// send starts to send the part that has filled. It waits if too many parts are being sent.
func (w *writer) send(ctx context.Context) error {
	if w.upload == nil {
		if err := w.begin(ctx, func(ctx context.Context) (Upload, error) { return w.client.Begin(ctx, w.key, w.token, w.c) }); err != nil {
			return w.failed(err)
		}
	}
	i, part := w.parts, w.buf
	select {
	case w.buf = <-w.free:
	case <-w.sends.Done():
		return w.wait()
	case <-ctx.Done():
		return ctx.Err()
	}
	w.parts++
	w.group.Go(func() (err error) {
		defer fault.RecoverInternal(&err)
		err = w.retry.DoWithin(w.sends, int64(len(part)), func(ctx context.Context) error { return w.upload.Part(ctx, i, part) })
		w.free <- part[:0]
		return err
	})
	return nil
}

// begin starts the upload. Parts are sent beyond the call of Write that fills them, so that their context is another one.
func (w *writer) begin(ctx context.Context, request func(context.Context) (Upload, error)) error {
	start, attempts := time.Now(), 0
	err := w.retry.Do(ctx, func(ctx context.Context) (err error) {
		attempts++
		ctx, cancel := patient(ctx) // else nobody knows the name of the upload
		defer cancel()
		upload, err := request(ctx)
		if err == nil {
			w.upload = upload
		}
		return err
	})
	if err != nil {
		return err
	}
	if d, ok := w.upload.(LostDropper); ok && attempts > 1 {
		_ = w.retry.Do(ctx, func(ctx context.Context) error { return d.DropLost(ctx, time.Since(start)+time.Second) }) // as far as rights allow
	}
	for range w.o.Parallel {
		w.free <- nil // memory comes with the bytes
	}
	sends, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.cancel = cancel
	w.group, w.sends = errgroup.WithContext(sends)
	return nil
}

// wait waits until all parts are sent, or one of them has failed.
func (w *writer) wait() error {
	if err := w.group.Wait(); err != nil {
		return w.failed(err)
	}
	return nil
}

func (w *writer) Publish(ctx context.Context) error {
	err := w.err
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = w.publish(ctx)
	}
	if err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	w.end()
	return nil
}

func (w *writer) publish(ctx context.Context) error {
	if w.upload == nil {
		return w.decide(ctx, int64(len(w.buf)), func(ctx context.Context) error { return w.client.Put(ctx, w.key, w.buf, w.token, w.c) })
	}
	if err := w.sendLast(ctx); err != nil {
		return err
	}
	return w.complete(ctx, 0)
}

// complete publishes the parts. The server may have to copy n bytes for it.
func (w *writer) complete(ctx context.Context, n int64) error {
	return w.decide(ctx, n, func(ctx context.Context) error { return w.upload.Complete(ctx, w.parts) })
}

// decide sends a request that publishes, of n bytes, and says whether the object is there, whatever became of the answers.
func (w *writer) decide(ctx context.Context, n int64, request func(context.Context) error) error {
	lost := false // an answer
	err := w.retry.DoWithin(ctx, n, func(ctx context.Context) error {
		ctx, cancel := patient(ctx)
		defer cancel()
		if lost && w.c == (Condition{}) { // another attempt would replace what others have made of the object
			if p, err := w.client.Head(ctx, w.key); err == nil && w.made(p) {
				return nil
			}
		}
		err := request(ctx)
		lost = lost || IsTransient(err) || ctx.Err() != nil
		return err
	})
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	p, unknown := w.head(ctx)
	switch {
	case unknown == nil && w.made(p):
		return nil
	case !lost, unknown == nil, errors.Is(unknown, fs.ErrNotExist) && w.c.IfMatch == "": // else what was replaced is gone, too
		return w.failed(err)
	}
	return named(w.name, fmt.Errorf("%w; whether it was published is not known: %w", err, unknown))
}

// sendLast sends the last part and waits for all of them. A caller that gives up ends their context.
func (w *writer) sendLast(ctx context.Context) error {
	stop := context.AfterFunc(ctx, w.cancel)
	defer stop()
	err := w.send(ctx)
	if err == nil {
		err = w.wait()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// made reports whether the object is that of this writer, or was made of it: the answer to an attempt may have been lost, and then the object itself makes the
// condition of the next attempt false.
func (w *writer) made(p Properties) bool {
	own, _, _ := strings.Cut(w.token, tokenSeparator)
	i := slices.Index(strings.Split(p.Token, tokenSeparator), own)
	return i > 0 || i == 0 && p.Size == w.size
}

func (w *writer) Abort(ctx context.Context) error {
	upload := w.upload
	w.end()
	if upload == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	if err := w.retry.Do(ctx, upload.Abort); err != nil {
		return fmt.Errorf("%s: an unfinished upload is left: %w", w.name, err)
	}
	return nil
}

// end releases memory, and waits for goroutines.
func (w *writer) end() {
	if w.cancel != nil {
		w.cancel()
		_ = w.group.Wait() // its error was reported, or does not matter any more
	}
	w.upload, w.buf, w.free, w.cancel, w.err = nil, nil, nil, nil, errEnded
}
