package encode

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Numbers writes the numbers in a column's trees, in the best form or in given ones.
type Numbers struct {
	Options   encoding.Options
	codes     *numeric.Encoder[uint32]
	lengths   *numeric.Encoder[uint32]
	values    *numeric.Encoder[uint32]
	offsets   *numeric.Encoder[uint64]
	ints      *numeric.Encoder[int64]
	heads     *numeric.Encoder[uint8]
	tokens    *numeric.Encoder[uint16]
	tokenPlan tokenPlan
	places    *numeric.Encoder[uint32]
	narrow    map[uint64]*numeric.Encoder[uint32] // by key
	wide      map[uint64]*numeric.Encoder[uint64]
	brief     bool
	trial     bool     // on a sample
	shapes    []string // forced forms, in the order of the tree's parts; nil: choose
}

// clone is numbers for another goroutine, with the same memory of earlier ones.
func (s *Numbers) clone() Numbers {
	c := *s
	c.codes = s.codes.Clone()
	c.lengths = s.lengths.Clone()
	c.values = s.values.Clone()
	c.offsets = s.offsets.Clone()
	c.ints = s.ints.Clone()
	c.heads = s.heads.Clone()
	c.tokens = s.tokens.Clone()
	c.places = s.places.Clone()
	c.narrow, c.wide = cloneAll(s.narrow), cloneAll(s.wide)
	return c
}

// forget drops the memory of earlier numbers, but for that of columns of fields.
func (s *Numbers) forget() {
	*s = Numbers{Options: s.Options, brief: s.brief, narrow: s.narrow, wide: s.wide, shapes: s.shapes}
}

func cloneAll[T numeric.Value](encoders map[uint64]*numeric.Encoder[T]) map[uint64]*numeric.Encoder[T] {
	c := make(map[uint64]*numeric.Encoder[T], len(encoders))
	for key, e := range encoders {
		c[key] = e.Clone()
	}
	return c
}

// Thorough tells whether numbers that are more or less frequent may take more or less bits.
func (s *Numbers) Thorough() bool {
	return s.Options.Profile == encoding.HighCompression || s.Options.Profile == encoding.MinimalSize
}

// AppendPlaces writes the places of fields.
func (s *Numbers) AppendPlaces(dst []byte, places []uint32) ([]byte, error) {
	return appendTree(s, &s.places, 1, dst, places, bitmap.All(len(places)))
}

// AppendPatternCodes writes the pattern of every value.
func (s *Numbers) AppendPatternCodes(dst []byte, codes []uint32) ([]byte, error) {
	return appendTree(s, &s.codes, 2, dst, codes, bitmap.All(len(codes)))
}

// AppendNarrow and AppendWide write the fields of a column. key tells its memory from that of other columns.
func (s *Numbers) AppendNarrow(dst []byte, key uint64, fields []uint32) ([]byte, error) {
	return appendKeyed(s, &s.narrow, dst, key, fields)
}

// AppendWide is like AppendNarrow.
func (s *Numbers) AppendWide(dst []byte, key uint64, fields []uint64) ([]byte, error) {
	return appendKeyed(s, &s.wide, dst, key, fields)
}

func appendKeyed[T numeric.Value](s *Numbers, encoders *map[uint64]*numeric.Encoder[T], dst []byte, key uint64, values []T) ([]byte, error) {
	if *encoders == nil {
		*encoders = map[uint64]*numeric.Encoder[T]{}
	}
	e := (*encoders)[key]
	dst, err := appendTree(s, &e, 3, dst, values, bitmap.All(len(values)))
	(*encoders)[key] = e
	return dst, err
}

// AppendCodes writes dictionary codes, always as a tree.
func (s *Numbers) AppendCodes(dst []byte, codes []uint32) ([]byte, error) {
	return appendTree(s, &s.codes, 0, dst, codes, bitmap.All(len(codes)))
}

// AppendLengths writes the lengths of distinct values. nested tells whether they
// became a tree.
func (s *Numbers) AppendLengths(dst []byte, lengths []uint32) (out []byte, nested bool, err error) {
	return appendPart(s, &s.lengths, 1, dst, lengths)
}

// AppendValueLengths writes the length of every value.
func (s *Numbers) AppendValueLengths(dst []byte, lengths []uint32) (out []byte, nested bool, err error) {
	return appendPart(s, &s.values, 0, dst, lengths)
}

// AppendCounts writes the lengths of templates, or how many tokens each value has, always as a tree.
func (s *Numbers) AppendCounts(dst []byte, counts []uint32) ([]byte, error) {
	return appendTree(s, &s.lengths, 1, dst, counts, bitmap.All(len(counts)))
}

// appendOffsets writes offsets.
func (s *Numbers) appendOffsets(dst []byte, offsets []uint64) (out []byte, nested bool, err error) {
	return appendPart(s, &s.offsets, 0, dst, offsets)
}

// AppendTokenHeads writes the heads of tokens, always as a tree.
func (s *Numbers) AppendTokenHeads(dst []byte, heads []uint8) ([]byte, error) {
	return appendTree(s, &s.heads, 0, dst, heads, bitmap.All(len(heads)))
}

// AppendTokens writes the codes of tokens, always as a tree. There is one choice for many: frequent ones take fewer bits, in profiles that are
// read fast all take the same, or they are compressed if sequences of them repeat.
func (s *Numbers) AppendTokens(dst []byte, tokens []uint16) ([]byte, error) {
	if s.brief {
		return numeric.AppendTreeAs(dst, tokens, bitmap.All(len(tokens)), fastShapes[0])
	}
	n := len(tokens)
	if s.shapes != nil || n < manyTokens && !s.Thorough() || n < fewTokens {
		return appendTree(s, &s.tokens, 2, dst, tokens, bitmap.All(n))
	}
	if s.Thorough() || s.trial || s.tokenPlan.left == 0 {
		return s.chooseTokens(dst, tokens)
	}
	p, at := &s.tokenPlan, len(dst)
	p.left--
	dst, err := numeric.AppendTreeAs(dst, tokens, bitmap.All(len(tokens)), p.shape)
	if 4*1024*(len(dst)-at)/len(tokens) > 5*p.bytes {
		p.left = 0
	}
	return dst, err
}

// tokenPlan is a choice for many codes of tokens.
type tokenPlan struct {
	shape string
	left  int // calls that follow it; fewer if codes become a quarter larger
	bytes int // of 1024 tokens
}

// chooseTokens writes codes in the shape that is best for the first of them.
func (s *Numbers) chooseTokens(dst []byte, tokens []uint16) (_ []byte, err error) {
	shapes, lookedAt, saving := fastShapes, 64<<10, 6
	switch s.Options.Profile {
	case encoding.HighCompression:
		shapes, lookedAt, saving = smallShapes, 256<<10, 32
	case encoding.MinimalSize:
		shapes, lookedAt, saving = smallestShapes, len(tokens), 64
	}
	at, best, least, last, size := len(dst), "", 0, "", 0
	part := tokens[:min(len(tokens), lookedAt)]
	for _, shape := range shapes {
		if shape == slowShape && size > least+least/8 {
			break // a better level would not win
		}
		last = shape
		if dst, err = numeric.AppendTreeAs(dst[:at], part, bitmap.All(len(part)), last); err != nil {
			return dst, err
		}
		if size = len(dst) - at; best == "" || size < least-least/saving {
			best, least = last, size
		}
	}
	if best != last || len(part) < len(tokens) {
		dst, err = numeric.AppendTreeAs(dst[:at], tokens, bitmap.All(len(tokens)), best)
	}
	s.tokenPlan = tokenPlan{best, planTokens, 1024 * (len(dst) - at) / len(tokens)}
	return dst, err
}

// Shapes of many codes of tokens, the fastest first.
var (
	fastShapes     = []string{"FLBitPack", "LZ4", "Zstd"}
	smallShapes    = []string{"PrefixBins", "Zstd"}
	smallestShapes = []string{"PrefixBins", "Zstd", slowShape}
)

const slowShape = "Zstd[2]" // takes several times as long as Zstd

const (
	fewTokens  = 2 << 10  // fewer are not worth a table of their frequencies
	manyTokens = 16 << 10 // the last chunk of 1,024 does not count any more
	planTokens = 7        // calls
)

// AppendIntegers writes the integers of decimals, always as a tree.
func (s *Numbers) AppendIntegers(dst []byte, integers []int64, valid bitmap.Bits) ([]byte, error) {
	return appendTree(s, &s.ints, 0, dst, integers, valid)
}

// appendTree writes a part of a tree as one.
func appendTree[T numeric.Value](s *Numbers, e **numeric.Encoder[T], part int, dst []byte, values []T, valid bitmap.Bits) ([]byte, error) {
	if s.shapes != nil {
		return numeric.AppendTreeAs(dst, values, valid, s.shapes[part])
	}
	return encoderOf(e, s.Options).AppendTree(dst, values, valid), nil
}

func encoderOf[T numeric.Value](e **numeric.Encoder[T], o encoding.Options) *numeric.Encoder[T] {
	if *e == nil {
		*e = numeric.NewEncoder[T](o)
	}
	return *e
}

// appendPart writes a part of a tree as one, or raw if that is not larger.
func appendPart[T uint32 | uint64](s *Numbers, e **numeric.Encoder[T], part int, dst []byte, values []T) ([]byte, bool, error) {
	if s.shapes != nil && s.shapes[part] == "raw" {
		return appendRaw(dst, values), false, nil
	}
	at := len(dst)
	dst, err := appendTree(s, e, part, dst, values, bitmap.All(len(values)))
	if s.shapes == nil && len(dst)-at >= len(values)*binary.Size(T(0)) {
		return appendRaw(dst[:at], values), false, nil
	}
	return dst, true, err
}

func appendRaw[T uint32 | uint64](dst []byte, values []T) []byte {
	for _, v := range values {
		if binary.Size(v) == 4 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
	}
	return dst
}

// AppendOffsets appends the offsets of values, unless these have a fixed size, and
// writes into the header, at width and nested, how wide they are and whether they are a tree.
func (w *Workspace) AppendOffsets(dst []byte, v vector.Values, width, nested int, nums *Numbers) ([]byte, error) {
	if v.Fixed > 0 {
		return dst, nil
	}
	dst[width] = 8
	dst, tree, err := nums.appendOffsets(dst, w.relative(v))
	if tree {
		dst[nested] = 1
	}
	return dst, err
}

// relative is the offsets of v, from 0.
func (w *Workspace) relative(v vector.Values) []uint64 {
	offsets := scratch.Slice(&w.offsets, v.N+1)
	for i, at := range v.Offsets {
		offsets[i] = uint64(at - v.Offsets[0])
	}
	return offsets
}

// Pad appends zeros until dst is a multiple of 8 long from start on.
func Pad(dst []byte, start int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:-(len(dst)-start)&7]...)
}
