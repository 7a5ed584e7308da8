package storage

import (
	"fmt"
	"io"
	"sort"
	"sync"
)

// Spool is an append-only byte buffer that can be read at any offset. Its bytes are in
// memory as long as its [Budget] allows, else in a temporary file. A small spool takes
// little more memory than its bytes.
//
//	one spool:   [chunk in memory][chunk in memory][bytes in a file][chunk in memory]
//	               256 B            1 KiB            1.2 MiB          up to 256 KiB
//
// One goroutine writes. Concurrent reads may follow its last write.
type Spool struct {
	budget  *Budget
	dir     string
	extents []extent
	first   [1]extent // storage of extents in a small spool
	size    int64
	held    int64 // bytes taken from the budget
	files   []*spillFile
	err     error // the first of Write
}

// An extent is a range of the spool in one chunk or file.
type extent struct {
	start int64 // in the spool
	n     int64
	chunk *chunk     // in memory, or nil
	file  *spillFile // if chunk is nil
	off   int64      // in file
}

// minSpill is the number of bytes in memory from which a spool spills. A spool therefore
// holds up to twice as many bytes even if the budget is used up.
const minSpill = 4 << 10

// NewSpool returns an empty spool. Its temporary files are in the folder dir, by default
// os.TempDir(). Close removes them. A nil budget is unlimited.
func NewSpool(budget *Budget, dir string) *Spool {
	if budget == nil {
		budget = NewBudget(0)
	}
	s := &Spool{budget: budget, dir: dir}
	s.extents = s.first[:0]
	return s
}

// Size is the number of bytes appended.
func (s *Spool) Size() int64 { return s.size }

// Held is the number of bytes that the spool takes from its budget.
func (s *Spool) Held() int64 { return s.held }

// Write appends p. Only I/O on a temporary file can fail. After an error the spool can
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

// tail returns the last chunk if it has room, else nil.
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

// grow appends an empty chunk for the next n bytes. Chunks grow with the spool, so that
// less than half of its memory is unused.
func (s *Spool) grow(n int) (*chunk, error) {
	class := classFor(max(int64(n), s.size/2))
	if !s.budget.tryTake(int64(classSize(class))) {
		if s.held >= minSpill {
			if err := s.spill(); err != nil {
				return nil, err
			}
		}
		if !s.budget.tryTake(int64(classSize(class))) {
			class = min(class, classFor(minSpill)) // beyond the budget, to make progress
			s.budget.used.Add(int64(classSize(class)))
		}
	}
	s.held += int64(classSize(class))
	c := getChunk(class)
	s.extents = append(s.extents, extent{start: s.size, chunk: c})
	return c, nil
}

// spill moves all chunks to a file.
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
	merged := s.extents[:0]
	for _, e := range s.extents {
		if e.chunk != nil {
			s.release(e.chunk)
			e.chunk, e.file, e.off = nil, f, off
			off += e.n
		}
		if k := len(merged) - 1; k >= 0 && merged[k].file == e.file && merged[k].off+merged[k].n == e.off {
			merged[k].n += e.n
			continue
		}
		merged = append(merged, e)
	}
	s.extents = merged
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

func (s *Spool) release(c *chunk) {
	n := int64(len(c.buf))
	s.held -= n
	s.budget.used.Add(-n)
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
		} else if err := readFull(e.file.f, part, e.off+at, e.off+e.n); err != nil {
			return done, fmt.Errorf("reading back a temporary file: %w", err)
		}
		done += len(part)
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// WriteTo implements io.WriterTo. The bytes stay in the spool.
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
		if err := readFull(e.file.f, part, e.off+done, e.off+e.n); err != nil {
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

// Close releases memory and temporary files. The spool is then empty, and Write fails.
func (s *Spool) Close() error {
	for _, e := range s.extents {
		if e.chunk != nil {
			s.release(e.chunk)
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

// A chunk is a piece of memory of a spool. There is a pool for each of the sizes 256 B,
// 512 B … 256 KiB.
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

// FromSpool returns a reader of a spool, which must not be written any more. Closing the reader does not close the spool.
func FromSpool(name string, s *Spool) Reader { return readerAt{name: name, r: s, size: s.Size()} }
