package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
)

// request is a message on its way to the log. Whoever takes it from the queue answers exactly once.
type request struct {
	message []byte
	answer  chan answer // has room for one
}

// answer is what became of a request.
type answer struct {
	err      error // nil: durable, but for rejected spans
	rejected int64 // spans that cannot be stored
	reason   error // for the first of these
}

// errUnavailable is the error of a request that cannot be stored now.
var errUnavailable = errors.New("traces cannot be stored now")

// maxGroup is the number of requests that share an fsync.
const maxGroup = 1024

// loop stores requests, until Close.
func (s *Server) loop(ctx context.Context) error {
	k := &keeper{o: s.o, clock: s.clock, folder: s.folder, count: s.count}
	defer s.folder.unlock()
	for {
		due, stop := k.due()
		select {
		case r := <-s.queue:
			k.store(ctx, s.group(r))
		case <-due:
			k.tick(ctx)
		case <-s.closing:
			stop()
			return s.end(ctx, k)
		}
		stop()
		s.countFiles()
	}
}

// group adds the requests that wait to a first one.
func (s *Server) group(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case r := <-s.queue:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// end stores the requests that wait, and publishes the file.
func (s *Server) end(ctx context.Context, k *keeper) error {
	for {
		select {
		case r := <-s.queue:
			k.store(ctx, s.group(r))
			continue
		default:
		}
		err := k.close(ctx)
		s.countFiles()
		return err
	}
}

// keeper puts messages into the file and its log. It belongs to the loop.
type keeper struct {
	o      Options
	clock  clock
	folder *folder
	count  func(add func(st *Stats))

	file    *file     // nil: none has begun
	failure error     // of the disk: all is refused until retryAt, then the file is written anew
	retryAt time.Time // of a failure
}

// due returns a channel that gets a value when tick is to be called, and a function that ends the wait.
func (k *keeper) due() (<-chan time.Time, func()) {
	at := k.retryAt
	if k.failure == nil {
		if k.file == nil {
			return nil, func() {}
		}
		at = k.file.begun.Add(k.o.FileAge)
	}
	return k.clock.After(at.Sub(k.clock.Now()))
}

// tick publishes a file that is old enough, or tries again after a failure.
func (k *keeper) tick(ctx context.Context) {
	if k.ready(ctx) && k.file != nil {
		k.roll(ctx)
	}
}

// ready reports whether requests can be stored. After a failure it writes the files of logs anew, if it is time.
func (k *keeper) ready(ctx context.Context) bool {
	if k.failure == nil {
		return true
	}
	if k.clock.Now().Before(k.retryAt) {
		return false
	}
	if err := k.folder.replay(ctx); err != nil {
		k.fail(err)
		return false
	}
	k.o.Notice("traces are accepted again")
	k.failure = nil
	return true
}

// store stores requests and answers them.
func (k *keeper) store(ctx context.Context, group []*request) {
	answers := make([]answer, len(group))
	spans := int64(0)
	if k.ready(ctx) {
		var err error
		for i := 0; i < len(group) && err == nil; i++ {
			var n int64
			answers[i], n, err = k.add(ctx, group[i].message)
			spans += n
		}
		if err == nil && k.file != nil {
			err = k.file.log.sync()
		}
		if err != nil {
			k.fail(err)
		}
	}
	for i, r := range group {
		if k.failure != nil {
			answers[i] = answer{err: fmt.Errorf("%w: %w", errUnavailable, k.failure)}
		}
		r.answer <- answers[i]
	}
	if k.failure == nil {
		k.count(func(st *Stats) { st.Spans += spans })
		k.rollIfFull(ctx)
	}
}

// add adds a message to the file, and what of it can be stored to the log. After an error the file is useless.
func (k *keeper) add(ctx context.Context, message []byte) (a answer, spans int64, err error) {
	n, err := k.put(ctx, message)
	if !errors.Is(err, blockpack.ErrRefused) {
		return a, n, err
	}
	if wire.TracesData.Check(message, 0, 0) != nil { // it does not parse
		return answer{err: err}, 0, nil
	}
	a.reason = err
	parts := splitter{put: func(part []byte) error {
		added, err := k.put(ctx, part)
		n += added
		return err
	}}
	err = parts.add(message, 0, func(part []byte) []byte { return part })
	if a.rejected = parts.rejected; err == nil && n == 0 {
		a.err = a.reason // nothing of it can be stored
	}
	return a, n, err
}

// put adds a message to the file and the log. Nothing of it is added if the error is blockpack.ErrRefused.
func (k *keeper) put(ctx context.Context, message []byte) (spans int64, err error) {
	if k.file == nil {
		if k.file, err = k.folder.begin(ctx, k.clock.Now()); err != nil {
			return 0, err
		}
	}
	before := k.file.w.Stats().Spans
	err = k.file.w.WriteOTLP(ctx, message)
	if errors.Is(err, blockpack.ErrTooManyBlocks) && before > 0 {
		if err := k.publish(ctx); err != nil {
			return 0, err
		}
		return k.put(ctx, message)
	}
	if err != nil {
		return 0, err
	}
	if spans = k.file.w.Stats().Spans - before; spans == 0 {
		return 0, nil
	}
	return spans, k.file.log.append(message)
}

// publish ends the file. Messages that are not yet acknowledged are durable in it, too.
func (k *keeper) publish(ctx context.Context) error {
	f := k.file
	if f.w.Stats().Spans == 0 {
		k.file = nil
		return k.folder.discard(ctx, f)
	}
	if err := k.folder.publish(ctx, f); err != nil {
		return err
	}
	k.file = nil
	return nil
}

func (k *keeper) rollIfFull(ctx context.Context) {
	if k.file != nil && (k.file.w.Stats().Bytes >= k.o.FileBytes || k.file.log.size >= k.o.LogBytes) {
		k.roll(ctx)
	}
}

// roll publishes the file. After a failure it is written anew later.
func (k *keeper) roll(ctx context.Context) {
	if err := k.publish(ctx); err != nil {
		k.fail(err)
	}
}

// fail gives up the file after a failure. Its log stays.
func (k *keeper) fail(err error) {
	if k.file != nil {
		err = errors.Join(err, k.folder.giveUp(k.file))
		k.file = nil
	}
	if k.failure == nil {
		k.o.Notice(fmt.Sprintf("traces are refused: %v", err))
	}
	k.failure, k.retryAt = err, k.clock.Now().Add(k.o.RetryAfter)
}

// close publishes the file, and those that a failure left.
func (k *keeper) close(ctx context.Context) error {
	if k.failure != nil {
		return k.folder.replay(ctx)
	}
	if k.file == nil {
		return nil
	}
	f := k.file
	if err := k.publish(ctx); err != nil {
		return errors.Join(fmt.Errorf("the last file is not published, but its log is kept for the next start: %w", err), k.folder.giveUp(f))
	}
	return nil
}
