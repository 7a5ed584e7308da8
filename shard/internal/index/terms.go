package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/arrow/texts"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Terms is the type of compact term indexes (package term).
const Terms = "amudai-go-terms-v1"

// The properties of a term index.
const (
	PropertyCollation  = "collation"  // name of a collation
	PropertyTokenizers = "tokenizers" // names of tokenizers, one for each field
	PropertyCoarse     = "coarse"     // rows for which lists have one; absent if lists are exact
	PropertyPhrases    = "phrases"    // whether there are pairs of words, too; absent if not
	PropertyScores     = "scores"     // whether there are frequencies and lengths, for ranking; absent if not
	PropertyK1         = "k1"         // of BM25, with scores
	PropertyB          = "b"          // likewise
)

type termKind struct{}

func (termKind) Type() string { return Terms }

// termSettings are the properties of a term index.
type termSettings struct {
	tokenizers []analysis.Tokenizer
	collation  analysis.Collation
	coarse     int
	phrases    bool
	scores     bool
	bm25       ranking.Parameters
}

// builder is the options of a builder of the index.
func (s *termSettings) builder() term.BuilderOptions {
	return term.BuilderOptions{Collation: s.collation, Tokenizers: s.tokenizers, Phrases: s.phrases, Scores: s.scores}
}

func (termKind) Check(d *shardpb.IndexDescriptor, columns []arrow.Field) error {
	if len(columns) != len(d.IndexedFields) {
		return errors.New("a term index has no keys of several columns")
	}
	for _, c := range columns {
		if !isText(c.Type) {
			return fmt.Errorf("a term index is of strings, not of %v", c.Type)
		}
	}
	tokenizer, err := analysis.Log, error(nil)
	if HasScores(d) {
		tokenizer = analysis.Word
		err = cmp.Or(setDefault(d, PropertyK1, ranking.Default.K1), setDefault(d, PropertyB, ranking.Default.B))
	}
	if err = cmp.Or(
		err,
		setDefault(d, PropertyTokenizers, slices.Repeat([]any{tokenizer.String()}, len(columns))),
		setDefault(d, PropertyCollation, analysis.CaseInsensitive.String()),
	); err != nil {
		return err
	}
	s, err := settingsOf(d)
	switch trivial := slices.Contains(s.tokenizers, analysis.Trivial); {
	case err != nil:
	case s.phrases && trivial:
		return fmt.Errorf("phrases are of words, which the tokenizer %v does not find", analysis.Trivial)
	case s.phrases && slices.ContainsFunc(s.tokenizers, analysis.Tokenizer.Rewrites):
		return errors.New("phrases are of words as they stand in the text, which only some tokenizers find: unicode-log and unicode-word")
	case !s.scores && slices.ContainsFunc(s.tokenizers, analysis.Tokenizer.Rewrites):
		return errors.New("words as english, german and unicode-folded make them only rank, which takes scores (--scores)")
	case s.scores && trivial:
		return fmt.Errorf("scores are of words, which the tokenizer %v does not find", analysis.Trivial)
	case s.scores && s.coarse > 1:
		return errors.New("scores are of single rows, and a coarse index has one for several")
	}
	return err
}

// isText reports whether values of a type are texts, lists of them, or structs with nothing else.
func isText(dt arrow.DataType) bool {
	return kinds.IsText(leafOf(dt))
}

// leafOf is the only leaf of a type, which may be in wraps, in lists and in structs of one field; null if it has none, or several.
func leafOf(dt arrow.DataType) arrow.DataType {
	for fields := kinds.Fields(dt); kinds.Of(dt) != kinds.Leaf; fields = kinds.Fields(dt) {
		if len(fields) != 1 {
			return arrow.Null
		}
		dt = fields[0].Type
	}
	return dt
}

func settingsOf(d *shardpb.IndexDescriptor) (s termSettings, err error) {
	if s, err = settingsFrom(shardfile.PropertiesFromProto(d.GetProperties())); err != nil {
		return s, err
	}
	return s, s.checkFields(d)
}

// checkFields checks that there is a tokenizer for each field.
func (s *termSettings) checkFields(d *shardpb.IndexDescriptor) error {
	if len(s.tokenizers) != len(d.GetIndexedFields()) {
		return fault.Corruptf("term index with %d tokenizers for %d fields", len(s.tokenizers), len(d.GetIndexedFields()))
	}
	for _, f := range d.GetIndexedFields() {
		if len(f.SchemaIds) != 1 {
			return fault.Unsupportedf("term index of %d columns together", len(f.SchemaIds))
		}
	}
	return nil
}

func settingsFrom(properties []shardfile.Property) (s termSettings, err error) {
	s.coarse, s.bm25 = 1, ranking.Default
	for _, p := range properties {
		ok := true
		switch p.Name {
		case PropertyCollation:
			name, _ := p.Value.(string)
			s.collation, ok = analysis.CollationByName(name)
		case PropertyTokenizers:
			list, _ := p.Value.([]any)
			for _, v := range list {
				name, _ := v.(string)
				t, known := analysis.TokenizerByName(name)
				s.tokenizers, ok = append(s.tokenizers, t), ok && known
			}
		case PropertyCoarse:
			n, isInt := p.Value.(int64)
			s.coarse, ok = int(n), isInt && n >= 1 && n <= 1<<20
		case PropertyPhrases:
			s.phrases, ok = p.Value.(bool)
		case PropertyScores:
			s.scores, ok = p.Value.(bool)
		case PropertyK1:
			s.bm25.K1, ok = p.Value.(float64)
			ok = ok && s.bm25.K1 >= 0 && s.bm25.K1 <= ranking.MaxK1
		case PropertyB:
			s.bm25.B, ok = p.Value.(float64)
			ok = ok && s.bm25.B >= 0 && s.bm25.B <= 1
		}
		if !ok {
			return s, fault.Unsupportedf("term index with %s %v", p.Name, p.Value)
		}
	}
	return s, nil
}

func (termKind) NewBuilder(d *shardpb.IndexDescriptor, _ []arrow.Field, o BuildOptions) (Builder, error) {
	s, err := settingsOf(d)
	if err != nil {
		return nil, err
	}
	b := s.builder()
	b.Memory, b.Spool = o.Memory, o.Spool
	return &termBuilder{term.NewBuilder(b)}, nil
}

func (termKind) Write(ctx context.Context, d *shardpb.IndexDescriptor, wo WriteOptions, builders []Builder, create func(name string) io.Writer) error {
	s, err := settingsOf(d)
	if err != nil {
		return err
	}
	return term.Write(ctx, create("terms"), s.options(wo.Rows), each(builders, termsIn)...)
}

func (s *termSettings) options(rows int64) term.Options {
	b := s.builder()
	return term.Options{Rows: rows, Coarse: s.coarse, Fields: b.Fields(), Scored: b.Scored(), Collation: s.collation}
}

// Join implements [Joiner].
func (termKind) Join(ctx context.Context, d *shardpb.IndexDescriptor, o JoinOptions, segments []Segment, create func(name string) io.Writer) error {
	s, err := settingsOf(d)
	if err != nil {
		return err
	}
	var parts []term.Part
	for _, one := range segments {
		x := one.Index.(*termIndex).Index
		if one.First%int64(x.Coarse) != 0 && x.Rows > 0 {
			return fmt.Errorf("one row of lists for %d, of rows from %d on: %w", x.Coarse, one.First, ErrCannotJoin)
		}
		if x.Rows > 0 {
			parts = append(parts, term.Part{Index: x, First: one.First})
		}
	}
	return term.Join(ctx, create("terms"), s.options(o.Rows), o.Memory, parts...)
}

// termBuilder takes texts out of arrays.
type termBuilder struct{ *term.Builder }

func termsIn(b *termBuilder) *term.Builder { return b.Builder }

func (b *termBuilder) Add(first int64, columns []arrow.Array) error {
	for i, arr := range columns {
		if first+int64(arr.Len()) > postings.MaxRow+1 {
			return fault.Limitf("term index of more than %d rows", postings.MaxRow+1)
		}
		err := texts.Each(arr, func(row int, text []byte) error { return b.Builder.Add(i, uint32(first)+uint32(row), text) })
		if err != nil {
			return err
		}
	}
	return nil
}

// analyzer takes texts apart as the index does with those of a field.
func (s *termSettings) analyzer(field int) analyzer {
	return analyzer{tokenizer: s.tokenizers[field], collation: s.collation, inside: true, phrases: s.phrases}
}

// termCost is about how many values could be looked at in the time of one term.
const termCost = 256

func (termKind) Cost(d *shardpb.IndexDescriptor, opened Index, c *Condition) (int64, bool) {
	var s *termSettings
	if x, ok := opened.(*termIndex); ok {
		s = &x.settings
	} else if parsed, err := settingsOf(d); err == nil {
		s = &parsed
	} else {
		return termCost, true // Ask will tell
	}
	q := s.question(*c)
	c.asked = &q
	return s.cost(q)
}

// question is what a condition says about terms. Several tests are one question if it takes more than one of them to answer it.
func (s *termSettings) question(c Condition) question {
	a := s.analyzer(c.Field)
	if len(c.Parts) == 1 {
		return a.questionOf(c.Parts[0])
	}
	var needs []*need
	exact := true
	for _, p := range c.Parts {
		q := a.questionOf(p)
		if q.not || q.need == nil {
			exact = false
			continue
		}
		needs, exact = append(needs, q.need), exact && q.exact
	}
	if len(needs) < 2 {
		return question{}
	}
	return question{need: allOf(needs), exact: exact}
}

// cost estimates the values examined for a question.
func (s *termSettings) cost(q question) (int64, bool) {
	return int64(q.need.terms()) * termCost, q.need != nil && (!q.not || q.exact && s.coarse == 1)
}

func (termKind) Open(ctx context.Context, d *shardpb.IndexDescriptor, artifacts []storage.ByteRange, rows int64) (Index, error) {
	s, err := settingsOf(d)
	if err != nil {
		return nil, err
	}
	if len(artifacts) != 1 {
		return nil, fault.Corruptf("term index of %d artifacts", len(artifacts))
	}
	x, err := term.Open(ctx, artifacts[0], rows)
	if err != nil {
		return nil, err
	}
	if x.Options != s.options(rows) {
		return nil, fault.Corruptf("term index of %d fields is described as one of %d, or other properties differ", x.Fields, len(s.tokenizers))
	}
	return &termIndex{Index: x, settings: s, lengths: make([]parallel.Once[[]uint8], x.Scored)}, nil
}

type termIndex struct {
	*term.Index
	settings termSettings
	lengths  []parallel.Once[[]uint8] // codes of the rows of each field with frequencies
	missed   atomic.Int64             // work of looking at values for want of the terms in memory
}

func (x *termIndex) Identity() uint64 { return x.Hash }

func (x *termIndex) Stats() []Stat {
	return []Stat{{"terms", int64(x.Terms)}, {"postings", int64(x.Postings)}, {"rows", x.Rows}, {"coarse", int64(x.Coarse)}}
}

func (x *termIndex) Ask(ctx context.Context, c Condition, all rowset.Set) (maybe, sure rowset.Set, err error) {
	q := c.asked
	if q == nil {
		made := x.settings.question(c)
		q = &made
	}
	exact := q.exact && x.Coarse == 1
	if q.need == nil || q.not && !exact {
		return all, sure, nil
	}
	most := (x.Rows + int64(x.Coarse) - 1) / int64(x.Coarse) // rows of lists
	if exact {                                               // the index decides without a value
		most = math.MaxInt64
	}
	a := asking{x, c.Field, scanWork}
	if q.slow {
		a.scan = slowWork
	}
	f, err := a.lookUp(ctx, q.need, most)
	if err != nil || f == nil {
		return all, sure, err
	}
	if maybe, err = a.rows(ctx, f, all, exact); err != nil {
		return all, sure, err
	}
	if q.not {
		maybe = all.Minus(maybe)
	}
	if exact && (!q.not || c.NoNulls) {
		sure = maybe
	}
	return maybe, sure, nil
}

// found is what the index has of a need: all of some, one of some, the entries of a term, or rows of the table.
type found struct {
	all, any []*found
	entries  []term.Entry
	joined   *rowset.Set
	rows     int64 // of lists at most
}

// What takes how long, in nanoseconds. They are compared with each other only.
const (
	termWork  = 100    // a term of a block that is read
	entryWork = 300    // a list
	rowWork   = 2      // a row of a list
	valueWork = 50_000 // a value of a row that stands alone
	scanWork  = 32     // a value of rows one after the other
	slowWork  = 160    // the same, with a regular expression
)

// asking is a question to a field. A value of rows that are looked at one after the other is so much work.
type asking struct {
	*termIndex
	field int
	scan  int64
}

// So little is done in any case.
const (
	fewBlocks  = 4
	fewEntries = 64
)

// What may save nothing has to be so much less work than what it may save.
const hope = 4

// valuesWork is the work for looking at the values of some rows of lists. For the most rows it is more than any other.
func (x asking) valuesWork(rows int64) int64 {
	if rows == math.MaxInt64 {
		return rows
	}
	return min(rows*(valueWork+int64(x.Coarse)*x.scan), x.Rows*x.scan)
}

// work is the work for reading the rows of what was found.
func (f *found) work() int64 {
	if f.joined != nil {
		return 0
	}
	sum := int64(len(f.entries))*entryWork + f.rows*rowWork
	for _, one := range f.any {
		sum += one.work()
	}
	if len(f.all) > 0 {
		sum = f.all[0].work()
	}
	return sum
}

// lookUp finds the entries of a need of values in so many rows of lists at most. It returns nil if that is more work than to look at the values.
func (x asking) lookUp(ctx context.Context, n *need, most int64) (*found, error) {
	switch {
	case len(n.all) > 0:
		return x.lookUpAll(ctx, n.all, most)
	case len(n.any) > 0:
		f := &found{}
		for _, one := range n.any {
			some, err := x.lookUp(ctx, one, most)
			if err != nil || some == nil {
				return nil, err
			}
			f.any, f.rows = append(f.any, some), f.rows+some.rows
		}
		return f, nil
	}
	t, limit, wanted := &n.term, x.valuesWork(most)/hope, x.field
	if t.pair {
		wanted += len(x.settings.tokenizers)
	}
	entries := x.Find(ctx, t.text, t.behind)
	if t.distance > 0 { // to look at the values takes longer
		entries = x.FindFuzzy(ctx, t.text, t.distance)
	}
	if t.before {
		blocks, err := x.containing(ctx, t.text, limit)
		if blocks == nil || err != nil {
			return nil, err
		}
		entries = x.FindContaining(ctx, blocks, t.text, !t.behind)
	}
	f := &found{}
	for e, err := range entries {
		if err != nil {
			return nil, err
		} else if e.Field != wanted {
			continue
		}
		f.entries, f.rows = append(f.entries, e), f.rows+e.Rows
		if len(f.entries) > fewEntries && f.work() > limit {
			return nil, nil
		}
	}
	return f, nil
}

// containing are the blocks with terms that may contain a text, nil if to look at them is more work than the limit. Where all terms are kept in memory, these say which
// blocks have some; they are read once what was spent without them would have paid for it.
func (x asking) containing(ctx context.Context, text []byte, limit int64) ([]uint32, error) {
	blocks, err := x.Containing(ctx, text)
	most := max(fewBlocks, limit/max(int64(x.Terms)*termWork/int64(max(x.Blocks(), 1)), 1))
	if int64(len(blocks)) > most {
		x.missed.Add(hope * limit)
	}
	if err == nil && len(blocks) > fewBlocks && x.missed.Load() >= int64(x.Terms)*termWork {
		blocks, err = x.Narrow(ctx, blocks, text)
	}
	if err != nil || int64(len(blocks)) > most {
		return nil, err
	}
	return append([]uint32{}, blocks...), nil
}

// fewRows are so few that they are looked at without the other terms. Of those, each is a request over a network.
const fewRows = 4

// lookUpAll looks first for what is found with the least work, and of that for long texts, which few rows have.
func (x asking) lookUpAll(ctx context.Context, needs []*need, most int64) (*found, error) {
	needs = slices.Clone(needs)
	slices.SortStableFunc(needs, func(a, b *need) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(b.term.text), len(a.term.text)))
	})
	f := &found{rows: most}
	for i, n := range needs {
		if i > 0 && n.rank() > needs[i-1].rank() && most != math.MaxInt64 {
			if err := x.join(ctx, f); err != nil {
				return nil, err
			}
		}
		if f.rows <= fewRows && most != math.MaxInt64 {
			break
		}
		left := f.rows
		if most == math.MaxInt64 { // no need is left out
			left = most
		}
		some, err := x.lookUp(ctx, n, left)
		if err != nil {
			return nil, err
		}
		if some == nil {
			continue
		}
		if f.all, f.rows = append(f.all, some), min(f.rows, some.rows); f.rows == 0 {
			return &found{}, nil
		}
	}
	if len(f.all) == 0 {
		return nil, nil
	}
	f.sort()
	return f, nil
}

// maxJoined bounds the rows that are joined before more terms are looked for, and remembered.
const maxJoined = 1 << 16

// join finds the rows that have all terms so far, so that no others are looked for in vain.
func (x asking) join(ctx context.Context, f *found) error {
	if len(f.all) < 2 || f.rows > maxJoined {
		return nil
	}
	f.sort()
	rows, err := x.rows(ctx, f, rowset.All(x.Rows), false)
	if err != nil {
		return err
	}
	f.rows = (rows.Len() + int64(x.Coarse) - 1) / int64(x.Coarse)
	f.all = []*found{{joined: &rows, rows: f.rows}}
	return nil
}

// sort brings the rarest to the front.
func (f *found) sort() {
	slices.SortStableFunc(f.all, func(a, b *found) int { return cmp.Compare(a.rows, b.rows) })
}

// rank orders needs by the work of looking for them: whole terms, those with a text at their beginning, those with one inside.
func (n *need) rank() (r int) {
	for _, one := range slices.Concat(n.all, n.any) {
		r = max(r, one.rank())
	}
	switch {
	case n.term.before || n.term.distance > 0:
		return 2
	case n.term.behind:
		return 1
	}
	return r
}

// rows returns the rows among some that have, or may have if the index is coarse, what was found. Unless it is to be exact, it leaves
// out what is more work than to look at the values.
func (x asking) rows(ctx context.Context, f *found, among rowset.Set, exact bool) (rows rowset.Set, err error) {
	if among.Empty() || f.rows == 0 {
		return rowset.Set{}, nil
	}
	switch {
	case f.joined != nil:
		return f.joined.And(among), nil
	case len(f.all) > 0:
		rows = among
		for i, one := range f.all {
			if i > 0 && !exact && x.valuesWork(rows.Len())/hope < one.work() {
				continue
			}
			if rows, err = x.rows(ctx, one, rows, exact); err != nil || rows.Empty() {
				break
			}
		}
		return rows, err
	case len(f.any) > 0:
		for _, one := range f.any {
			some, err := x.rows(ctx, one, among, exact)
			if err != nil {
				return rows, err
			}
			rows = rows.Or(some)
		}
		return rows, nil
	}
	return x.rowsOf(ctx, f, among)
}

// rowsOf returns the rows among some that some entries have, or may have if the index is coarse.
func (x *termIndex) rowsOf(ctx context.Context, f *found, among rowset.Set) (rowset.Set, error) {
	bounds, coarse := among.Bounds(), int64(x.Coarse)
	first, end := bounds.From/coarse, (bounds.To+coarse-1)/coarse
	var wanted func(from, to uint32) bool // nil for all
	if among.Len() < bounds.Len() {
		wanted = func(from, to uint32) bool { return among.Overlaps(int64(from)*coarse, int64(to)*coarse) }
	}
	var set rowset.Set
	if f.rows > (end-first)/denseShare || len(f.entries) > 1 && f.rows > 1024 {
		few := coarse == 1 && among.Len() <= (end-first)/denseShare
		room := new([]byte)
		if few { // whose bits are not kept
			room = bitmaps.Get().(*[]byte)
			defer bitmaps.Put(room)
		}
		bits, base, err := x.Mark(ctx, *room, f.entries, uint32(first), uint32(end), wanted)
		if *room = bits; err != nil || few {
			return among.InBits(bits, int64(base)), err
		}
		set = rowset.Dense(bits, int64(base))
	} else {
		list := make([]uint32, 0, min(f.rows, int64(len(f.entries))*(end-first)))
		for _, e := range f.entries {
			if err := x.EachPart(ctx, e, uint32(first), uint32(end), wanted, func(rows []uint32) error {
				list = append(list, rows...)
				return ctx.Err()
			}); err != nil {
				return set, err
			}
		}
		if len(f.entries) > 1 {
			slices.Sort(list)
			list = slices.Compact(list)
		}
		set = rowset.FromPositions(list)
	}
	if coarse == 1 {
		return set.And(among), nil
	}
	var ranges []rowset.Range
	for r := range set.Ranges() {
		ranges = append(ranges, rowset.Range{From: r.From * coarse, To: min(r.To*coarse, bounds.To)})
	}
	return rowset.Of(ranges...).And(among), nil
}

// denseShare is the most rows of lists for each that a list has, from which on its rows are bits.
const denseShare = 64

// bitmaps have memory for lists among few rows.
var bitmaps = sync.Pool{New: func() any { return new([]byte) }}

func (x *termIndex) Compare(ctx context.Context, built Index, found func(error) error) error {
	return x.Index.Compare(ctx, built.(*termIndex).Index, found)
}
