package encode

import (
	"fmt"
	"math"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Encoder is that of package bytestring.
type Encoder struct {
	o       encoding.Options
	fixed   int
	table   *Table
	policy  *policy
	numbers Numbers
	texts   Texts
	kept    Kept
	plan    plan
	brief   bool               // only what is quickly tried is
	unequal bool               // no dictionary is tried
	likely  method             // the best for the first values
	share   bool               // whether blocks may share a dictionary
	shared  *onpair.Dictionary // theirs, nil if there is none
	drifted bool               // it does not suit the values any more
	mean    int64              // bytes of a value
	ranked  ranking            // of the next block, if it is known
}

// New makes an encoder of values of fixed bytes or, if fixed is 0, of any length.
func New(t *Table, o encoding.Options, fixed int) *Encoder {
	return newEncoder(t, o, fixed, 0)
}

// newEncoder makes an encoder of trees that are so many levels deep in another.
func newEncoder(t *Table, o encoding.Options, fixed, level int) *Encoder {
	return &Encoder{o: o, fixed: fixed, table: t, policy: t.policyOf(o.Profile), numbers: Numbers{Options: o},
		texts: Texts{table: t, options: o, level: level}}
}

// ShareDictionary allows blocks to share a dictionary, for a writer that stores what [Encoder.AppendDictionary] appends. It is learnt from the
// first values that are planned, if there are enough for several blocks.
func (e *Encoder) ShareDictionary() { e.share = e.o.Features.Has(edition.SharedDictionaries) }

// AppendDictionary appends the dictionary that blocks share, as a buffer with the id [tree.DictionaryID]: nothing if there is none.
func (e *Encoder) AppendDictionary(dst []byte) []byte {
	if e.shared == nil {
		return dst
	}
	return tree.AppendDictionary(dst, e.shared)
}

// Clone makes another encoder with the same memory of earlier blocks, for another goroutine.
func (e *Encoder) Clone() *Encoder {
	c := *e
	c.numbers = c.numbers.clone()
	c.texts = c.texts.clone()
	return &c
}

// Brief says whether the values that follow are all that the column has, and few: then only encodings are tried that take hardly
// longer than writing them, in Balanced of edition 2026. After earlier blocks, in another stripe for example, there is no difference. In all profiles of
// that edition, no dictionary is tried if unequal says that most of the values are distinct.
func (e *Encoder) Brief(brief, unequal bool) {
	e.brief = brief && e.plan.method.row == nil && e.o.Features != 0 && e.o.Profile == encoding.Balanced
	e.unequal = unequal && e.o.Features != 0
	e.numbers.brief = e.brief
}

// Plan says how many of the staged values the next block should hold:
// as many as the profile's bounds on values and bytes allow, at least one. The
// buffer has at values before them. A result of v.N may grow once more values are
// staged.
func (e *Encoder) Plan(at int64, v vector.Values, valid bitmap.Bits) (blockLen int) {
	e.measure(v)
	if e.brief && v.Fixed == 0 {
		return e.planLong(at, v) // one block is smaller, and explored once
	}
	n := e.fit(v, e.blockBytes())
	if n < v.N && e.plan.method.row == nil && e.likely.row == nil && v.Fixed == 0 {
		e.likely = e.look(v.Slice(0, e.planLong(at, v)), valid)
	}
	if e.shared != nil {
		n = min(v.N, e.o.MaxBlockValues())
		most := int64(sharedBytes)
		if e.numbers.Thorough() {
			most /= 2 // their codes are read one by one
		}
		n = max(prefix(v.Offsets[:n+1], v.Offsets[0]+most), min(n, 1))
	}
	if e.long() {
		return e.planLong(at, v)
	}
	if n == v.N {
		return n
	}
	if rest := n % packLen; 4*rest <= n {
		n -= rest
	}
	return max(n, 1)
}

// Whole tells whether a block of n values, the result of [Encoder.Plan], stays the
// same whatever values follow.
func (e *Encoder) Whole(at int64, n int) bool {
	if e.long() {
		return (at+int64(n))%int64(e.o.MaxBlockValues()) == 0
	}
	return e.fixed > 0 && n == min(e.policy.values, e.o.MaxBlockValues(), e.policy.bytes/e.fixed) && n%packLen == 0
}

// Longest is the most bytes of values that a block is planned to have now.
func (e *Encoder) Longest() int {
	if e.long() {
		return longBytes
	}
	return e.blockBytes()
}

// Values of so many bytes on the average are documents: compressors of bytes find nearly all that any encoding does, and take a fraction of its
// time. A block holds at least some of them.
const (
	documentBytes  = 2 << 10
	documentsBytes = 1 << 20
)

// Files have so many bytes on the average, and often repeat others: so blocks hold more of them.
const (
	fileBytes  = 24 << 10
	filesBytes = 4 << 20
)

// measure takes the average length of values, but in edition reference.
func (e *Encoder) measure(v vector.Values) {
	if e.mean = 0; e.o.Features != 0 && v.N > 0 {
		e.mean = v.Size() / int64(v.N)
	}
}

// documents tells whether the values are long.
func (e *Encoder) documents() bool { return e.mean >= documentBytes }

// blockBytes is the most bytes of values that a block holds, but a long one.
func (e *Encoder) blockBytes() int {
	switch {
	case e.mean >= fileBytes:
		return max(e.policy.bytes, filesBytes)
	case e.documents():
		return max(e.policy.bytes, documentsBytes)
	}
	return e.policy.bytes
}

// AppendBlock appends a block of all values of v. valid says which are not null;
// its Data may be nil if none is. Null slots of any length must be
// empty. The tree is never larger than that of Plain. A block of more than 2 GiB
// of values is an error.
func (e *Encoder) AppendBlock(dst []byte, v vector.Values, valid bitmap.Bits) ([]byte, error) {
	if size := len(v.Bytes()); size > math.MaxInt32 {
		return dst, fmt.Errorf("bytestring: block of %d values, %d bytes", v.N, size)
	}
	if valid.Data == nil {
		valid = bitmap.All(v.N)
	}
	in := Input{Values: v, Valid: valid}
	if valid.Data != nil {
		in.Nulls = valid.Nulls()
	}
	e.measure(v)
	dst, mark := encoding.BeginBlock(dst)
	if !e.o.NoPresence {
		dst = encoding.AppendPresence(dst, valid, in.Nulls, e.o)
	}
	dst = encoding.EndPresence(dst, mark)
	return encoding.EndBlock(e.appendTree(dst, in), mark, !e.o.NoChecksums), nil
}

// longBytes is the most bytes of values that a long block holds.
const longBytes = 8 << 20

// long tells whether the encoding that the next blocks will probably have asks for long ones.
func (e *Encoder) long() bool {
	m := e.plan.method
	if m.row == nil {
		m = e.likely
	}
	return m.row != nil && m.row.Long && !(m.row.Short && e.documents())
}

// planLong plans blocks that end at multiples of the most values of one, as readers' batches do, so that they are decoded to their
// place.
func (e *Encoder) planLong(at int64, v vector.Values) int {
	n := e.o.MaxBlockValues()
	n -= int(at % int64(n))
	for n > 1 && v.Offsets[min(n, v.N)]-v.Offsets[0] > longBytes {
		n = (n + 1) / 2
	}
	return min(n, v.N)
}

// look ranks methods by the first values, which decides about the length of the first block.
func (e *Encoder) look(v vector.Values, valid bitmap.Bits) method {
	plain := method{row: e.table.plain}
	if !slices.ContainsFunc(e.policy.methods, func(m method) bool { return m.row.Long && e.allows(m) }) {
		return plain
	}
	in := Input{Values: v, Valid: valid.Slice(0, v.N), Brief: e.brief}
	in.Nulls = in.Valid.Nulls()
	if _, same := in.Same(); same {
		return plain
	}
	w := workspaces.Get().(*Workspace)
	defer workspaces.Put(w)
	ranked := e.rank(w, &in)
	if len(ranked.methods) == 0 || ranked.methods[0].cost == 0 {
		return plain // without samples
	}
	best := ranked.methods[0].method
	if e.shares(&ranked) && len(v.Bytes()) >= sharedFrom {
		if e.shared = best.row.Share(w, &in, &ranked.learned, e.numbers.Thorough()); e.shared != nil {
			return plain
		}
	}
	e.ranked = ranked
	return best
}

// shares tells whether blocks should share a dictionary. Other encodings profit from long blocks, and estimates of these are not exact: where size
// counts most, there must be none that may be smaller.
func (e *Encoder) shares(r *ranking) bool {
	best := &r.methods[0]
	if !e.share || best.row.Share == nil || e.o.Profile == encoding.MinimalSize {
		return false
	}
	return !e.numbers.Thorough() || !slices.ContainsFunc(r.methods[1:], func(x estimate) bool { return x.row != best.row && 8*x.size < 9*best.size })
}

// Blocks that share a dictionary are so small that a value is read quickly.
const (
	sharedBytes = 512 << 10
	sharedFrom  = 1 << 20 // bytes of values, for fewer one block with its own dictionary is as good
)

// startBytes is how many bytes of values the encodings are ranked by of which a sample tells nothing.
const startBytes = 256 << 10 // at each level of nesting a quarter of that

// start is how many of v's values the encodings are ranked by of which a sample tells nothing.
func (e *Encoder) start(v vector.Values) int {
	bytes := startBytes >> (2 * e.texts.level)
	if e.o.Features != 0 {
		bytes = min(bytes, max(len(v.Bytes())/4, sampleMost))
	}
	if v.Fixed > 0 {
		return min(v.N, bytes/v.Fixed)
	}
	return max(prefix(v.Offsets[:v.N+1], v.Offsets[0]+int64(bytes)), min(v.N, 1))
}

// fit is how many of v's values a block of at most so many bytes may hold.
func (e *Encoder) fit(v vector.Values, bytes int) int {
	n := min(v.N, e.policy.values, e.o.MaxBlockValues())
	bytes = min(bytes, e.blockBytes())
	if v.Fixed > 0 {
		return min(n, bytes/v.Fixed)
	} else if n > 0 {
		n = prefix(v.Offsets[:n+1], v.Offsets[0]+int64(bytes))
	}
	return n
}

// packLen is how many numbers are packed at a time. Offsets and codes of a block of a multiple of so many values need no
// filler, which few more values are not worth.
const packLen = 1024

// prefix is how many values end at or before limit.
func prefix(offsets []int64, limit int64) int {
	lo, hi := 0, len(offsets)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if offsets[mid] <= limit {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
