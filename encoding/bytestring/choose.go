package bytestring

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
)

// policy is what a profile stands for.
type policy struct {
	values, bytes int   // most that a block holds
	byteCost      int64 // what a stored byte counts for, in picoseconds of decoding
	dictionary    bool
	lz4           bool
	fsst          bool
	zstd          zstd.EncoderLevel // 0: not used
}

// Blocks of Balanced stay in a core's cache while they are decoded; those of
// other profiles are larger where that makes them notably smaller in sum
// (docs/performance.md).
var (
	plainPolicy    = policy{values: 16 << 10, bytes: 128 << 10}
	lightPolicy    = policy{values: 16 << 10, bytes: 128 << 10, byteCost: 1_000, dictionary: true, lz4: true}
	balancedPolicy = policy{values: 16 << 10, bytes: 128 << 10, byteCost: 4_000, dictionary: true, lz4: true, fsst: true}
	highPolicy     = policy{values: 64 << 10, bytes: 512 << 10, byteCost: 20_000, dictionary: true, lz4: true, zstd: zstd.SpeedDefault}
	smallestPolicy = policy{values: 64 << 10, bytes: 4 << 20, byteCost: 200_000, dictionary: true, lz4: true, zstd: zstd.SpeedBestCompression}
)

func policyOf(p encoding.Profile) *policy {
	switch p {
	case encoding.ProfilePlain:
		return &plainPolicy
	case encoding.MinimalCompression:
		return &lightPolicy
	case encoding.HighCompression:
		return &highPolicy
	case encoding.MinimalSize:
		return &smallestPolicy
	}
	return &balancedPolicy
}

// decodeCost is what decoding takes, in picoseconds: for each byte of the values,
// each byte of the tree, and each value.
type decodeCost struct{ perByte, perStored, perValue int64 }

// decodeCosts were measured on one core (BenchmarkDecode). They are constants, so
// that choices are the same everywhere.
var decodeCosts = map[encoding.Code]decodeCost{
	encoding.Plain:           {50, 0, 700},
	encoding.BlockDictionary: {60, 0, 2000},
	encoding.FSST:            {0, 650, 800},
	encoding.LZ4:             {230, 0, 800},
	encoding.Zstd:            {750, 0, 800},
}

const (
	exploreEvery = 64 // blocks
	fsstFrom     = 16 << 10
	// LZ4 leaves less than this share of the bytes, in 1024ths, where FSST has no chance.
	fsstAbove = 256
)

// plan is what was found out about the column's blocks.
type plan struct {
	code   encoding.Code // 0 before the first block
	other  encoding.Code // the best but a dictionary
	since  int           // blocks since all were tried
	stored int64         // bytes of the block that was tried, and of its Plain
	plain  int64
	fsst   *symbols
}

// cost is what a tree counts for.
func (e *Encoder) cost(code encoding.Code, size int, in *input) int64 {
	c := decodeCosts[code]
	return int64(size)*(e.policy.byteCost+c.perStored) + int64(len(in.Bytes()))*c.perByte + int64(in.N)*c.perValue
}

// appendTree writes the tree that costs least.
func (e *Encoder) appendTree(w *workspace, dst []byte, in input) ([]byte, error) {
	if e.o.Profile == encoding.ProfilePlain {
		return appendPlain(dst, in.Values), nil
	}
	if in.Fixed == 0 {
		if value, ok := in.same(); ok && in.fits(len(value)) {
			return appendSingleValue(dst, value), nil
		}
	}
	if e.plan.code == 0 || e.plan.since >= exploreEvery {
		return e.explore(w, dst, &in)
	}
	e.plan.since++
	at := len(dst)
	dst, ok, err := e.appendAs(w, dst, &in, e.plan.code)
	if err == nil && !ok {
		dst, _, err = e.appendAs(w, dst[:at], &in, e.plan.other)
	}
	if err != nil {
		return dst, err
	}
	size, plain := int64(len(dst)-at), int64(in.plainLen())
	if size >= plain || 4*size*e.plan.plain > 5*plain*e.plan.stored {
		return e.explore(w, dst[:at], &in)
	}
	return dst, nil
}

// fits tells whether one value of so many bytes in place of all leaves the null
// slots what they are: empty.
func (in *input) fits(n int) bool { return in.nulls < in.N || n == 0 }

// explore tries all encodings of the profile, writes the best and remembers it.
func (e *Encoder) explore(w *workspace, dst []byte, in *input) ([]byte, error) {
	start := len(dst)
	dst = appendPlain(dst, in.Values)
	best := e.cost(encoding.Plain, len(dst)-start, in)
	old := e.plan.fsst
	e.plan = plan{code: encoding.Plain, other: encoding.Plain, plain: int64(in.plainLen()), fsst: old}
	other := best
	for _, code := range e.candidates() {
		at := len(dst)
		if code == encoding.FSST {
			if len(in.Bytes()) < fsstFrom || 1024*w.lz4Len < fsstAbove*len(in.Bytes()) {
				continue
			}
			e.plan.fsst = w.train(in.Bytes())
		}
		var ok bool
		var err error
		if dst, ok, err = e.appendAs(w, dst, in, code); err != nil {
			return dst, err
		}
		size := len(dst) - at
		if !ok || size >= in.plainLen() {
			dst = dst[:at]
			continue
		}
		cost := e.cost(code, size, in)
		if code != encoding.BlockDictionary && cost < other {
			other, e.plan.other = cost, code
		}
		if cost < best {
			best, e.plan.code = cost, code
			copy(dst[start:], dst[at:])
			at = start + size
		}
		dst = dst[:at]
	}
	if e.plan.code != encoding.FSST && e.plan.other != encoding.FSST {
		e.plan.fsst = nil
	}
	e.plan.stored = int64(len(dst) - start)
	return dst, nil
}

// candidates are the encodings to try, in the order of trial: FSST goes by what
// LZ4 has shown.
func (e *Encoder) candidates() []encoding.Code {
	list := make([]encoding.Code, 0, 4)
	if e.policy.dictionary && e.fixed == 0 {
		list = append(list, encoding.BlockDictionary)
	}
	if e.policy.lz4 {
		list = append(list, encoding.LZ4)
	}
	if e.policy.fsst {
		list = append(list, encoding.FSST)
	}
	if e.policy.zstd != 0 {
		list = append(list, encoding.Zstd)
	}
	return list
}

// appendAs is the one place that knows the writer of each encoding. ok is false
// if the values do not suit it.
func (e *Encoder) appendAs(w *workspace, dst []byte, in *input, code encoding.Code) (out []byte, ok bool, err error) {
	switch code {
	case encoding.BlockDictionary:
		return w.appendDictionary(dst, in, in.N/2, &e.numbers)
	case encoding.LZ4:
		out, err = w.appendLZ4(dst, in.Values, &e.numbers)
	case encoding.Zstd:
		out, err = w.appendZstd(dst, in.Values, e.policy.zstd, &e.numbers)
	case encoding.FSST:
		if e.plan.fsst == nil {
			return dst, false, nil
		}
		out, err = w.appendFSST(dst, in.Values, e.plan.fsst, &e.numbers)
	default:
		out = appendPlain(dst, in.Values)
	}
	return out, err == nil, err
}
