package encode

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
)

// method is an encoding with the level of its compressor.
type method struct {
	row   *Row // nil before the first block
	level zstd.EncoderLevel
}

// policy is the bounds and weights of a profile.
type policy struct {
	values, bytes int      // the most that a block holds
	byteCost      int64    // the cost of a stored byte, in picoseconds of decoding
	methods       []method // in the order of trial
}

// Blocks of Balanced stay in a core's cache while they are decoded; those of
// other profiles are larger, because large ones compress better. Stronger levels
// of Zstd are not always smaller: on numbers in 16 bytes the fastest one is.
var policies = [...]policy{
	encoding.Balanced:           {16 << 10, 128 << 10, 4_000, nil},
	encoding.ProfilePlain:       {16 << 10, 128 << 10, 0, nil},
	encoding.MinimalCompression: {16 << 10, 128 << 10, 1_000, nil},
	encoding.HighCompression:    {64 << 10, 512 << 10, 20_000, nil},
	encoding.MinimalSize:        {64 << 10, 4 << 20, 200_000, nil},
}

const (
	// dearestByte is the most that a stored byte costs but in edition reference: a percent of size is worth about three of time.
	dearestByte = 60_000
	// balancedByte is what it costs in Balanced: with less, lines of code are stored with FlatLZ, in 1.5 times the space of Zstd.
	balancedByte = 5_000
)

const (
	exploreEvery = 64 // blocks, doubled as long as the same is best
	exploreMost  = 512
	explorePart  = 8 // a block that takes less than this part of the explored one is not explored, even if its values have changed
)

// plan is the result of trials on earlier blocks.
type plan struct {
	method  method // without a row before the first block
	other   method // the best that is not limited, for blocks of too many distinct values
	since   int    // blocks since the last trials
	every   int    // blocks between trials
	stored  int64  // bytes of the block of the last trials, and of its Plain
	plain   int64
	learned Learned
}

// cost is the cost of a tree of size bytes.
func (e *Encoder) cost(r *Row, size int, in *Input) int64 {
	c := r.Cost
	if in.Fixed > 0 {
		c = r.FixedCost
	}
	return int64(size)*(e.byteCost()+c.PerStored) + int64(len(in.Bytes()))*c.PerByte + int64(in.N)*c.PerValue
}

// byteCost is the cost of a stored byte. That of a brief column is higher: reading it takes hardly longer than opening the shard. That of documents
// is, too: most of them are read from stores, one by one.
func (e *Encoder) byteCost() int64 {
	switch {
	case e.brief || e.documents():
		return policies[encoding.HighCompression].byteCost
	case e.o.Features == 0:
		return e.policy.byteCost
	case e.o.Profile == encoding.Balanced:
		return balancedByte
	}
	return min(e.policy.byteCost, dearestByte)
}

// A frame of a compressor is so long that others hardly make it smaller, and so short that unpacking it takes some hundredths of a millisecond.
const (
	frameBytes         = 64 << 10
	documentFrameBytes = 512 << 10 // those that are asked for are unpacked with those before them in the frame alone
)

// frame is the bytes of values of a frame, 0 where size counts more than single values, and of values of a fixed size.
func (e *Encoder) frame() int {
	switch {
	case e.o.Features == 0 || e.o.Profile != encoding.Balanced || e.fixed > 0:
		return 0
	case e.mean >= fileBytes:
		return filesBytes
	case e.documents():
		return documentFrameBytes
	}
	return frameBytes
}

// methodCost is the cost of a tree of size bytes, and of writing it.
func (e *Encoder) methodCost(m method, size int, in *Input) int64 {
	cost := e.cost(m.row, size, in)
	if m.row.Burden != nil && e.o.Features == 0 {
		cost += m.row.Burden(m.level, cost)
	}
	return cost
}

// appendTree appends the tree that costs least.
func (e *Encoder) appendTree(dst []byte, in Input) []byte {
	w := workspaces.Get().(*Workspace)
	defer workspaces.Put(w)
	in.Brief, in.Shared = e.brief, e.shared
	if len(e.policy.methods) == 0 {
		return e.appendPlain(w, dst, &in)
	}
	certain := e.table.certain
	if in.N == 1 && e.documents() {
		certain = nil // a single document is compressed
	}
	for _, r := range certain {
		if r.Suits(w, &in, nil) {
			if out, ok := e.appendAs(w, dst, &in, method{row: r}); ok {
				e.ranked = ranking{}
				return out
			}
		}
	}
	if r := e.plan.method.row; r == nil || r.Short && e.documents() || e.plan.since >= e.plan.every {
		return e.explore(w, dst, &in)
	}
	e.plan.since++
	at := len(dst)
	dst, ok := e.appendAs(w, dst, &in, e.plan.method)
	if !ok {
		dst, ok = e.appendAs(w, dst[:at], &in, e.plan.other)
	}
	size, plain := int64(len(dst)-at), int64(in.plainLen())
	if ok && e.documents() && e.plan.method.row != e.table.plain { // there is no other for them
		if size >= plain {
			return e.appendPlain(w, dst[:at], &in)
		}
		return dst
	}
	few := e.o.Features != 0 && explorePart*size < e.plan.stored // the rest of a column: what it may gain is not worth trials
	if !ok || size >= plain || !few && 4*size*e.plan.plain > 5*plain*e.plan.stored {
		e.drifted = true
		return e.explore(w, dst[:at], &in)
	}
	return dst
}

// explore tries all encodings and writes the best. In edition reference, of a block that is longer than the profile's, it
// tries a part.
func (e *Encoder) explore(w *Workspace, dst []byte, in *Input) []byte {
	n := e.fit(in.Values, e.blockBytes())
	if n == in.N || n == 0 || e.o.Features != 0 {
		return e.try(w, dst, in)
	}
	part := in.first(n)
	at := len(dst)
	dst = e.try(w, dst, &part)
	for _, m := range [...]method{e.plan.method, e.plan.other} {
		var ok bool
		if dst, ok = e.appendAs(w, dst[:at], in, m); ok && len(dst)-at < in.plainLen() {
			e.plan.method = m // plan for the one that did
			e.plan.stored, e.plan.plain = int64(len(dst)-at), int64(in.plainLen())
			return dst
		}
	}
	return e.appendPlain(w, dst[:at], in)
}

// try tries the methods of the profile in the order of their estimated costs, until the next one cannot win. It writes the
// best and remembers it.
func (e *Encoder) try(w *Workspace, dst []byte, in *Input) []byte {
	t := trials{e: e, w: w, in: in, dst: dst, start: len(dst)}
	before := e.plan
	if e.o.Features != 0 {
		e.numbers.forget()
	}
	t.begin()
	if t.run(); len(t.dst) == t.start {
		t.dst = e.appendPlain(w, t.dst, in)
	}
	e.drifted = false
	trained := e.plan.method.row.Trained || e.plan.other.row.Trained
	if !trained {
		e.plan.learned = Learned{}
	}
	if e.plan.method == before.method && !trained { // what was learned ages
		e.plan.every = min(2*before.every, exploreMost)
	}
	e.plan.stored = int64(len(t.dst) - t.start)
	return t.dst
}

// suits tells whether a trial is worth its time.
func (m method) suits(w *Workspace, in *Input, l *Learned) bool {
	return m.row.Suits == nil || m.row.Suits(w, in, l)
}

// strongest is the level of compressors above which none is tried but in edition reference: the next one takes five times as long, for a
// percent or two.
const strongest = zstd.SpeedBetterCompression

// without is an encoding that is not chosen: the benchmark sets it to show what it brings.
var without encoding.Code

// allows tells whether the shard may hold what a method writes, and no other is tried in its place.
func (e *Encoder) allows(m method) bool {
	r := m.row
	if r.Code == without || r.Shared && e.shared == nil || r.Short && e.documents() {
		return false
	}
	if e.o.Features != 0 && (m.level > strongest || (e.texts.level > 0 || e.documents()) && m.level < r.strongest(e.o.Profile)) {
		return false // parts of a tree are many: one level is enough for each
	}
	if e.brief && !r.Quick && r.Instead == 0 || r.Limited && e.unequal {
		return false
	}
	if e.texts.trial && (r.Trained || r.Nests) {
		return false // what is learned for a part of a sample costs most of the time of a trial, and is no use
	}
	if r.Needs&^e.o.Features != 0 || r.Nests && e.texts.level >= e.nestings() {
		return false
	}
	for _, m := range e.policy.methods {
		if e.o.Features != 0 && m.row.Replaces == r.Code && m.row.Code != without && m.row.Needs&^e.o.Features == 0 && !(m.row.Shared && (e.shared == nil || e.drifted)) {
			return false
		}
	}
	return true
}

// nestings is how many trees of byte strings may be tried in each other. What a second one saves is worth its time where size alone counts.
func (e *Encoder) nestings() int {
	if e.o.Profile == encoding.MinimalSize {
		return tree.MaxLevels - 1
	}
	return 1
}

// appendAs writes values by a method. ok is false if they do not suit it.
func (e *Encoder) appendAs(w *Workspace, dst []byte, in *Input, m method) (out []byte, ok bool) {
	return m.row.Append(w, dst, in, Request{Learned: e.plan.learned, Numbers: &e.numbers, Texts: &e.texts, Kept: &e.kept, Level: m.level, Frame: e.frame()})
}

func (e *Encoder) appendPlain(w *Workspace, dst []byte, in *Input) []byte {
	out, _ := e.table.plain.Append(w, dst, in, Request{})
	return out
}
