package stripe

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/describe"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/schema"
	"github.com/amudai/amudai-go/stats"
)

// bytesWriter writes String, Binary, Guid and FixedSizeBinary nodes. It begins
// with a value dictionary, keeping the code of each value until the end of the
// stripe; once the dictionary does not pay, what came so far and all that
// follows is written as blocks of byte strings.
type bytesWriter struct {
	ctx   *nodeContext
	id    uint32
	fixed int  // length of every value, 0 if it varies
	text  bool // values must be UTF-8
	stats *stats.Bytes

	dict  *dictionary.Builder // nil once given up
	codes dictionary.Codes
	rows  int64
	total int64 // bytes of all values

	native bytesBlocks
}

func newBytesWriter(c *nodeContext, col *arrowmap.Column) *bytesWriter {
	w := &bytesWriter{
		ctx: c, id: col.ID, fixed: int(col.Stored.FixedSize), text: col.Stored.Type == schema.String,
		stats: stats.NewBytes(stats.BytesOptions{
			String:   col.Stored.Type == schema.String,
			Range:    true,
			NoFilter: c.encoding.Profile == encoding.ProfilePlain && col.Stored.Type != schema.Guid,
		}),
	}
	w.native = newBytesBlocks(c, w.id, w.fixed)
	if c.encoding.Profile != encoding.ProfilePlain {
		w.dict = dictionary.NewBuilder(byte(col.Stored.Type), w.fixed)
	}
	return w
}

func (w *bytesWriter) write(arr arrow.Array) error {
	arr, err := w.ctx.plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	return inChunks(arr, w.writeChunk)
}

func (w *bytesWriter) writeChunk(arr arrow.Array) error {
	valid := arrowutil.Validity(arr)
	mem := borrow()
	defer mem.giveBack()
	v, err := w.load(mem, arr, valid)
	if err != nil {
		return err
	}
	for v.N > 0 {
		n, full := w.native.room(v)
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

// add adds values; at the end of a piece the dictionary must have paid so far.
func (w *bytesWriter) add(v bytestring.Values, valid bitmap.Bits, endOfPiece bool) error {
	w.rows += int64(v.N)
	w.total += int64(len(v.Bytes()))
	if w.dict == nil {
		w.stats.Add(v, valid)
		return w.native.add(w.ctx, v, valid)
	}
	mem := borrow()
	mem.ids = w.dict.AddAll(mem.ids[:0], v.Data, v.Offsets, valid)
	w.codes.Append(mem.ids)
	mem.giveBack()
	w.native.skip(v)
	if (endOfPiece || w.rows == dictionary.FirstLook) && !w.dict.Stay(w.rows) {
		return w.giveUp()
	}
	return nil
}

// load is arr's values, in borrowed memory where they must be moved: the data
// starts at its first value, and null slots are empty.
func (w *bytesWriter) load(mem *loan, arr arrow.Array, valid bitmap.Bits) (bytestring.Values, error) {
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
	dst = slice(&dst, len(src))
	for i, o := range src {
		dst[i] = int64(o)
	}
	return dst
}

// dropUnderNulls makes null slots empty, in borrowed memory if one is not.
func dropUnderNulls(mem *loan, v bytestring.Values, valid bitmap.Bits) bytestring.Values {
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

// checkUTF8 checks all values at once: the data as a whole, and that no value
// starts in the middle of a character.
func checkUTF8(v bytestring.Values) error {
	if utf8.Valid(v.Data) {
		bad := -1
		for i, o := range v.Offsets[:v.N] {
			if o < int64(len(v.Data)) && !utf8.RuneStart(v.Data[o]) {
				bad = i
				break
			}
		}
		if bad < 0 {
			return nil
		}
	}
	for i := range v.N {
		if s := v.Data[v.Offsets[i]:v.Offsets[i+1]]; !utf8.Valid(s) {
			return &ValueError{Row: int64(i), Err: fmt.Errorf("invalid UTF-8 in a string: %.40q; make the column binary to store it", s)}
		}
	}
	return nil
}

// giveUp writes what came so far, and from now on everything, without dictionary.
func (w *bytesWriter) giveUp() error {
	w.addDictionaryStats()
	err := w.moveToBlocks()
	w.dict, w.codes = nil, dictionary.Codes{}
	return err
}

// moveToBlocks stages the values behind all codes as byte strings.
func (w *bytesWriter) moveToBlocks() error {
	null, hasNull := w.dict.NullID()
	mem := borrow()
	defer mem.giveBack()
	w.native.piece, w.native.bytes = 0, 0
	return w.codes.Each(func(codes []uint32) error {
		v := bytestring.Values{Fixed: w.fixed, Data: mem.data[:0], Offsets: append(mem.offsets[:0], 0), N: len(codes)}
		valid := bitmap.All(len(codes))
		if hasNull {
			valid.Data = make([]byte, (len(codes)+7)/8)
		}
		for i, code := range codes {
			if hasNull && code != null {
				bitmap.SetRange(valid.Data, i, 1)
			}
			v.Data = append(v.Data, w.dict.Value(code)...)
			v.Offsets = append(v.Offsets, int64(len(v.Data)))
		}
		mem.data, mem.offsets = v.Data, v.Offsets
		return w.native.addAll(w.ctx, v, valid)
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

func (w *bytesWriter) finish(out []Node) ([]Node, error) {
	keep := w.dict != nil && w.rows > 0 && w.dict.Keep(w.rows, w.total)
	if w.rows <= filterFrom {
		w.stats.DropFilter()
	}
	if w.dict != nil {
		w.addDictionaryStats()
	}
	node := Node{ID: w.id, Field: &shardpb.FieldDescriptor{}}
	w.stats.Fill(node.Field)
	if node.Field.ConstantValue != nil {
		w.release()
		return append(out, node), nil
	}
	var err error
	if keep {
		node.Buffers, err = w.finishDictionary(node.Field)
		return append(out, node), err
	}
	if w.dict != nil {
		if err := w.moveToBlocks(); err != nil {
			return out, err
		}
	}
	node.Buffers, err = w.native.finish(w.ctx)
	return append(out, node), err
}

// filterFrom is the number of rows up to which a Bloom filter is left out:
// reading so few values costs no more than reading it.
const filterFrom = 256

func (w *bytesWriter) release() { w.native.out.release() }

// finishDictionary makes the buffers of codes and of the dictionary (docs/format.md §8).
func (w *bytesWriter) finishDictionary(field *shardpb.FieldDescriptor) ([]Buffer, error) {
	perm := w.dict.Renumber(&w.codes)
	size := uint64(w.dict.Len())
	field.DictionarySize = &size
	o := w.ctx.encoding
	o.NoPresence = true
	codes := primitiveBlocks[uint32]{enc: numberEncoder[uint32](w.ctx, nodePart{w.id, true}, o)}
	defer codes.out.release() // what an error left
	left := w.codes.Len()
	err := w.codes.Each(func(ids []uint32) error {
		if codes.values == nil {
			codes.values = takeStage[uint32](left)
		}
		staged := codes.grow(len(ids))
		copy(staged, ids)
		if perm != nil {
			for i, id := range ids {
				staged[i] = perm[id]
			}
		}
		left -= len(ids)
		return codes.flush(w.ctx, &bitStage{n: len(codes.values)}, left == 0)
	})
	if err != nil {
		return nil, err
	}
	data, err := codes.out.finish(w.ctx, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA})
	if err != nil {
		return nil, err
	}
	values, err := wholeBuffer(w.ctx, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_VALUE_DICTIONARY}, w.dict.Append(nil))
	if err != nil {
		return []Buffer{data}, err
	}
	return []Buffer{data, values}, nil
}

// bytesBlocks stages byte strings and cuts them into blocks. It does so after
// every flushAt values, and before that after flushBytes bytes or what the longest
// block has, so that blocks do not depend on how values came.
type bytesBlocks struct {
	enc    *bytestring.Encoder
	values bytestring.Values
	valid  bitStage
	out    bufferWriter
	piece  int // values since the last multiple of flushAt
	bytes  int // bytes of the current piece so far
}

// flushBytes is how many bytes of values make a piece at least.
const flushBytes = 4 << 20

func newBytesBlocks(c *nodeContext, id uint32, fixed int) bytesBlocks {
	enc := bytesEncoder(c, id, fixed)
	enc.Begin()
	return bytesBlocks{enc: enc, values: bytestring.Values{Fixed: fixed}}
}

// room is how many of v's values belong to the current piece, at least one, and
// whether they complete it. A piece ends with the value that reaches a bound.
func (p *bytesBlocks) room(v bytestring.Values) (n int, full bool) {
	n = min(v.N, flushAt-p.piece)
	left := p.most() - p.bytes
	if v.Fixed > 0 {
		n = min(n, (left+v.Fixed-1)/v.Fixed)
	} else {
		reach := v.Offsets[0] + int64(left)
		n = min(n, 1+sort.Search(n, func(i int) bool { return v.Offsets[i+1] >= reach }))
	}
	return n, p.piece+n == flushAt || p.bytes+len(v.Slice(0, n).Bytes()) >= p.most()
}

// most is how many bytes of values make a piece.
func (p *bytesBlocks) most() int { return max(flushBytes, p.enc.Longest()) }

// skip counts values into the current piece without staging them.
func (p *bytesBlocks) skip(v bytestring.Values) (full bool) {
	p.piece += v.N
	p.bytes += len(v.Bytes())
	if full = p.piece >= flushAt || p.bytes >= p.most(); full {
		p.piece, p.bytes = p.piece%flushAt, 0
	}
	return full
}

// addAll adds values a piece at a time.
func (p *bytesBlocks) addAll(c *nodeContext, v bytestring.Values, valid bitmap.Bits) error {
	for v.N > 0 {
		n, _ := p.room(v)
		if err := p.add(c, v.Slice(0, n), valid.Slice(0, n)); err != nil {
			return err
		}
		v, valid = v.Slice(n, v.N), valid.Slice(n, v.N)
	}
	return nil
}

// add stages values, which belong to one piece, and cuts blocks at its end. A
// piece that comes whole is cut where it is, and only what is left is staged.
func (p *bytesBlocks) add(c *nodeContext, v bytestring.Values, valid bitmap.Bits) error {
	full := p.skip(v)
	if full && p.values.N == 0 {
		done, err := p.cut(c, v, valid, false)
		if err != nil {
			return err
		}
		p.stage(v.Slice(done, v.N), valid.Slice(done, v.N))
		return nil
	}
	p.stage(v, valid)
	if full {
		return p.cutStaged(c, false)
	}
	return nil
}

func (p *bytesBlocks) stage(v bytestring.Values, valid bitmap.Bits) {
	if v.N == 0 {
		return
	}
	p.values.Data = append(p.values.Data, v.Bytes()...)
	if p.values.Fixed == 0 {
		if p.values.N == 0 {
			p.values.Offsets = append(p.values.Offsets[:0], 0)
		}
		p.values.Offsets = slices.Grow(p.values.Offsets, v.N)
		shift := p.values.Offsets[p.values.N] - v.Offsets[0]
		for _, o := range v.Offsets[1 : v.N+1] {
			p.values.Offsets = append(p.values.Offsets, o+shift)
		}
	}
	p.values.N += v.N
	p.valid.append(valid)
}

// cutStaged cuts what is staged.
func (p *bytesBlocks) cutStaged(c *nodeContext, final bool) error {
	done, err := p.cut(c, p.values, p.valid.view(), final)
	if done > 0 {
		p.drop(done)
	}
	return err
}

// cut writes values as blocks of the planned length, and tells how many; what may
// still grow into a larger block is left, except at the end.
func (p *bytesBlocks) cut(c *nodeContext, v bytestring.Values, valid bitmap.Bits, final bool) (done int, err error) {
	mem := borrow()
	defer mem.giveBack()
	for done < v.N {
		rest, ok := v.Slice(done, v.N), valid.Slice(done, v.N)
		n := p.enc.Plan(rest, ok)
		if n >= rest.N && !final && !p.enc.Whole(n) {
			break
		}
		n = min(n, rest.N)
		if mem.block, err = p.enc.AppendBlock(mem.block[:0], rest.Slice(0, n), ok.Slice(0, n)); err != nil {
			return done, err
		}
		c.features.addBlock(mem.block, func(tree []byte) describe.Node { return bytestring.Describe(tree, n, v.Fixed) })
		if err := p.out.add(c, mem.block, n); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

func (p *bytesBlocks) drop(n int) {
	rest := p.values.Slice(n, p.values.N)
	p.values.N = rest.N
	if p.values.Fixed == 0 {
		start := rest.Offsets[0]
		p.values.Data = p.values.Data[:copy(p.values.Data, p.values.Data[start:])]
		for i, o := range rest.Offsets {
			p.values.Offsets[i] = o - start
		}
		p.values.Offsets = p.values.Offsets[:rest.N+1]
	} else {
		p.values.Data = p.values.Data[:copy(p.values.Data, p.values.Data[n*p.values.Fixed:])]
	}
	p.valid.drop(n)
}

func (p *bytesBlocks) finish(c *nodeContext) ([]Buffer, error) {
	if err := p.cutStaged(c, true); err != nil {
		return nil, err
	}
	b, err := p.out.finish(c, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, EmbeddedPresence: true, EmbeddedOffsets: true})
	if err != nil {
		return nil, err
	}
	return []Buffer{b}, nil
}
