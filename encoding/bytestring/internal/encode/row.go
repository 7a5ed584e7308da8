// Package encode chooses how blocks of byte strings are written: it tries encodings, remembers from block to block which
// was the best, and plans how many values the next block holds. It knows no encoding itself; package codec has those,
// each with a [Row].
package encode

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/fields/learn"
	"github.com/amudai/amudai-go/encoding/internal/fsst"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Row says how an encoding is written, and when it is tried. Fields that most encodings have no use for may be nil or zero.
type Row struct {
	tree.Row // how it is read
	// Needs is the features that a shard has to have.
	Needs edition.Set
	// Trials are the profiles in which the encoding is tried, and the levels.
	Trials Trials
	// Certain encodings are written wherever they suit, without a trial.
	Certain bool
	// Replaces is an encoding that is not tried where this one is.
	Replaces encoding.Code
	// Guess is about the size of the tree of a block, 0 if unknown. It takes a small share of the time of Suits, which is not asked if others that are
	// estimated already are better by far.
	Guess func(w *Workspace, in *Input) int
	// Suits tells whether a trial is worth its time, and prepares it. It sees all values of a block; of most blocks, Append
	// is then tried on a sample.
	Suits func(w *Workspace, in *Input, l *Learned) bool
	// Append appends a tree; ok is false if the encoding does not take the values.
	Append func(w *Workspace, dst []byte, in *Input, r Request) (out []byte, ok bool)
	// Burden is the extra cost of writing at a level, in the units of costs.
	Burden func(level zstd.EncoderLevel, cost int64) int64
	// Cost, and FixedCost for values of a fixed size, were measured on one core (BenchmarkDecode). They are constants, so
	// that choices are the same everywhere.
	Cost, FixedCost DecodeCost
	Trained         bool          // it is written with symbols that Suits has trained
	Limited         bool          // it does not take blocks of too many distinct values
	Whole           bool          // a sample of a block tells nothing about it
	Costly          bool          // its trial is not worth its time for a part of another tree, but in the slower profiles
	Improves        bool          // its trees are smaller than a trial lets expect, since their parts are long, and can be in any encoding
	Quick           bool          // it is tried even if the column has few bytes
	Instead         encoding.Code // it is tried even then, where this is the best of those before it, and leaves much
	Nests           bool          // parts of its tree are trees of byte strings
	Long            bool          // its blocks are longer than others of the profile
	Short           bool          // it looks for what values have in common, and is not tried on documents
	Shared          bool          // it is written with Input.Shared

	// Share makes of what Suits has learned what the blocks of a column may share, in the form of which they are tried instead of this encoding.
	Share func(w *Workspace, in *Input, l *Learned, thorough bool) *onpair.Dictionary

	// Parts are the forms that the parts of its tree have in [Table.AppendTreeAs] if none are given; nil for one raw part.
	Parts []string
	// Leveled encodings take a level there; Level is the default.
	Leveled bool
	Level   zstd.EncoderLevel
}

// strongest is the highest level of a profile, but for what is left to edition reference.
func (r *Row) strongest(p encoding.Profile) (most zstd.EncoderLevel) {
	for _, level := range r.Trials[min(p, encoding.MinimalSize)] {
		if level <= strongest {
			most = max(most, level)
		}
	}
	return most
}

// Trials are the levels that are tried in each profile. Encodings without levels have one, 0.
type Trials [encoding.MinimalSize + 1][]zstd.EncoderLevel

// Once is the trials of an encoding without levels.
func Once(profiles ...encoding.Profile) (t Trials) {
	for _, p := range profiles {
		t[p] = []zstd.EncoderLevel{0}
	}
	return t
}

// DecodeCost is the time that decoding takes, in picoseconds: for each byte of the values, each byte of the tree, and each
// value.
type DecodeCost struct{ PerByte, PerStored, PerValue int64 }

// Learned is the memory that a column keeps from block to block for its encodings.
type Learned struct {
	Symbols *fsst.Table        // nil before they are trained
	Tokens  *onpair.Dictionary // the same
	// Patterns are those of the block that is tried. Later ones use [Kept].
	Patterns *learn.Patterns
}

// Kept is memory of earlier blocks that the encodings themselves judge: they replace it where it does not suit a block.
type Kept struct {
	Patterns *learn.Patterns // nil before they are learnt
}

// Request says how a tree is to be written.
type Request struct {
	Learned
	Numbers *Numbers
	Texts   *Texts
	Kept    *Kept // nil in a trial
	Level   zstd.EncoderLevel
	Frame   int  // bytes of values after which a compressor begins anew, so that few values can be read alone; 0 for never
	Forced  bool // whether or not it pays
}

// Input is the values of a tree.
type Input struct {
	vector.Values
	Valid bitmap.Bits
	Nulls int
	Brief bool // they are all that the column has, and few
	// Shared is the dictionary of the column, nil if it has none.
	Shared *onpair.Dictionary
}

// first is the first n values.
func (in *Input) first(n int) Input {
	out := Input{Values: in.Slice(0, n), Valid: in.Valid.Slice(0, n), Brief: in.Brief, Shared: in.Shared}
	out.Nulls = out.Valid.Nulls()
	return out
}

// plainLen is the length of the Plain tree.
func (in *Input) plainLen() int {
	n := 3 + len(in.Bytes())
	if in.Fixed == 0 {
		n += 8 * (in.N + 1)
	}
	return n
}

// Same tells whether all values that are not null are equal, and returns that value.
func (in *Input) Same() (value []byte, ok bool) {
	first := -1
	for i := range in.N {
		if !in.Valid.At(i) {
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

// Table is the encodings of byte strings.
type Table struct {
	Read     *tree.Table
	plain    *Row // takes any values
	rows     []*Row
	certain  []*Row
	policies [encoding.MinimalSize + 1]policy
}

// NewTable makes a table of rows, which are tried in this order. The first takes any values; trees of others
// are never longer.
func NewTable(rows ...*Row) *Table {
	t := &Table{plain: rows[0], rows: rows, policies: policies}
	read := make([]*tree.Row, len(rows))
	for i, r := range rows {
		read[i] = &r.Row
		if r.Certain {
			t.certain = append(t.certain, r)
		}
		for profile, levels := range r.Trials {
			for _, level := range levels {
				p := &t.policies[profile]
				p.methods = append(p.methods, method{r, level})
			}
		}
	}
	t.Read = tree.NewTable(read)
	return t
}

func (t *Table) policyOf(p encoding.Profile) *policy {
	if int(p) >= len(t.policies) {
		p = encoding.Balanced
	}
	return &t.policies[p]
}
