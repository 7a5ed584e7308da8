package serve

import (
	"errors"
	"io"

	"golang.org/x/sync/semaphore"
)

var (
	errQueueFull = errors.New("too many requests wait")
	errTooLarge  = errors.New("the request is too large")
)

// share is the memory of all requests, in bytes, that one request has.
type share struct {
	budget *semaphore.Weighted
	taken  int64
}

func (s *share) take(n int64) error {
	if !s.budget.TryAcquire(n) {
		return errQueueFull
	}
	s.taken += n
	return nil
}

func (s *share) give(n int64) {
	s.budget.Release(n)
	s.taken -= n
}

func (s *share) giveAll() { s.give(s.taken) }

// firstRead is the memory that a body gets before anything of it was read.
const firstRead = 4 << 10

// readAll reads r until its end, and at most limit bytes. The bytes count as part of the share.
func (s *share) readAll(r io.Reader, limit int64) ([]byte, error) {
	if err := s.take(firstRead); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, firstRead)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return nil, errTooLarge
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return nil, err
		}
		if len(buf) == cap(buf) {
			size := min(2*int64(cap(buf)), limit+1)
			if err := s.take(size); err != nil {
				return nil, err
			}
			larger := append(make([]byte, 0, size), buf...)
			s.give(int64(cap(buf)))
			buf = larger
		}
	}
}
