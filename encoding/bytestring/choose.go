package bytestring

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
)

// method is an encoding with the level of its compressor.
type method struct {
	row   *row // nil before the first block
	level zstd.EncoderLevel
}

// policy is what a profile stands for.
type policy struct {
	values, bytes int      // most that a block holds
	byteCost      int64    // what a stored byte counts for, in picoseconds of decoding
	methods       []method // in the order of trial
}

// Blocks of Balanced stay in a core's cache while they are decoded; those of
// other profiles are larger, as they get smaller in sum that way. Stronger levels
// of Zstd are not always smaller: on numbers in 16 bytes the fastest one is.
var policies = withMethods([...]policy{
	encoding.Balanced:           {16 << 10, 128 << 10, 4_000, nil},
	encoding.ProfilePlain:       {16 << 10, 128 << 10, 0, nil},
	encoding.MinimalCompression: {16 << 10, 128 << 10, 1_000, nil},
	encoding.HighCompression:    {64 << 10, 512 << 10, 20_000, nil},
	encoding.MinimalSize:        {64 << 10, 4 << 20, 200_000, nil},
})

// withMethods gives each profile the methods that the rows of the encodings name.
func withMethods(all [encoding.MinimalSize + 1]policy) [encoding.MinimalSize + 1]policy {
	for _, r := range rows {
		for profile, levels := range r.tries {
			for _, level := range levels {
				all[profile].methods = append(all[profile].methods, method{r, level})
			}
		}
	}
	return all
}

func policyOf(p encoding.Profile) *policy {
	if int(p) >= len(policies) {
		p = encoding.Balanced
	}
	return &policies[p]
}

const (
	exploreEvery = 64 // blocks, doubled as long as the same is best
	exploreMost  = 512
)

// plan is what was found out about the column's blocks.
type plan struct {
	method method // without a row before the first block
	other  method // the best but a dictionary, for blocks of too many distinct values
	since  int    // blocks since all were tried
	every  int    // blocks after which they are tried again
	stored int64  // bytes of the block that was tried, and of its Plain
	plain  int64
	fsst   *symbols
}

// cost is what a tree counts for.
func (e *Encoder) cost(r *row, size int, in *input) int64 {
	c := r.cost
	if in.Fixed > 0 {
		c = r.fixedCost
	}
	return int64(size)*(e.policy.byteCost+c.perStored) + int64(len(in.Bytes()))*c.perByte + int64(in.N)*c.perValue
}

// appendTree writes the tree that costs least.
func (e *Encoder) appendTree(w *workspace, dst []byte, in input) ([]byte, error) {
	if len(e.policy.methods) == 0 {
		return appendPlain(dst, in.Values), nil
	}
	if in.Fixed == 0 {
		if value, ok := in.same(); ok {
			return appendSingleValue(dst, value), nil
		}
	}
	if e.plan.method.row == nil || e.plan.since >= e.plan.every {
		return e.explore(w, dst, &in)
	}
	e.plan.since++
	at := len(dst)
	dst, ok, err := e.appendAs(w, dst, &in, e.plan.method)
	if err == nil && !ok {
		dst, ok, err = e.appendAs(w, dst[:at], &in, e.plan.other)
	}
	if err != nil {
		return dst, err
	}
	size, plain := int64(len(dst)-at), int64(in.plainLen())
	if !ok || size >= plain || 4*size*e.plan.plain > 5*plain*e.plan.stored {
		return e.explore(w, dst[:at], &in)
	}
	return dst, nil
}

// explore finds out what is best, and writes it. Of a block that was planned to be
// longer than the profile's, a part is looked at.
func (e *Encoder) explore(w *workspace, dst []byte, in *input) ([]byte, error) {
	n := e.fit(in.Values, e.policy.bytes)
	if n == in.N || n == 0 {
		return e.try(w, dst, in)
	}
	part := input{Values: in.Slice(0, n), valid: in.valid.Slice(0, n)}
	part.nulls = part.valid.Nulls()
	at := len(dst)
	dst, err := e.try(w, dst, &part)
	if err != nil {
		return dst, err
	}
	for _, m := range [...]method{e.plan.method, e.plan.other} {
		var ok bool
		dst, ok, err = e.appendAs(w, dst[:at], in, m)
		if err != nil {
			return dst, err
		}
		if ok && len(dst)-at < in.plainLen() {
			e.plan.method = m // what did not do is not planned for
			e.plan.stored, e.plan.plain = int64(len(dst)-at), int64(in.plainLen())
			return dst, nil
		}
	}
	return appendPlain(dst[:at], in.Values), nil
}

// try tries all encodings of the profile, writes the best and remembers it.
func (e *Encoder) try(w *workspace, dst []byte, in *input) ([]byte, error) {
	start := len(dst)
	dst = appendPlain(dst, in.Values)
	best := e.cost(&plain, len(dst)-start, in)
	other := best
	before := e.plan
	e.plan = plan{method: method{row: &plain}, other: method{row: &plain}, plain: int64(in.plainLen()), every: exploreEvery}
	for _, m := range e.policy.methods {
		if !e.allows(m.row) || m.row.suits != nil && !m.row.suits(e, w, in) {
			continue
		}
		at := len(dst)
		var ok bool
		var err error
		if dst, ok, err = e.appendAs(w, dst, in, m); err != nil {
			return dst, err
		}
		size := len(dst) - at
		if !ok || size >= in.plainLen() {
			dst = dst[:at]
			continue
		}
		cost := e.cost(m.row, size, in)
		if m.row.burden != nil {
			cost += m.row.burden(m.level, cost)
		}
		if !m.row.limited && cost < other {
			other, e.plan.other = cost, m
		}
		if cost < best {
			best, e.plan.method = cost, m
			copy(dst[start:], dst[at:])
			at = start + size
		}
		dst = dst[:at]
	}
	if !e.plan.method.row.symbols && !e.plan.other.row.symbols {
		e.plan.fsst = nil
	}
	if e.plan.method == before.method && e.plan.fsst == nil { // a table of symbols ages
		e.plan.every = min(2*before.every, exploreMost)
	}
	e.plan.stored = int64(len(dst) - start)
	return dst, nil
}

// allows tells whether an encoding may be in the shard, and no other is tried in its place.
func (e *Encoder) allows(r *row) bool {
	if r.needs&^e.o.Features != 0 {
		return false
	}
	for _, m := range e.policy.methods {
		if m.row.replaces == r.code && m.row.needs&^e.o.Features == 0 {
			return false
		}
	}
	return true
}

// appendAs writes values by a method. ok is false if they do not suit it.
func (e *Encoder) appendAs(w *workspace, dst []byte, in *input, m method) (out []byte, ok bool, err error) {
	return m.row.append(w, dst, in, request{numbers: &e.numbers, level: m.level, symbols: e.plan.fsst})
}
