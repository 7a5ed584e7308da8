package storage

import (
	"fmt"
	"io"
	"sort"
	"sync"
)

// Spool collects bytes in memory within a [Budget], and in a temporary file
// beyond it. It grows by appending and is read back at any offset; small spools
// cost little more than their bytes.
//
//	one spool:   [chunk in memory][chunk in memory][bytes in a file][chunk in memory]
//	               256 B            1 KiB            1.2 MiB          up to 256 KiB
//
// One goroutine writes. Once it has stopped, many may read.
type Spool struct {
	budget  *Budget
	dir     string
	extents []extent
	first   [1]extent // room for the only extent of a small spool
	size    int64
	held    int64 // bytes of memory taken from the budget
	files   []*spillFile
	err     error // of a failed write; stays
}

// An extent is a run of the spool's bytes, in one place.
type extent struct {
	start int64 // in the spool
	n     int64
	chunk *chunk     // in memory, or
	file  *spillFile // in a file
	off   int64
}

// minSpill is the least that a spool moves to a file at once. Over budget, a
// spool may therefore still hold up to twice as much.
const minSpill = 4 << 10

// NewSpool is an empty spool. It spills to a file in dir ("" means the
// system's temporary folder), which Close removes.
func NewSpool(budget *Budget, dir string) *Spool {
	if budget == nil {
		budget = NewBudget(0)
	}
	s := &Spool{budget: budget, dir: dir}
	s.extents = s.first[:0]
	return s
}

// Size is the number of bytes written.
func (s *Spool) Size() int64 { return s.size }

// Held is the number of bytes of memory that the spool takes of its budget.
func (s *Spool) Held() int64 { return s.held }

// Write appends. It fails only when a temporary file does; the spool can then
// only be closed.
func (s *Spool) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	total := len(p)
	for len(p) > 0 {
		c := s.tail()
		if c == nil {
			if c, s.err = s.grow(len(p)); s.err != nil {
				return total - len(p), s.err
			}
		}
		last := &s.extents[len(s.extents)-1]
		n := copy(c.buf[last.n:], p)
		last.n += int64(n)
		s.size += int64(n)
		p = p[n:]
	}
	return total, nil
}

// tail is the last chunk if it has room.
func (s *Spool) tail() *chunk {
	if len(s.extents) == 0 {
		return nil
	}
	last := &s.extents[len(s.extents)-1]
	if last.chunk == nil || last.n == int64(len(last.chunk.buf)) {
		return nil
	}
	return last.chunk
}

// grow adds an empty chunk, for n bytes that are about to come. Chunks grow
// with the spool, so that less than half of the memory is empty.
func (s *Spool) grow(n int) (*chunk, error) {
	class := classFor(max(int64(n), s.size/2))
	if !s.budget.TryTake(int64(classSize(class))) {
		if s.held >= minSpill {
			if err := s.spill(); err != nil {
				return nil, err
			}
		}
		if !s.budget.TryTake(int64(classSize(class))) {
			class = min(class, classFor(minSpill)) // there must be room for something
			s.budget.Take(int64(classSize(class)))
		}
	}
	s.held += int64(classSize(class))
	c := getChunk(class)
	s.extents = append(s.extents, extent{start: s.size, chunk: c})
	return c, nil
}

// spill moves all bytes in memory to the file.
func (s *Spool) spill() error {
	var last *spillFile
	if len(s.files) > 0 {
		last = s.files[len(s.files)-1]
	}
	f, start, err := s.budget.reserve(s.dir, s.inMemory(), last)
	if err != nil {
		return fmt.Errorf("spilling to a temporary file: %w", err)
	}
	if f != last {
		s.files = append(s.files, f)
	}
	off := start
	for _, e := range s.extents {
		if e.chunk != nil {
			if _, err := f.f.WriteAt(e.chunk.buf[:e.n], off); err != nil {
				return fmt.Errorf("spilling to a temporary file: %w", err)
			}
			off += e.n
		}
	}
	off = start
	kept := s.extents[:0]
	for _, e := range s.extents {
		if e.chunk != nil {
			s.forget(e.chunk)
			e.chunk, e.file, e.off = nil, f, off
			off += e.n
		}
		if k := len(kept) - 1; k >= 0 && kept[k].file == e.file && kept[k].off+kept[k].n == e.off {
			kept[k].n += e.n
			continue
		}
		kept = append(kept, e)
	}
	s.extents = kept
	return nil
}

func (s *Spool) inMemory() int64 {
	n := int64(0)
	for _, e := range s.extents {
		if e.chunk != nil {
			n += e.n
		}
	}
	return n
}

func (s *Spool) forget(c *chunk) {
	n := int64(len(c.buf))
	s.held -= n
	s.budget.Give(n)
	putChunk(c)
}

// ReadAt implements io.ReaderAt.
func (s *Spool) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	i := sort.Search(len(s.extents), func(i int) bool { return s.extents[i].start+s.extents[i].n > off })
	done := 0
	for ; done < len(p) && i < len(s.extents); i++ {
		e := &s.extents[i]
		at := off + int64(done) - e.start
		part := p[done:min(len(p), done+int(min(e.n-at, int64(len(p)))))]
		if e.chunk != nil {
			copy(part, e.chunk.buf[at:])
		} else if n, err := e.file.f.ReadAt(part, e.off+at); n < len(part) {
			return done + n, fmt.Errorf("reading back a temporary file: %w", err)
		}
		done += len(part)
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// WriteTo implements io.WriterTo: it writes all bytes to w. The spool keeps them.
func (s *Spool) WriteTo(w io.Writer) (int64, error) {
	total := int64(0)
	for i := range s.extents {
		n, err := s.writeExtent(w, &s.extents[i])
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, s.err
}

func (s *Spool) writeExtent(w io.Writer, e *extent) (int64, error) {
	if e.chunk != nil {
		n, err := w.Write(e.chunk.buf[:e.n])
		return int64(n), err
	}
	c := getChunk(len(chunkPools) - 1)
	defer putChunk(c)
	for done := int64(0); done < e.n; {
		part := c.buf[:min(int64(len(c.buf)), e.n-done)]
		if n, err := e.file.f.ReadAt(part, e.off+done); n < len(part) {
			return done, fmt.Errorf("reading back a temporary file: %w", err)
		}
		n, err := w.Write(part)
		done += int64(n)
		if err != nil {
			return done, err
		}
	}
	return e.n, nil
}

// Close gives back memory and temporary files. A closed spool is empty.
func (s *Spool) Close() error {
	for _, e := range s.extents {
		if e.chunk != nil {
			s.forget(e.chunk)
		}
	}
	var err error
	for _, f := range s.files {
		if rerr := s.budget.release(f); err == nil {
			err = rerr
		}
	}
	s.extents, s.files, s.size = nil, nil, 0
	s.err = errEnded
	return err
}

// A chunk is memory of a spool. Chunks come in sizes 256 B, 512 B … 256 KiB,
// each with its pool.
type chunk struct {
	buf   []byte
	class int
}

var chunkPools [11]sync.Pool

func classSize(class int) int { return 256 << class }

func classFor(n int64) int {
	class := 0
	for class < len(chunkPools)-1 && int64(classSize(class)) < n {
		class++
	}
	return class
}

func getChunk(class int) *chunk {
	if c, ok := chunkPools[class].Get().(*chunk); ok {
		return c
	}
	return &chunk{make([]byte, classSize(class)), class}
}

func putChunk(c *chunk) { chunkPools[c.class].Put(c) }
