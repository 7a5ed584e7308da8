package write

import (
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// bytesWriter writes String, Binary, Guid and FixedSizeBinary nodes. It begins
// with a value dictionary, keeping the code of each value until the end of the
// stripe; once the dictionary does not pay, what came so far and all that
// follows is written as blocks of byte strings. Values that may be all of a brief
// column are staged until that is known.
type bytesWriter struct {
	ctx   *buffers.Context
	id    uint32
	fixed int  // length of every value, 0 if it varies
	text  bool // values must be UTF-8
	stats *stats.Bytes

	brief bool // the values so far may be all of a brief column: they are staged, and not counted

	dict  *dictionary.Builder // nil once given up
	codes dictionary.Codes
	rows  int64
	all   int64 // rows of the column, 0 if that is not known yet
	total int64 // bytes of all values

	native buffers.ByteBlocks
}

func newBytesWriter(c *buffers.Context, col *arrowmap.Column) *bytesWriter {
	w := &bytesWriter{
		ctx: c, id: col.ID, fixed: int(col.Stored.FixedSize), text: col.Stored.Type == schema.String,
		stats: stats.NewBytes(stats.BytesOptions{
			String:   col.Stored.Type == schema.String,
			Bound:    stats.StoredBound,
			NoFilter: c.Encoding.Profile == encoding.ProfilePlain && col.Stored.Type != schema.Guid,
		}),
	}
	w.native = buffers.NewByteBlocks(c, w.id, w.fixed)
	if c.OffsetsApart && (w.text || col.Stored.Type == schema.Binary) {
		w.native.OffsetsApart(c, w.id)
	}
	if c.Encoding.Profile != encoding.ProfilePlain {
		w.dict = dictionary.NewBuilder(byte(col.Stored.Type), w.fixed)
		w.dict.Budget = c.Stage.Texts
		w.dict.Packed = c.Encoding.Features.Has(edition.PackedDictionaries)
		w.dict.Brief = w.dict.Packed && c.Encoding.Profile == encoding.Balanced
		w.brief = w.dict.Brief
	}
	return w
}

func (w *bytesWriter) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.ctx.Stage.Values, w.writeChunk)
}

func (w *bytesWriter) writeChunk(arr arrow.Array) error {
	valid := arrowutil.Validity(arr)
	mem := getScratch()
	defer mem.put()
	v, err := w.load(mem, arr, valid)
	if err != nil {
		return err
	}
	if w.brief && w.staysBrief(v) {
		w.native.Stage(v, valid)
		return nil
	}
	if s := w.native.Staged; w.brief && s != nil {
		_, expected := dictionary.Repeats(s.Values, s.Valid.View())
		if err := w.endBrief(expected); err != nil {
			return err
		}
	}
	w.brief = false
	return w.addAll(v, valid)
}

// staysBrief tells whether the column is brief with v, too.
func (w *bytesWriter) staysBrief(v bytestring.Values) bool {
	n, bytes := v.N, len(v.Bytes())
	if s := w.native.Staged; s != nil {
		n, bytes = n+s.Values.N, bytes+len(s.Values.Bytes())
	}
	return n <= w.ctx.Stage.Values && bytes <= w.ctx.Stage.Brief
}

// endBrief adds what is staged of a brief column, as that of any other, of which about so many values are distinct.
func (w *bytesWriter) endBrief(expected int) error {
	s := w.native.Staged
	w.native.Staged = nil
	defer s.Put()
	w.dict.Expect(expected)
	return w.addAll(s.Values, s.Valid.View())
}

// addAll adds values a segment at a time, the first time up to where the dictionary may be given up.
func (w *bytesWriter) addAll(v bytestring.Values, valid bitmap.Bits) error {
	for v.N > 0 {
		n, full := w.native.Room(w.ctx, v)
		if left := dictionary.FirstLook - w.rows; w.dict != nil && left > 0 && left < int64(n) {
			n, full = int(left), false
		}
		if err := w.add(v.Slice(0, n), valid.Slice(0, n), full); err != nil {
			return err
		}
		v, valid = v.Slice(n, v.N), valid.Slice(n, v.N)
	}
	return nil
}

// add adds values; at the end of a segment the dictionary must have paid so far.
func (w *bytesWriter) add(v bytestring.Values, valid bitmap.Bits, endOfSegment bool) error {
	w.rows += int64(v.N)
	w.total += int64(len(v.Bytes()))
	if w.dict == nil {
		w.stats.Add(v, valid)
		return w.native.Add(w.ctx, v, valid)
	}
	mem := getScratch()
	mem.ids = w.dict.AddAll(mem.ids[:0], v.Data, v.Offsets, valid)
	w.codes.Append(mem.ids)
	mem.put()
	w.native.Skip(w.ctx, v)
	if (endOfSegment || w.rows == dictionary.FirstLook) && !w.dict.Stay(w.rows, w.all) {
		return w.giveUp()
	}
	return nil
}

// load is arr's values, in scratch memory where they must be moved: the data
// starts at its first value, and null slots are empty.
func (w *bytesWriter) load(mem *chunkScratch, arr arrow.Array, valid bitmap.Bits) (bytestring.Values, error) {
	v := bytestring.Values{N: arr.Len(), Fixed: w.fixed}
	buffers, offset := arr.Data().Buffers(), arr.Data().Offset()
	switch arr.(type) {
	case *array.FixedSizeBinary:
		if v.N > 0 {
			v.Data = buffers[1].Bytes()[offset*w.fixed : (offset+v.N)*w.fixed]
		}
		return v, nil
	case *array.String, *array.Binary:
		mem.offsets = widen(mem.offsets, arrowutil.Offsets[int32](arr))
	case *array.LargeString, *array.LargeBinary:
		mem.offsets = widen(mem.offsets, arrowutil.Offsets[int64](arr))
	default:
		return v, fmt.Errorf("array of type %s for a byte string", arr.DataType())
	}
	v.Offsets = mem.offsets
	start, end := v.Offsets[0], v.Offsets[v.N]
	for i := range v.Offsets {
		v.Offsets[i] -= start
	}
	if end > start {
		v.Data = buffers[2].Bytes()[start:end]
	}
	if valid.Data != nil {
		v = dropUnderNulls(mem, v, valid)
	}
	if w.text {
		return v, checkUTF8(v)
	}
	return v, nil
}

func widen[O int32 | int64](dst []int64, src []O) []int64 {
	dst = scratch.Slice(&dst, len(src))
	for i, o := range src {
		dst[i] = int64(o)
	}
	return dst
}

// dropUnderNulls makes null slots empty, in scratch memory if one is not.
func dropUnderNulls(mem *chunkScratch, v bytestring.Values, valid bitmap.Bits) bytestring.Values {
	clean := true
	for i := range v.N {
		clean = clean && (v.Offsets[i] == v.Offsets[i+1] || valid.At(i))
	}
	if clean {
		return v
	}
	mem.data = mem.data[:0]
	start := v.Offsets[0]
	for i := range v.N {
		end := v.Offsets[i+1]
		if valid.At(i) {
			mem.data = append(mem.data, v.Data[start:end]...)
		}
		start = end
		v.Offsets[i+1] = int64(len(mem.data))
	}
	v.Data = mem.data
	return v
}

// checkUTF8 checks that all values are UTF-8.
func checkUTF8(v bytestring.Values) error {
	if arrowutil.ValidUTF8(v.Data, v.Offsets[:v.N]) {
		return nil
	}
	for i := range v.N {
		if s := v.Data[v.Offsets[i]:v.Offsets[i+1]]; !utf8.Valid(s) {
			return &stripe.ValueError{Row: int64(i), Err: fmt.Errorf("invalid UTF-8 in a string: %.40q; make the column binary to store it", s)}
		}
	}
	return nil
}

// giveUp writes the values so far, and all later ones, without a dictionary.
func (w *bytesWriter) giveUp() error {
	w.addDictionaryStats()
	w.native.Unequal = w.dict.Unequal(w.rows)
	err := w.moveToBlocks()
	w.dropDictionary()
	return err
}

func (w *bytesWriter) dropDictionary() {
	w.dict.Release()
	w.dict, w.codes = nil, dictionary.Codes{}
}

// moveToBlocks stages the values behind all codes as byte strings.
func (w *bytesWriter) moveToBlocks() error {
	w.native.Count, w.native.Bytes = 0, 0
	return w.codes.Each(func(codes []uint32) error {
		return eachOf(w.dict, codes, func(v bytestring.Values, valid bitmap.Bits) error { return w.native.AddAll(w.ctx, v, valid) })
	})
}

func (w *bytesWriter) addDictionaryStats() {
	null, hasNull := w.dict.NullID()
	for id := range uint32(w.dict.Len()) {
		if hasNull && id == null {
			w.stats.AddNulls(int(w.dict.Count(id)))
		} else {
			w.stats.AddRepeated(w.dict.Value(id), w.dict.Count(id))
		}
	}
}

// finishBrief adds the values of a brief column, without a dictionary if hardly any are equal.
func (w *bytesWriter) finishBrief() error {
	s := w.native.Staged
	if !w.brief || s == nil {
		return nil
	}
	v, valid := s.Values, s.Valid.View()
	w.all = int64(v.N)
	repeat, expected := dictionary.Repeats(v, valid)
	if repeat {
		return w.endBrief(expected)
	}
	w.dict, w.rows, w.native.Unequal = nil, w.all, true
	w.dropFilter()
	w.stats.Add(v, valid)
	return nil
}

// dropFilter leaves out the Bloom filter of few rows.
func (w *bytesWriter) dropFilter() {
	if w.rows <= filterFrom || w.rows <= buffers.OneBlock && w.ctx.Encoding.Features != 0 {
		w.stats.DropFilter()
	}
}

func (w *bytesWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	defer w.dropDictionary() // for the next column
	if err := w.finishBrief(); err != nil {
		return out, err
	}
	w.dropFilter()
	keep := w.dict != nil && w.rows > 0 && w.dict.Keep(w.rows, w.total)
	if w.dict != nil {
		w.addDictionaryStats()
	}
	return finishNode(out, w.id, w.stats, w.release, func(f *shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		if keep {
			return finishDictionary(w.ctx, w.id, w.dict, &w.codes, f)
		}
		if w.dict != nil {
			w.native.Unequal = w.dict.Unequal(w.rows)
			if err := w.moveToBlocks(); err != nil {
				return nil, err
			}
		}
		return w.native.Finish(w.ctx)
	})
}

// filterFrom is the number of rows up to which a Bloom filter is left out:
// reading so few values costs no more than reading it.
const filterFrom = 256

func (w *bytesWriter) release() { w.native.Release(w.ctx) }
