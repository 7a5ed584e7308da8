package bytestring

import (
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// method is an encoding, of Zstd with a level.
type method struct {
	code  encoding.Code
	level zstd.EncoderLevel
}

// symbols tells whether it needs a table of symbols.
func (m method) symbols() bool { return m == byFSST || m == byGroups }

var (
	plainly      = method{code: encoding.Plain}
	byDictionary = method{code: encoding.BlockDictionary}
	byLZ4        = method{code: encoding.LZ4}
	byFlatLZ     = method{code: encoding.FlatLZ}
	byFSST       = method{code: encoding.FSST}
	byGroups     = method{code: encoding.GroupedFSST}
	byDecimals   = method{code: encoding.DecimalTree}
	byTemplates  = method{code: encoding.Template}
	byTemplatesZ = method{encoding.Template, zstd.SpeedFastest} // stronger levels are larger, on digits
	byZstdFast   = method{encoding.Zstd, zstd.SpeedFastest}
	byZstd       = method{encoding.Zstd, zstd.SpeedDefault}
	byZstdBetter = method{encoding.Zstd, zstd.SpeedBetterCompression}
	byZstdBest   = method{encoding.Zstd, zstd.SpeedBestCompression}
)

// policy is what a profile stands for.
type policy struct {
	values, bytes int      // most that a block holds
	byteCost      int64    // what a stored byte counts for, in picoseconds of decoding
	methods       []method // in the order of trial: FSST goes by what LZ4 or FlatLZ has shown
}

// Blocks of Balanced stay in a core's cache while they are decoded; those of
// other profiles are larger, as they get smaller in sum that way. Stronger levels
// of Zstd are not always smaller: on numbers in 16 bytes the fastest one is.
var policies = [...]policy{
	encoding.Balanced:           {16 << 10, 128 << 10, 4_000, []method{byDecimals, byDictionary, byTemplates, byFlatLZ, byLZ4, byFSST, byGroups, byZstdFast}},
	encoding.ProfilePlain:       {16 << 10, 128 << 10, 0, nil},
	encoding.MinimalCompression: {16 << 10, 128 << 10, 1_000, []method{byDecimals, byDictionary, byTemplates, byFlatLZ, byLZ4}},
	encoding.HighCompression:    {64 << 10, 512 << 10, 20_000, []method{byDecimals, byDictionary, byTemplatesZ, byLZ4, byZstdFast, byZstd}},
	encoding.MinimalSize:        {64 << 10, 4 << 20, 200_000, []method{byDecimals, byDictionary, byTemplatesZ, byLZ4, byZstdFast, byZstd, byZstdBetter, byZstdBest}},
}

func policyOf(p encoding.Profile) *policy {
	if int(p) >= len(policies) {
		p = encoding.Balanced
	}
	return &policies[p]
}

// decodeCost is what decoding takes, in picoseconds: for each byte of the values,
// each byte of the tree, and each value.
type decodeCost struct{ perByte, perStored, perValue int64 }

// decodeCosts and fixedCosts, of values of a fixed size, were measured on one core
// (BenchmarkDecode). They are constants, so that choices are the same everywhere.
var (
	decodeCosts = map[encoding.Code]decodeCost{
		encoding.Plain:           {50, 0, 1500},
		encoding.BlockDictionary: {100, 0, 2300},
		encoding.FSST:            {0, 600, 1700},
		encoding.GroupedFSST:     {0, 600, 1700},
		encoding.LZ4:             {200, 0, 1800},
		encoding.FlatLZ:          {100, 0, 1800},
		encoding.Zstd:            {600, 800, 1800},
		encoding.Template:        {250, 100, 5000},
	}
	fixedCosts = map[encoding.Code]decodeCost{
		encoding.Plain:       {50, 0, 0},
		encoding.FSST:        {0, 650, 0},
		encoding.GroupedFSST: {0, 650, 0},
		encoding.LZ4:         {160, 0, 0},
		encoding.FlatLZ:      {160, 0, 0},
		encoding.Zstd:        {330, 450, 0},
		encoding.DecimalTree: {0, 0, 2000},
	}
)

const (
	exploreEvery = 64 // blocks, doubled as long as the same is best
	exploreMost  = 512
	fewTemplates = 64       // templates that there may be, whatever the number of values
	fsstFrom     = 16 << 10 // bytes of values: for fewer the table is too large
	// LZ4 leaves less than this share of the bytes, in 1024ths, where FSST has no chance.
	fsstAbove = 256
)

// plan is what was found out about the column's blocks.
type plan struct {
	method method // its code is 0 before the first block
	other  method // the best but a dictionary, for blocks of too many distinct values
	since  int    // blocks since all were tried
	every  int    // blocks after which they are tried again
	stored int64  // bytes of the block that was tried, and of its Plain
	plain  int64
	fsst   *symbols
}

// cost is what a tree counts for.
func (e *Encoder) cost(code encoding.Code, size int, in *input) int64 {
	c := decodeCosts[code]
	if in.Fixed > 0 {
		c = fixedCosts[code]
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
	if e.plan.method.code == 0 || e.plan.since >= e.plan.every {
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
	best := e.cost(encoding.Plain, len(dst)-start, in)
	other := best
	before := e.plan
	e.plan = plan{method: plainly, other: plainly, plain: int64(in.plainLen()), every: exploreEvery}
	for _, m := range e.policy.methods {
		if !e.suits(w, m, in) {
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
		cost := e.cost(m.code, size, in)
		if m == byZstdBest {
			cost += cost / 20 // it takes five times as long as the level below
		}
		if m != byDictionary && cost < other {
			other, e.plan.other = cost, m
		}
		if cost < best {
			best, e.plan.method = cost, m
			copy(dst[start:], dst[at:])
			at = start + size
		}
		dst = dst[:at]
	}
	if !e.plan.method.symbols() && !e.plan.other.symbols() {
		e.plan.fsst = nil
	}
	if e.plan.method == before.method && e.plan.fsst == nil { // a table of symbols ages
		e.plan.every = min(2*before.every, exploreMost)
	}
	e.plan.stored = int64(len(dst) - start)
	return dst, nil
}

// suits tells whether a method is worth a trial, and prepares it.
func (e *Encoder) suits(w *workspace, m method, in *input) bool {
	switch m {
	case byDictionary:
		return in.Fixed == 0 // the reference cannot read others
	case byTemplates, byTemplatesZ:
		return in.Fixed == 0 && e.o.Features.Has(edition.Template)
	case byFlatLZ:
		return e.o.Features.Has(edition.FlatLZ)
	case byLZ4: // wherever FlatLZ is a choice it is the better one: a little larger, twice as fast to read
		return !e.o.Features.Has(edition.FlatLZ) || !slices.Contains(e.policy.methods, byFlatLZ)
	case byDecimals:
		return in.Fixed == decimalLen && e.o.Features.Has(edition.DecimalTree)
	case byFSST, byGroups:
		if e.o.Features.Has(edition.GroupedFSST) != (m == byGroups) {
			return false
		}
		if len(in.Bytes()) < fsstFrom || 1024*w.lzLen < fsstAbove*len(in.Bytes()) {
			return false
		}
		e.plan.fsst = w.train(in.Bytes())
		return e.plan.fsst.table.Len() > 0 // the reference may stumble over an empty table
	}
	return true
}

// appendAs is the one place that knows the writer of each encoding. ok is false
// if the values do not suit it.
func (e *Encoder) appendAs(w *workspace, dst []byte, in *input, m method) (out []byte, ok bool, err error) {
	switch m.code {
	case encoding.BlockDictionary:
		return w.appendDictionary(dst, in, in.N/2, &e.numbers)
	case encoding.DecimalTree:
		return w.appendDecimals(dst, in, &e.numbers)
	case encoding.Template:
		if dst, ok, err = w.appendTemplates(dst, in.Values, m.level, fewTemplates, &e.numbers); ok && len(w.templates.Digits) == 0 {
			ok = false
		}
		return dst, ok, err
	case encoding.LZ4:
		out, err = w.appendLZ4(dst, in.Values, &e.numbers)
	case encoding.FlatLZ:
		out, err = w.appendFlatLZ(dst, in.Values, &e.numbers)
	case encoding.Zstd:
		out, err = w.appendZstd(dst, in.Values, m.level, &e.numbers)
	case encoding.FSST, encoding.GroupedFSST:
		if e.plan.fsst == nil {
			return dst, false, nil
		}
		write := w.appendFSST
		if m == byGroups {
			write = w.appendGroupedFSST
		}
		out, err = write(dst, in.Values, e.plan.fsst, &e.numbers)
	default:
		out = appendPlain(dst, in.Values)
	}
	return out, err == nil, err
}
