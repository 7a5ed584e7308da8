package valuedict

import (
	"bytes"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/storage"
)

// Dictionary is the value dictionary of a node. It is read when it is first needed; a
// failure is tried again next time. It is safe for concurrent use.
type Dictionary struct {
	stored  *Stored
	convert Conversion
	memory  *atomic.Int64 // to which it adds its bytes

	mu      sync.Mutex
	raw     []byte // its bytes until they are parsed, nil if they have to be read
	dict    *dictionary.Dictionary
	table   *bytestring.Table
	entries arrow.Array         // nil before they are needed; those that are converted lack the misfits
	misfits []byte              // 1 for each entry that arrays cannot hold, nil if there is none
	views   *bytestring.Table   // nil before they are needed
	partial *dictionary.Partial // nil before some entries are read alone, and once all are
	few     int                 // how many entries were read alone
}

// Conversion makes an array of stored values, back to back, that are valid.
type Conversion func(stored []byte, valid bitmap.Bits) (arrow.Array, error)

// New is a dictionary of which nothing is read yet. prefetched may hold its bytes. convert is nil for byte strings, which arrays hold as they are stored.
// About how many bytes it takes is added to memory.
func New(s *Stored, prefetched storage.Prefetched, convert Conversion, memory *atomic.Int64) *Dictionary {
	memory.Add(4 * s.size) // a guess
	return &Dictionary{stored: s, convert: convert, memory: memory, raw: slices.Clone(prefetched.Bytes(s.reader, s.start, s.size))}
}

// Load returns the dictionary and its values by code, as arrays have them.
func (d *Dictionary) Load(ctx context.Context) (*dictionary.Dictionary, *bytestring.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(ctx); err != nil {
		return nil, nil, err
	}
	return d.dict, d.table, nil
}

// oneAlone is how many entries are decoded together in the time that one alone takes.
const oneAlone = 16

// MayBeFew reports whether the entries of so many codes may be worth decoding alone, with [Dictionary.LoadSome].
func (d *Dictionary) MayBeFew(n int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dict == nil && d.convert == nil && n > 0 && n <= d.stored.size
}

// LoadSome is Load of the entries of some codes, if these are few, and makes the codes those of these entries. Otherwise, or if codes is nil,
// it is that of all.
func (d *Dictionary) LoadSome(ctx context.Context, codes []uint32) (dict *dictionary.Dictionary, table *bytestring.Table, err error) {
	if codes != nil {
		if dict, err = d.some(ctx, codes); err != nil {
			return nil, nil, err
		}
	}
	if dict == nil {
		return d.Load(ctx)
	}
	return dict, bytestring.NewTable(valuesOf(dict)), nil
}

// CodedSome is an array of codes as indices of the entries that they need, if these are few, which the caller releases. Otherwise it is nil. It keeps
// the memory of the codes.
func (d *Dictionary) CodedSome(ctx context.Context, codes []uint32, dt *arrow.DictionaryType) (arrow.Array, error) {
	dict, err := d.some(ctx, codes)
	if dict == nil || err != nil {
		return nil, err
	}
	entries, err := arrayOf(dict, dt.ValueType)
	if err != nil {
		return nil, err
	}
	defer entries.Release()
	var valid *memory.Buffer
	nulls := 0
	if null, ok := dict.NullID(); ok {
		valid = memory.NewBufferBytes(make([]byte, (len(codes)+7)/8))
		nulls = rules.PutCodes(valid.Bytes(), 0, codes, null)
	}
	buffers := []*memory.Buffer{valid, memory.NewBufferBytes(arrowutil.Bytes(codes))}
	data := array.NewDataWithDictionary(dt, len(codes), buffers, nulls, 0, entries.Data().(*array.Data))
	defer data.Release()
	return array.MakeFromData(data), nil
}

// some is the entries of some codes, and makes the codes those of these entries. If all entries together take less time than these and those that were
// asked for before, it is nil, and all are loaded.
func (d *Dictionary) some(ctx context.Context, codes []uint32) (*dictionary.Dictionary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dict != nil {
		return nil, nil
	}
	if d.partial == nil {
		raw, p, err := d.stored.Partial(ctx, d.raw)
		if err != nil {
			return nil, err
		}
		d.raw, d.partial = raw, p
	}
	used, err := newRanks(codes, d.partial.Len())
	if err != nil {
		return nil, d.stored.wrap(err)
	}
	if d.few += len(used.ids); oneAlone*d.few > d.partial.Len() {
		return nil, d.load(ctx)
	}
	dict, err := d.partial.Entries(used.ids)
	if err != nil {
		return nil, d.stored.wrap(err)
	}
	for i, code := range codes {
		codes[i] = used.rank(code)
	}
	return dict, nil
}

// ranks number the ids that occur among codes.
type ranks struct {
	ids    []uint32 // which ascend
	bits   []uint64 // set for each id
	before []uint32 // how many are set before each word
}

func newRanks(codes []uint32, entries int) (r ranks, err error) {
	r.bits = make([]uint64, (entries+63)/64)
	for _, code := range codes {
		if uint64(code) >= uint64(entries) {
			return r, fault.Corruptf("code %d of %d", code, entries)
		}
		r.bits[code/64] |= 1 << (code % 64)
	}
	r.before = make([]uint32, len(r.bits))
	for i, word := range r.bits {
		r.before[i] = uint32(len(r.ids))
		for ; word != 0; word &= word - 1 {
			r.ids = append(r.ids, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return r, nil
}

func (r *ranks) rank(id uint32) uint32 {
	return r.before[id/64] + uint32(bits.OnesCount64(r.bits[id/64]&(1<<(id%64)-1)))
}

// valuesOf is the entries of a dictionary.
func valuesOf(dict *dictionary.Dictionary) bytestring.Values {
	v := bytestring.Values{Data: dict.Data(), Fixed: dict.Fixed(), N: dict.Len()}
	if dict.Fixed() == 0 {
		v.Offsets = make([]int64, dict.Len()+1)
		for i, o := range dict.Offsets() {
			v.Offsets[i] = int64(o)
		}
	}
	return v
}

func (d *Dictionary) load(ctx context.Context) (err error) {
	if d.dict != nil {
		return nil
	}
	_, dict, err := d.stored.Read(ctx, d.raw)
	if err != nil {
		return err
	}
	v := bytestring.Values{}
	if d.convert == nil {
		v = valuesOf(dict)
	} else if v, err = d.converted(dict); err != nil {
		return err
	}
	d.dict, d.table, d.raw, d.partial = dict, bytestring.NewTable(v), nil, nil
	d.memory.Add(int64(len(dict.Data())) + perEntry*int64(dict.Len()) - 4*d.stored.size)
	return nil
}

// perEntry is the memory for an entry besides its bytes: its offsets in the dictionary, in arrays, and in the table for copies.
const perEntry = 4 + 4 + 16

// converted makes the entries, with null in place of misfits, and returns their values.
func (d *Dictionary) converted(dict *dictionary.Dictionary) (v bytestring.Values, err error) {
	valid := validity(dict)
	d.misfits = nil
	if d.entries, err = d.convert(dict.Data(), valid); err != nil {
		d.misfits = make([]byte, dict.Len())
		if valid.Data == nil {
			valid.Data = bytes.Repeat([]byte{0xff}, (dict.Len()+7)/8)
		}
		for id := range dict.Len() {
			if _, err := d.convert(dict.Value(uint32(id)), valid.Slice(id, id+1)); err != nil {
				d.misfits[id] = 1
				bitmap.ClearRange(valid.Data, id, 1)
			}
		}
		d.entries, err = d.convert(dict.Data(), valid)
	}
	if err != nil {
		return v, err
	}
	v = bytestring.Values{N: dict.Len(), Fixed: rules.Width(d.entries.DataType())}
	if text, ok := d.entries.(*array.LargeString); ok {
		v.Data, v.Offsets = text.ValueBytes(), text.ValueOffsets()
	} else {
		v.Data = d.entries.Data().Buffers()[1].Bytes()
	}
	return v, nil
}

// Check finds the first of some codes whose entry arrays cannot hold.
func (d *Dictionary) Check(codes []uint32) error {
	for i, code := range codes[:len(codes)*min(len(d.misfits), 1)] {
		if uint64(code) < uint64(len(d.misfits)) && d.misfits[code] != 0 {
			_, err := d.convert(d.dict.Value(code), bitmap.All(1))
			return rules.PlaceRow(err, func(int64) int64 { return int64(i) })
		}
	}
	return nil
}

// validity tells which entries are not null.
func validity(d *dictionary.Dictionary) bitmap.Bits {
	valid := bitmap.All(d.Len())
	if id, ok := d.NullID(); ok && int(id) < d.Len() {
		valid.Data = bytes.Repeat([]byte{0xff}, (d.Len()+7)/8)
		bitmap.ClearRange(valid.Data, int(id), 1)
	}
	return valid
}

// Entries are the values by code, each once, and null if the node has nulls, as an array of type dt, which must
// be the same in all calls. The array stays the dictionary's. It is nil if arrays cannot hold one of the values.
func (d *Dictionary) Entries(ctx context.Context, dt arrow.DataType) (arrow.Array, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, err := d.makeEntries(ctx, dt)
	if len(d.misfits) > 0 {
		return nil, err
	}
	return entries, err
}

func (d *Dictionary) makeEntries(ctx context.Context, dt arrow.DataType) (arrow.Array, error) {
	if d.entries != nil {
		return d.entries, nil
	}
	if err := d.load(ctx); err != nil {
		return nil, err
	}
	if d.entries != nil {
		return d.entries, nil
	}
	arr, err := arrayOf(d.dict, dt)
	d.entries = arr
	return arr, err
}

// arrayOf is the entries of a dictionary of byte strings as an array of type dt.
func arrayOf(dict *dictionary.Dictionary, dt arrow.DataType) (arrow.Array, error) {
	valid := validity(dict)
	buffers := []*memory.Buffer{rules.Validity(valid), memory.NewBufferBytes(dict.Data())}
	if dict.Fixed() == 0 {
		offsets, err := offsetsFor(dict, dt)
		if err != nil {
			return nil, err
		}
		buffers = slices.Insert(buffers, 1, memory.NewBufferBytes(offsets))
	}
	return arrowutil.Make(dt, dict.Len(), buffers, nil, valid.Nulls()), nil
}

// offsetsFor are the offsets of the values as arrays of type dt have them.
func offsetsFor(dict *dictionary.Dictionary, dt arrow.DataType) ([]byte, error) {
	switch dt.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return offsetsOf[int64](dict.Offsets()), nil
	}
	if int64(len(dict.Data())) > math.MaxInt32 {
		return nil, fault.ErrBatchTooLarge
	}
	return offsetsOf[int32](dict.Offsets()), nil
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
