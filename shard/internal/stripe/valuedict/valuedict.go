package valuedict

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Dictionary is the value dictionary of a node. It is read when it is first needed; a
// failure is tried again next time. It is safe for concurrent use.
type Dictionary struct {
	stored *Stored

	mu      sync.Mutex
	raw     []byte // its bytes until they are parsed, nil if they have to be read
	dict    *dictionary.Dictionary
	table   *bytestring.Table
	entries arrow.Array       // nil before they are needed
	views   *bytestring.Table // nil before they are needed
}

// New is a dictionary of which nothing is read yet. prefetched may hold its bytes.
func New(s *Stored, prefetched storage.Prefetched) *Dictionary {
	return &Dictionary{stored: s, raw: slices.Clone(prefetched.Bytes(s.reader, s.start, s.size))}
}

// Load returns the dictionary and its values by code.
func (d *Dictionary) Load(ctx context.Context) (*dictionary.Dictionary, *bytestring.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(ctx); err != nil {
		return nil, nil, err
	}
	return d.dict, d.table, nil
}

func (d *Dictionary) load(ctx context.Context) (err error) {
	if d.dict != nil {
		return nil
	}
	_, dict, err := d.stored.Read(ctx, d.raw)
	if err != nil {
		return err
	}
	v := bytestring.Values{Data: dict.Data(), Fixed: dict.Fixed(), N: dict.Len()}
	if dict.Fixed() == 0 {
		v.Offsets = make([]int64, dict.Len()+1)
		for i, o := range dict.Offsets() {
			v.Offsets[i] = int64(o)
		}
	}
	d.dict, d.table, d.raw = dict, bytestring.NewTable(v), nil
	return nil
}

// Entries are the values by code, each once, and null if the node has nulls, as an array of type dt, which must
// be the same in all calls. The array stays the dictionary's.
func (d *Dictionary) Entries(ctx context.Context, dt arrow.DataType) (arrow.Array, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.makeEntries(ctx, dt)
}

func (d *Dictionary) makeEntries(ctx context.Context, dt arrow.DataType) (arrow.Array, error) {
	if d.entries != nil {
		return d.entries, nil
	}
	if err := d.load(ctx); err != nil {
		return nil, err
	}
	n := d.dict.Len()
	var valid *memory.Buffer
	nulls := 0
	if id, ok := d.dict.NullID(); ok && int(id) < n {
		bits := make([]byte, (n+7)/8)
		for i := range bits {
			bits[i] = 0xff
		}
		bits[id/8] &^= 1 << (id % 8)
		valid, nulls = memory.NewBufferBytes(bits), 1
	}
	buffers := []*memory.Buffer{valid, memory.NewBufferBytes(d.dict.Data())}
	if d.dict.Fixed() == 0 {
		offsets, err := d.offsets(dt)
		if err != nil {
			return nil, err
		}
		buffers = slices.Insert(buffers, 1, memory.NewBufferBytes(offsets))
	}
	d.entries = arrowutil.Make(dt, n, buffers, nil, nulls)
	return d.entries, nil
}

// offsets are the offsets of the values as arrays of type dt have them.
func (d *Dictionary) offsets(dt arrow.DataType) ([]byte, error) {
	switch dt.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return offsetsOf[int64](d.dict.Offsets()), nil
	}
	if int64(len(d.dict.Data())) > math.MaxInt32 {
		return nil, fault.ErrBatchTooLarge
	}
	return offsetsOf[int32](d.dict.Offsets()), nil
}

// Views are the views of all entries by code, and the bytes that they point into. dt is the type of the entries, view
// that of the views.
func (d *Dictionary) Views(ctx context.Context, dt, view arrow.DataType) (*bytestring.Table, *memory.Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, err := d.makeEntries(ctx, dt)
	if err != nil {
		return nil, nil, err
	}
	if d.views == nil {
		arr := arrowutil.ToViews(memory.DefaultAllocator, entries, view)
		defer arr.Release()
		d.views = bytestring.NewTable(bytestring.Values{Data: arr.Data().Buffers()[1].Bytes(), Fixed: arrow.ViewHeaderSizeBytes, N: arr.Len()})
	}
	return d.views, entries.Data().Buffers()[2], nil
}

func offsetsOf[O int32 | int64](offsets []uint32) []byte {
	out := make([]O, len(offsets))
	for i, o := range offsets {
		out[i] = O(o)
	}
	return arrowutil.Bytes(out)
}
