// Package encode turns sequences of numbers into encoding trees: it gathers statistics, estimates what each encoding
// would take, tries those that may be the best, and remembers how they did. It knows no encoding itself; package codec
// has those, each as a [Row].
package encode

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Row is all that is known about an encoding.
type Row struct {
	trees.Row             // how it is read; its decoders are those of Codecs
	Codecs    Codecs      // how it is read and written, by the width of words
	Needs     edition.Set // the features that a shard has to have
	ReadOnly  bool        // it brings nothing, so that it is not written (docs/performance-log.md)
	Parts     []Part      // the trees in its tree; further ones are like the last

	// When it is tried.
	Tier   Tier // the profile from which on
	Levels int  // down to this depth of a tree
	Fewer  int  // levels less in HighCompression and MinimalSize of edition 2026, where others are smaller below
	Roles  Roles
	Later  Roles // further ones in edition 2026
	Once   bool  // not as a part of itself

	// What decoding costs in picoseconds: for each value, and for each of its bytes. These are constants, so that the same
	// values give the same bytes on every machine.
	PerValue, PerByte int64
	// More is what decoding costs beyond that as far as statistics show. It may be nil.
	More func(s *Stats) int64

	// Estimate guesses the size of a tree in bytes; 0 if the values do not suit. Without it the encoding is written only
	// if asked for.
	Estimate func(w *Weights, s *Stats, f Found) int
	// Guess is the profile from which on the estimate is but a guess, to be corrected by what trials give; 0 if it is none.
	Guess Tier
	// Nests tells whether its parts may turn out smaller than estimated.
	Nests bool
	// Direct tells whether it is one of the plain ways to store values in fewer bits, which encodings of differences have
	// to beat.
	Direct bool
	// PartSize guesses the size of a part of n values of so many bits. It may be nil.
	PartSize func(n int, t word.Type, width int) int
	// Plan hands on what the estimate rests on. size is what the best other encoding takes, 0 if unknown. It may be nil.
	Plan func(s *Stats, f Found, size int) Plan
	// Params reads the parameters in a form by name; see [Table.ParseShape]. It may be nil.
	Params func(p *Plan, text string) error
}

// Codec is how an encoding is read and written by words of one width.
type Codec[U word.Uint] struct {
	trees.Decoder[U]
	// Append appends a tree of values as p says; of another encoding if the values do not suit.
	Append func(e *Workspace, dst []byte, in Input[U], p Plan) []byte
	// Look finds out what the estimate needs beyond Stats, of values of which not all are equal. It may be nil. What it
	// costs is saved where the encoding did not do well; so its estimate must be a guess for all profiles.
	Look func(e *Workspace, in Input[U], s *Stats) Found
}

// Codecs are the codecs of words of each width that an encoding takes.
type Codecs struct {
	W8  Codec[uint8]
	W16 Codec[uint16]
	W32 Codec[uint32]
	W64 Codec[uint64]
}

// codecOf is the codec of a row for words like U.
func codecOf[U word.Uint](r *Row) *Codec[U] {
	switch word.SizeOf[U]() {
	case 1:
		return any(&r.Codecs.W8).(*Codec[U])
	case 2:
		return any(&r.Codecs.W16).(*Codec[U])
	case 4:
		return any(&r.Codecs.W32).(*Codec[U])
	}
	return any(&r.Codecs.W64).(*Codec[U])
}

// Found is what Look has found out, in the words of the encoding that looked.
type Found struct {
	Reference    uint64
	Width, Count int
}

// Part is a tree in the tree of an encoding.
type Part struct {
	Role Role
	Type func(t word.Type) word.Type // its type in a tree of values of type t
	Free bool                        // it has as many levels as the whole
}

// SameType is the type of parts that are values like the whole.
func SameType(t word.Type) word.Type { return t }

// Always is the type of parts whose type does not depend on that of the whole.
func Always(t word.Type) func(word.Type) word.Type {
	return func(word.Type) word.Type { return t }
}

// Tier is the profile from which on an encoding is tried.
type Tier uint8

// The tiers.
const (
	TierPlain  Tier = iota // not a matter of choice
	TierLight              // MinimalCompression
	TierMiddle             // Balanced
	TierHeavy              // HighCompression
	TierNever              // only if asked for
)

// Role is what a part is to the encoding around it, by which encodings are tried on it or not.
type Role uint8

// The roles.
const (
	AsValues   Role = iota // values like any others
	AsRun                  // values or lengths of runs: neighbours differ
	AsCodes                // codes of a dictionary
	AsNarrowed             // values that were cut to whole bytes, since no fewer bits would do
)

// Roles is a set of roles.
type Roles uint8

// AnyRole is all of them.
const AnyRole = ^Roles(0)

// AnyLevel is deeper than trees become that are not asked for by name.
const AnyLevel = 9

// LeastCompressed is the bytes or values below which there is not enough to find anything in.
const LeastCompressed = 512

// InRoles are the usual roles, AsValues and AsRun, and some more.
func InRoles(more ...Role) Roles { return OnlyRoles(append(more, AsValues, AsRun)...) }

// OnlyRoles are just these roles.
func OnlyRoles(roles ...Role) (out Roles) {
	for _, r := range roles {
		out |= 1 << r
	}
	return out
}

func (s Roles) has(r Role) bool { return s>>r&1 != 0 }

// Table is the encodings. Their order decides between equals.
type Table struct {
	Read   *trees.Table
	rows   []*Row
	parts  []*Row // those with a PartSize
	direct []*Row // those that are Direct
}

// maxRows bounds the number of rows.
const maxRows = 32

// NewTable makes the table of rows, and completes these.
func NewTable(rows ...*Row) *Table {
	t := &Table{rows: rows}
	read := make([]*trees.Row, len(rows))
	for i, r := range rows {
		r.W8, r.W16, r.W32, r.W64 = r.Codecs.W8.Decoder, r.Codecs.W16.Decoder, r.Codecs.W32.Decoder, r.Codecs.W64.Decoder
		r.Index, read[i] = i, &r.Row
		if r.PartSize != nil {
			t.parts = append(t.parts, r)
		}
		if r.Direct {
			t.direct = append(t.direct, r)
		}
	}
	t.Read = trees.NewTable(read)
	return t
}

// Find is the row of a code, nil if there is none.
func (t *Table) Find(code encoding.Code) *Row {
	if r := t.Read.Find(code); r != nil {
		return t.rows[r.Index]
	}
	return nil
}

// part is what a part of an encoding is like.
func (r *Row) part(index int) Part { return r.Parts[min(index, len(r.Parts)-1)] }

// decodeCost is what decoding n values takes, apart from the parts of the tree.
func (r *Row) decodeCost(t word.Type, n int) int64 {
	return int64(n) * (r.PerValue + r.PerByte*int64(t.Size()))
}

// guesses tells whether the estimate holds only with what a trial has shown.
func (r *Row) guesses(t Tier) bool { return r.Guess != 0 && t >= r.Guess }
