package numeric

import (
	"fmt"
	"sync"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/codec"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Block lengths, in values.
const (
	shortBlock = encoding.LeastBlockValues
	longBlock  = encoding.MostBlockValues
)

// Encoder encodes the blocks of one column. It tries all encodings of its profile on the first block, and again from
// time to time and when blocks become larger. Other blocks use the results of these trials. The same values in the
// same calls give the same bytes. It must not be used concurrently.
//
// It holds only the results of trials. All encoders share working memory, so that those of 50,000 columns are cheap.
type Encoder[T Value] struct {
	o      encoding.Options
	hints  map[int]*encode.Hint // by block length
	len    int
	plans  int          // calls of Plan until values are examined again
	gap    int          // plans after the last examination
	brief  bool         // one block has all values
	codes  bool         // which are codes of a dictionary, of which each occurs
	forced *encode.Plan // set by tests
}

// NewEncoder returns an encoder.
func NewEncoder[T Value](o encoding.Options) *Encoder[T] {
	e := &Encoder[T]{o: o, len: shortBlock}
	if o.Profile == encoding.MinimalSize && !e.short() {
		e.len = longBlock
	}
	return e
}

// short reports whether all blocks are short.
func (e *Encoder[T]) short() bool { return e.o.MaxBlockValues() < longBlock }

// Clone returns another encoder with the same results of trials, for another goroutine. The clone of nil is nil.
func (e *Encoder[T]) Clone() *Encoder[T] {
	if e == nil {
		return nil
	}
	c := *e
	c.hints = encode.CloneHints(e.hints)
	return &c
}

// Brief says whether the values that follow are all that the column has, and at most 65536. In edition 2026, they become one
// block without a trial of shorter ones, which takes longer than writing it. After earlier blocks, in another stripe for example, there
// is no difference.
//
// codes says that they are one block, too, and all codes of a dictionary, each of which occurs: so another dictionary brings nothing, and is not tried.
func (e *Encoder[T]) Brief(brief, codes bool) {
	e.brief = brief && len(e.hints) == 0 && e.o.Features != 0
	e.codes = codes && e.o.Features != 0
}

// workspaces are the unused ones.
var workspaces = sync.Pool{New: func() any { return new(encode.Workspace) }}

// workspace takes one, ready for the profile. The caller puts it back.
func (e *Encoder[T]) workspace() *encode.Workspace {
	w := workspaces.Get().(*encode.Workspace)
	w.Begin(codec.Table, e.o.Profile, e.o.Features)
	return w
}

// planEvery is the number of calls of Plan that use the result of one examination. It doubles as long as results are
// equal.
const (
	planEvery = 16
	planMost  = 128
)

// leastGain is what long blocks of profiles have to save, in 1000ths; where it is 0, there are none.
var leastGain = [encoding.MinimalSize + 1]int64{encoding.Balanced: 30, encoding.HighCompression: 10, encoding.MinimalSize: 5}

// Plan examines the staged values and returns the number of values of the next blocks: 8192, or 65536 if these are
// notably smaller. The last block of a column has the remaining values.
func (e *Encoder[T]) Plan(values []T, valid encoding.Bits) (blockLen int) {
	gain := leastGain[min(e.o.Profile, encoding.MinimalSize)]
	switch {
	case gain == 0 || e.short():
		return shortBlock
	case e.brief:
		e.len = longBlock
		return e.len
	case len(values) < 2*shortBlock:
		return e.len
	}
	if e.plans--; e.plans > 0 {
		return e.len
	}
	values = values[:min(len(values), longBlock)]
	long := e.try(values, valid, longBlock, longBlock)
	short := e.try(values, valid, shortBlock, tryEvery*shortBlock)
	n := shortBlock
	if 1000*long <= (1000-gain)*short {
		n = longBlock
	}
	e.plans = planEvery
	if e.gap > 0 && n == e.len {
		e.plans = min(2*e.gap, planMost)
	}
	e.gap, e.len = e.plans, n
	return n
}

// try returns the cost of a thousand values in blocks of some length, as one of them every so many values shows.
func (e *Encoder[T]) try(values []T, valid bitmap.Bits, blockLen, every int) (cost int64) {
	w := e.workspace()
	w.Fast = true
	defer workspaces.Put(w)
	n := 0
	for i := 0; i < len(values); i += every {
		before := w.Decode
		end := min(i+blockLen, len(values))
		w.Trial = e.append(w, w.Trial[:0], values[i:end], valid.Slice(i, end), blockLen)
		cost += w.Weights.Cost(len(w.Trial)+blockOverhead, w.Decode-before)
		n += end - i
	}
	return 1000 * cost / int64(n)
}

// tryEvery says which short blocks are tried: the first of so many.
const tryEvery = 3

// blockOverhead is the size of a block without its values: header, checksum, entry of the block map.
const blockOverhead = 16

// AppendBlock appends a block of values with the validity valid, whose Data may be nil without nulls. Values under
// nulls have no meaning. The tree is never larger than that of Plain.
func (e *Encoder[T]) AppendBlock(dst []byte, values []T, valid encoding.Bits) ([]byte, error) {
	dst, mark := encoding.BeginBlock(dst)
	if !e.o.NoPresence {
		dst = encoding.AppendPresence(dst, valid, valid.Nulls(), e.o)
	}
	dst = encoding.EndPresence(dst, mark)
	dst = e.AppendTree(dst, values, valid)
	return encoding.EndBlock(dst, mark, !e.o.NoChecksums), nil
}

// AppendTree appends the encoding tree of values only.
func (e *Encoder[T]) AppendTree(dst []byte, values []T, valid encoding.Bits) []byte {
	w := e.workspace()
	defer workspaces.Put(w)
	return e.append(w, dst, values, valid, e.len)
}

func (e *Encoder[T]) append(w *encode.Workspace, dst []byte, values []T, valid bitmap.Bits, blockLen int) []byte {
	w.Codes = e.codes && blockLen == longBlock
	var h *encode.Hint
	if len(values) < encode.AlwaysBelow {
		h = w.Brief()
	} else if h = e.hints[blockLen]; h == nil {
		h = &encode.Hint{}
		if e.hints == nil {
			e.hints = map[int]*encode.Hint{}
		}
		e.hints[blockLen] = h
	}
	return appendValues(w, dst, values, valid, h, e.forced)
}

// appendValues appends a tree as p requires, or the best one if p is nil.
func appendValues[T Value](e *encode.Workspace, dst []byte, values []T, valid bitmap.Bits, h *encode.Hint, p *encode.Plan) []byte {
	t := Of[T]()
	switch t.Size() {
	case 1:
		return encode.AppendTree(e, dst, word.As[uint8](values), t, valid, h, p)
	case 2:
		return encode.AppendTree(e, dst, word.As[uint16](values), t, valid, h, p)
	case 4:
		return encode.AppendTree(e, dst, word.As[uint32](values), t, valid, h, p)
	}
	return encode.AppendTree(e, dst, word.As[uint64](values), t, valid, h, p)
}

// AppendTreeAs appends a tree of values with given encodings, in the syntax of [encoding.Tree.String]:
// "RunLength(raw,FLBitPack)", "ALP[e=2,f=0](FFOR)". Unsuitable encodings are replaced, as the reference does:
// SingleValue of different values becomes RunLength, FFOR of equal ones SingleValue.
func AppendTreeAs[T Value](dst []byte, values []T, valid encoding.Bits, shape string) ([]byte, error) {
	p, err := codec.Table.ParseShape(shape)
	if err != nil {
		return nil, err
	}
	if !codec.Table.Suits(p, Of[T]()) {
		return nil, fmt.Errorf("shape %q does not take values of type %v", shape, Of[T]())
	}
	w := workspaces.Get().(*encode.Workspace)
	defer workspaces.Put(w)
	w.Begin(codec.Table, encoding.ProfilePlain, 0)
	return appendValues(w, dst, values, valid, nil, p), nil
}
