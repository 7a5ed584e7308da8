package bytestring

import (
	"math"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/presence"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Encoder writes the blocks of one column. It tries all encodings of its profile
// on the first block, and again from time to time and when blocks get larger; in
// between it goes by what it found. The same values in the same calls give the
// same bytes. It serves one goroutine at a time.
type Encoder struct {
	o       encoding.Options
	fixed   int
	policy  *policy
	numbers numbers
	plan    plan
	likely  method // what the first values suggest
}

// NewEncoder makes an encoder of values of fixed bytes or, if fixed is 0, of any
// length. It takes no memory worth mention before the first block.
func NewEncoder(o encoding.Options, fixed int) *Encoder {
	e := &Encoder{o: o, fixed: fixed, policy: policyOf(o.Profile)}
	e.numbers.o = o
	return e
}

// Clone makes another encoder that has found out the same, for another goroutine.
func (e *Encoder) Clone() *Encoder {
	c := *e
	c.numbers.codes = c.numbers.codes.Clone()
	c.numbers.lengths = c.numbers.lengths.Clone()
	c.numbers.values = c.numbers.values.Clone()
	c.numbers.offsets = c.numbers.offsets.Clone()
	c.numbers.ints = c.numbers.ints.Clone()
	return &c
}

// Plan says how many of the values that are staged the next block should hold:
// as many as the profile's bounds on values and bytes allow, at least one. The
// buffer has as many values before them as at says. A result of v.N may grow once
// more values are there.
func (e *Encoder) Plan(at int64, v Values, valid bitmap.Bits) (blockLen int) {
	n := e.fit(v, e.policy.bytes)
	if n < v.N && e.likely.row == nil && v.Fixed == 0 {
		e.likely = e.look(v.Slice(0, e.fit(v, lookBytes)), valid)
	}
	if e.templates() {
		return planTemplates(at, v)
	}
	if n == v.N {
		return n
	}
	if rest := n % packLen; 4*rest <= n {
		n -= rest
	}
	return max(n, 1)
}

// Whole tells whether a block of n values, which [Encoder.Plan] said, stays the
// same whatever values follow.
func (e *Encoder) Whole(at int64, n int) bool {
	if e.templates() {
		return (at+int64(n))%templateValues == 0
	}
	return e.fixed > 0 && n == min(e.policy.values, e.policy.bytes/e.fixed) && n%packLen == 0
}

// A block of templates, which all its values share, holds so many values and
// bytes of them at most.
const (
	templateValues = 64 << 10
	templateBytes  = 8 << 20
)

// templates tells whether the next blocks are probably templates.
func (e *Encoder) templates() bool {
	m := e.plan.method
	if m.row == nil {
		m = e.likely
	}
	return m.row != nil && m.row.long
}

// Longest is the most bytes of values that a block is planned to have now.
func (e *Encoder) Longest() int {
	if e.templates() {
		return templateBytes
	}
	return e.policy.bytes
}

// planTemplates plans blocks that end at multiples of templateValues, as readers'
// batches do, so that they are decoded to their place.
func planTemplates(at int64, v Values) int {
	n := templateValues - int(at%templateValues)
	for n > 1 && v.Offsets[min(n, v.N)]-v.Offsets[0] > templateBytes {
		n = (n + 1) / 2
	}
	return min(n, v.N)
}

// lookBytes is how much is looked at before the first block is planned.
const lookBytes = 512 << 10

// look is what is best for the first values, in view of which the first block is
// planned. It changes nothing else.
func (e *Encoder) look(v Values, valid bitmap.Bits) method {
	if !e.o.Features.Has(edition.Template) || len(e.policy.methods) == 0 {
		return method{row: &plain}
	}
	in := input{Values: v, valid: valid.Slice(0, v.N)}
	in.nulls = in.valid.Nulls()
	if _, same := in.same(); same {
		return method{row: &plain}
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	trial := NewEncoder(e.o, 0)
	if _, err := trial.explore(w, nil, &in); err != nil {
		return method{row: &plain} // AppendBlock will say so
	}
	return trial.plan.method
}

// fit is how many of v's values a block of at most so many bytes may hold.
func (e *Encoder) fit(v Values, bytes int) int {
	n := min(v.N, e.policy.values)
	bytes = min(bytes, e.policy.bytes)
	if v.Fixed > 0 {
		return min(n, bytes/v.Fixed)
	} else if n > 0 {
		n = prefix(v.Offsets[:n+1], v.Offsets[0]+int64(bytes))
	}
	return n
}

// packLen is how many numbers are packed at a time: a block of so many values,
// or a multiple, has offsets and codes without filler. Few more are not worth it.
const packLen = 1024

// prefix is how many values end at most at a place.
func prefix(offsets []int64, most int64) int {
	lo, hi := 0, len(offsets)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if offsets[mid] <= most {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// AppendBlock appends a block of all values of v, of which valid says which are
// not null; its Data may be nil if all are. Null slots of any length must be
// empty. The tree is never larger than that of Plain. A block of more than 2 GiB
// of values is an error.
func (e *Encoder) AppendBlock(dst []byte, v Values, valid bitmap.Bits) ([]byte, error) {
	if size := len(v.Bytes()); size > math.MaxInt32 {
		return dst, misuse("block of %d values, %d bytes", v.N, size)
	}
	if valid.Data == nil {
		valid = bitmap.All(v.N)
	}
	in := input{Values: v, valid: valid}
	if valid.Data != nil {
		in.nulls = valid.Nulls()
	}
	dst, mark := block.Begin(dst)
	if !e.o.NoPresence {
		dst = presence.Append(dst, valid, in.nulls, e.o.Profile == encoding.ProfilePlain)
	}
	dst = block.EndPresence(dst, mark)
	w := workspaces.Get().(*workspace)
	dst, err := e.appendTree(w, dst, in)
	workspaces.Put(w)
	if err != nil {
		return dst, err
	}
	return block.End(dst, mark, !e.o.NoChecksums), nil
}

// input is what a tree is to be made of.
type input struct {
	Values
	valid bitmap.Bits
	nulls int
}

// plainLen is the length of the Plain tree.
func (in *input) plainLen() int {
	n := 3 + len(in.Bytes())
	if in.Fixed == 0 {
		n += 8 * (in.N + 1)
	}
	return n
}

// same tells whether all values but the nulls are equal, and gives that value.
func (in *input) same() (value []byte, ok bool) {
	first := -1
	for i := range in.N {
		if !in.valid.At(i) {
			continue
		}
		if first < 0 {
			first, value = i, in.At(i)
		} else if string(in.At(i)) != string(value) {
			return nil, false
		}
	}
	return value, true
}
