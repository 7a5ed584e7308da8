package encode

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Weights are what a profile stands for.
type Weights struct {
	Tier     Tier
	Features edition.Set
	price    int64 // of a nanosecond of decoding, in thousandths of a byte
	level    int   // of the compressors
	work     int64 // that trials may do for each value: those that they handle in all parts of trees, and see zstdWork
	table    *Table
}

func weightsOf(p encoding.Profile) Weights {
	switch p {
	case encoding.ProfilePlain:
		return Weights{Tier: TierPlain}
	case encoding.MinimalCompression:
		return Weights{Tier: TierLight, price: 3000, work: 32}
	case encoding.HighCompression:
		return Weights{Tier: TierHeavy, price: 100, work: 64}
	case encoding.MinimalSize:
		return Weights{Tier: TierHeavy, price: 10, level: 1, work: 128}
	}
	return Weights{Tier: TierMiddle, price: 400, work: 32}
}

// Smallest tells whether size alone counts.
func (w *Weights) Smallest() bool { return w.level > 0 }

// Cost is that of bytes that take some picoseconds to decode.
func (w *Weights) Cost(size int, decode int64) int64 {
	return int64(size)*1000 + w.price*decode/1000
}

// hope is how much less the parts of an encoding may cost than estimated: it is tried if it would win by that. Differences are dear to try in Balanced,
// and hardly ever win by more than estimated.
func (w *Weights) hope(r *Row, size int) int64 {
	switch {
	case w.Tier >= TierHeavy && w.Features != 0 && r.Code == encoding.BlockDictionary:
		return int64(size) * 1000 / 2
	case w.Tier >= TierHeavy:
		return int64(size) * 1000 * 3 / 4
	case w.Features != 0 && r.Code == encoding.Delta:
		return int64(size) * 1000 / 20
	}
	return int64(size) * 1000 / 5
}

// PartSize guesses the size of a part of n values of so many bits, in the simplest encodings or raw.
func (w *Weights) PartSize(t word.Type, n, width int) int {
	size := n * t.Size()
	for _, r := range w.table.parts {
		if w.allows(r, t) {
			size = min(size, r.PartSize(n, t, width))
		}
	}
	return size
}

// DirectSize is what the values take as they are, in fewer bits.
func (w *Weights) DirectSize(s *Stats) int {
	best := 0
	for _, r := range w.table.direct {
		if !w.allows(r, s.T) {
			continue
		}
		if size := r.Estimate(w, s, Found{}); size > 0 && (best == 0 || size < best) {
			best = size
		}
	}
	return best
}

// without is an encoding that is not chosen: the benchmark sets it to show what it brings.
var without encoding.Code

// MayRepeat tells whether runs may be worth storing instead of values: where an eighth of these are nulls, for example, which are filled up. In edition
// reference it is a third.
func (w *Weights) MayRepeat(runs, values int) bool {
	if w.Features == 0 {
		return 3*runs <= 2*values
	}
	return 8*runs <= 7*values
}

// allows tells whether an encoding takes a type and may be in the shard.
func (w *Weights) allows(r *Row, t word.Type) bool {
	return r.Types.Has(t) && r.Needs&^w.Features == 0 && r.Code != without
}

// PerRun is what a run or a position costs to decode, in picoseconds.
const PerRun = 1300
