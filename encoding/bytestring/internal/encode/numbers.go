package encode

import (
	"encoding/binary"
	"maps"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Numbers writes the numbers in a column's trees, in the best form or in given ones.
type Numbers struct {
	Options  encoding.Options
	encoders map[Role]any   // of each, a numeric.Encoder of the type of its numbers
	columns  map[uint64]any // the same for the fields of columns, by key
	brief    bool
	shapes   []string // forced forms, in the order of the tree's parts; nil: choose
	err      error    // a forced form does not take the numbers
}

// Role is what numbers are in a tree. Those of each have an encoder, which remembers the best form from block to block.
type Role uint8

// The roles.
const (
	Codes   Role = iota // of distinct values, of patterns, or lengths of prefixes
	Lengths             // of what is distinct, or how many tokens each value has
	ValueLengths
	Offsets
	Integers // of decimals
	TokenHeads
	Tokens
	Places // of fields
)

// clone is numbers for another goroutine, with the same memory of earlier ones.
func (s *Numbers) clone() Numbers {
	c := *s
	c.encoders, c.columns = cloneAll(s.encoders), cloneAll(s.columns)
	return c
}

func cloneAll[K comparable](encoders map[K]any) map[K]any {
	c := maps.Clone(encoders)
	for key, e := range c {
		switch e := e.(type) {
		case *numeric.Encoder[uint8]:
			c[key] = e.Clone()
		case *numeric.Encoder[uint16]:
			c[key] = e.Clone()
		case *numeric.Encoder[uint32]:
			c[key] = e.Clone()
		case *numeric.Encoder[uint64]:
			c[key] = e.Clone()
		case *numeric.Encoder[int64]:
			c[key] = e.Clone()
		}
	}
	return c
}

// forget drops the memory of earlier numbers, but for that of columns of fields.
func (s *Numbers) forget() {
	*s = Numbers{Options: s.Options, brief: s.brief, columns: s.columns, shapes: s.shapes}
}

// Thorough tells whether numbers that are more or less frequent may take more or less bits.
func (s *Numbers) Thorough() bool {
	return s.Options.Profile == encoding.HighCompression || s.Options.Profile == encoding.MinimalSize
}

// AppendNumbers writes numbers as a tree. part is the index of its form among those of [Table.AppendTreeAs].
func AppendNumbers[T numeric.Value](s *Numbers, dst []byte, role Role, part int, values []T) []byte {
	return appendTree(s, &s.encoders, role, part, dst, values, bitmap.All(len(values)))
}

// AppendIntegers writes the integers of decimals.
func (s *Numbers) AppendIntegers(dst []byte, integers []int64, valid bitmap.Bits) []byte {
	return appendTree(s, &s.encoders, Integers, 0, dst, integers, valid)
}

// AppendColumn writes the fields of a column. key tells its memory from that of other columns.
func AppendColumn[T numeric.Value](s *Numbers, dst []byte, key uint64, fields []T) []byte {
	return appendTree(s, &s.columns, key, 3, dst, fields, bitmap.All(len(fields)))
}

func appendTree[K comparable, T numeric.Value](s *Numbers, encoders *map[K]any, key K, part int, dst []byte, values []T, valid bitmap.Bits) []byte {
	if s.shapes != nil {
		return appendAs(s, dst, values, valid, s.shapes[part])
	}
	if *encoders == nil {
		*encoders = map[K]any{}
	}
	e, ok := (*encoders)[key].(*numeric.Encoder[T])
	if !ok {
		e = numeric.NewEncoder[T](s.Options)
		(*encoders)[key] = e
	}
	return e.AppendTree(dst, values, valid)
}

// appendAs writes numbers in a given form.
func appendAs[T numeric.Value](s *Numbers, dst []byte, values []T, valid bitmap.Bits, shape string) []byte {
	out, err := numeric.AppendTreeAs(dst, values, valid, shape)
	if err != nil {
		s.err = err
		return dst
	}
	return out
}

// AppendPart writes numbers as a tree, or raw if that is not larger. nested tells whether they became a tree.
func AppendPart[T uint32 | uint64](s *Numbers, dst []byte, role Role, part int, values []T) (out []byte, nested bool) {
	if s.shapes != nil && s.shapes[part] == "raw" {
		return appendRaw(dst, values), false
	}
	at := len(dst)
	dst = AppendNumbers(s, dst, role, part, values)
	if s.shapes == nil && len(dst)-at >= len(values)*binary.Size(T(0)) {
		return appendRaw(dst[:at], values), false
	}
	return dst, true
}

// AppendTokens writes the codes of tokens, always as a tree. The first of many tell the form of all: frequent ones take fewer bits, in profiles that are
// read fast all take the same, or they are compressed if sequences of them repeat.
func (s *Numbers) AppendTokens(dst []byte, tokens []uint16) []byte {
	if s.brief {
		return appendAs(s, dst, tokens, bitmap.All(len(tokens)), fastShapes[0])
	}
	n := len(tokens)
	if s.shapes != nil || n < manyTokens && !s.Thorough() || n < fewTokens {
		return AppendNumbers(s, dst, Tokens, 2, tokens)
	}
	shapes, lookedAt, saving := fastShapes, 64<<10, 6
	switch s.Options.Profile {
	case encoding.HighCompression:
		shapes, lookedAt, saving = smallShapes, 256<<10, 32
	case encoding.MinimalSize:
		shapes, lookedAt, saving = smallestShapes, n, 64
	}
	at, best, least, last, size := len(dst), "", 0, "", 0
	part := tokens[:min(n, lookedAt)]
	for _, shape := range shapes {
		if shape == slowShape && size > least+least/8 {
			break // a better level would not win
		}
		last = shape
		dst = appendAs(s, dst[:at], part, bitmap.All(len(part)), last)
		if size = len(dst) - at; best == "" || size < least-least/saving {
			best, least = last, size
		}
	}
	if best != last || len(part) < n {
		dst = appendAs(s, dst[:at], tokens, bitmap.All(len(tokens)), best)
	}
	return dst
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
)

func appendRaw[T uint32 | uint64](dst []byte, values []T) []byte {
	dst, _ = binary.Append(dst, binary.LittleEndian, values) // never fails
	return dst
}

// AppendOffsets appends the offsets of values, unless these have a fixed size, and
// writes into the header, at width and nested, how wide they are and whether they are a tree.
func (w *Workspace) AppendOffsets(dst []byte, v vector.Values, width, nested int, nums *Numbers) []byte {
	if v.Fixed > 0 {
		return dst
	}
	dst[width] = 8
	offsets := scratch.Slice(&w.offsets, v.N+1)
	for i, at := range v.Offsets {
		offsets[i] = uint64(at - v.Offsets[0])
	}
	dst, tree := AppendPart(nums, dst, Offsets, 0, offsets)
	if tree {
		dst[nested] = 1
	}
	return dst
}

// Pad appends zeros until dst is a multiple of 8 long from start on.
func Pad(dst []byte, start int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:-(len(dst)-start)&7]...)
}

// EndPart ends a part, which begins at some place of dst, of the tree that begins at start: it notes its size in the header, and pads it.
func EndPart(dst []byte, start, part, size int) []byte {
	binary.LittleEndian.PutUint32(dst[start+size:], uint32(len(dst)-part))
	return Pad(dst, start)
}
