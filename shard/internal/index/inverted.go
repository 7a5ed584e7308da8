package index

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/index/inverted"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Inverted is the type of the reference's text indexes (package inverted).
const Inverted = "inverted-text-index-v1"

// PropertyComplete says of an inverted text index that it has lost no postings, that it has overlapping addresses, and that the fields in it are schema
// ids. Those that the reference makes do not have it, so that they decide about no row.
const PropertyComplete = "complete"

type invertedKind struct{}

func (invertedKind) Type() string { return Inverted }

func (invertedKind) Check(d *shardpb.IndexDescriptor, columns []arrow.Field) error {
	if err := (termKind{}).Check(d, columns); err != nil {
		return err
	}
	if s, err := settingsOf(d); err != nil || slices.ContainsFunc(s.tokenizers, analysis.Tokenizer.Rewrites) {
		return cmp.Or(err, fault.Unsupportedf("inverted text index with a tokenizer that the reference does not have"))
	}
	for _, name := range []string{PropertyCoarse, PropertyPhrases} {
		if property(d, name) != nil {
			return fault.Unsupportedf("inverted text index with the property %s", name)
		}
	}
	return setDefault(d, PropertyComplete, true)
}

// invertedSettings are the properties of an inverted text index.
type invertedSettings struct {
	termSettings
	complete bool
	fields   []uint32 // schema ids
}

func invertedSettingsOf(d *shardpb.IndexDescriptor) (s invertedSettings, err error) {
	if property(d, PropertyCollation) == nil {
		return s, fault.Corruptf("inverted text index without the property %s", PropertyCollation)
	}
	if s.termSettings, err = settingsFrom(shardfile.PropertiesFromProto(d.GetProperties())); err != nil {
		return s, err
	}
	if s.tokenizers == nil { // the default of the reference
		s.tokenizers = slices.Repeat([]analysis.Tokenizer{analysis.Word}, len(d.GetIndexedFields()))
	}
	s.complete, _ = property(d, PropertyComplete).(bool)
	for _, f := range d.GetIndexedFields() {
		if len(f.SchemaIds) != 1 {
			return s, fault.Unsupportedf("inverted text index of %d fields together", len(f.SchemaIds))
		}
		s.fields = append(s.fields, f.SchemaIds[0])
	}
	return s, s.checkFields(d)
}

// question is what a condition says about terms, as far as such an index has them.
func (s *invertedSettings) question(field int, p Part) question {
	a := s.analyzer(field)
	a.inside, a.phrases = false, false
	q := a.questionOf(p)
	if !s.complete {
		q.exact = false
		if s.tokenizers[field] == analysis.Log { // of addresses that overlap only the first is there
			q.need = q.need.without(func(t wantedTerm) bool { return hasDot(t.text) })
		}
	}
	return q
}

// without leaves out some terms.
func (n *need) without(drop func(wantedTerm) bool) *need {
	list := func(needs []*need) (left []*need) {
		for _, one := range needs {
			left = append(left, one.without(drop))
		}
		return left
	}
	switch {
	case n == nil:
		return nil
	case len(n.all) > 0:
		return allOf(list(n.all))
	case len(n.any) > 0:
		return anyOf(list(n.any))
	case drop(n.term):
		return nil
	}
	return n
}

func (invertedKind) NewBuilder(d *shardpb.IndexDescriptor, _ []arrow.Field, o BuildOptions) (Builder, error) {
	s, err := invertedSettingsOf(d)
	if err != nil {
		return nil, err
	}
	return &termBuilder{term.NewBuilder(term.BuilderOptions{Collation: s.collation, Tokenizers: s.tokenizers, Memory: o.Memory, Spool: o.Spool})}, nil
}

func (invertedKind) Write(ctx context.Context, d *shardpb.IndexDescriptor, wo WriteOptions, builders []Builder, create func(name string) io.Writer) error {
	s, err := invertedSettingsOf(d)
	if err != nil {
		return err
	}
	o := inverted.Options{Collation: s.collation, Fields: s.fields, TempDir: wo.TempDir}
	return inverted.Write(ctx, create, o, each(builders, termsIn)...)
}

func (invertedKind) Cost(d *shardpb.IndexDescriptor, _ Index, c *Condition) (int64, bool) {
	s, err := invertedSettingsOf(d)
	if err != nil {
		return termCost, true // Ask will tell
	}
	if len(c.Parts) > 1 {
		return 0, false
	}
	return s.cost(s.question(c.Field, c.Parts[0]))
}

func (invertedKind) Open(ctx context.Context, d *shardpb.IndexDescriptor, artifacts []storage.ByteRange, rows int64) (Index, error) {
	s, err := invertedSettingsOf(d)
	if err != nil {
		return nil, err
	}
	if len(artifacts) != 2 {
		return nil, fault.Corruptf("inverted text index of %d artifacts", len(artifacts))
	}
	x, err := inverted.Open(ctx, artifacts[0], artifacts[1], s.collation, rows)
	if err != nil {
		return nil, err
	}
	return &invertedIndex{x, s}, nil
}

type invertedIndex struct {
	*inverted.Index
	settings invertedSettings
}

// Identity implements [Index].
func (x *invertedIndex) Identity() uint64 { return xxh3.HashString(x.Content) }

func (x *invertedIndex) Stats() []Stat {
	return []Stat{{"pages", x.Pages}, {"positions", x.Positions}, {"rows", x.Rows}}
}

// Ask implements [Index].
func (x *invertedIndex) Ask(ctx context.Context, c Condition, all rowset.Set) (maybe, sure rowset.Set, err error) {
	if len(c.Parts) > 1 {
		return all, sure, nil
	}
	q := x.settings.question(c.Field, c.Parts[0])
	if q.need == nil || q.not && !q.exact {
		return all, sure, nil
	}
	maybe, sure, err = x.having(ctx, c.Field, q.need, all.Bounds())
	if err != nil {
		return all, rowset.Set{}, err
	}
	switch {
	case q.not:
		if maybe, sure = all.Minus(sure), all.Minus(maybe); !c.NoNulls {
			sure = rowset.Set{}
		}
	case !q.exact:
		sure = rowset.Set{}
	}
	return maybe, sure, nil
}

// having returns the rows that may have what is needed, and those that have it.
func (x *invertedIndex) having(ctx context.Context, field int, n *need, among rowset.Range) (maybe, sure rowset.Set, err error) {
	switch {
	case len(n.all) > 0:
		maybe = rowset.Of(among)
		sure = maybe
		for _, one := range n.all {
			someMaybe, some, err := x.having(ctx, field, one, maybe.Bounds())
			if err != nil {
				return maybe, sure, err
			}
			if maybe, sure = maybe.And(someMaybe), sure.And(some); maybe.Empty() {
				break
			}
		}
		return maybe, sure, nil
	case len(n.any) > 0:
		for _, one := range n.any {
			someMaybe, some, err := x.having(ctx, field, one, among)
			if err != nil {
				return maybe, sure, err
			}
			maybe, sure = maybe.Or(someMaybe), sure.Or(some)
		}
		return maybe, sure, nil
	}
	return x.rowsOf(ctx, field, n.term, among.From, among.To)
}

// rowsOf returns the rows that may have a term, and those that have it.
func (x *invertedIndex) rowsOf(ctx context.Context, field int, t wantedTerm, from, to int64) (maybe, sure rowset.Set, err error) {
	var exact, other union
	for e, err := range x.Find(ctx, t.text, t.behind) {
		if err != nil {
			return maybe, sure, err
		}
		for _, l := range e.Lists {
			if x.settings.complete && l.Field != x.settings.fields[field] {
				continue
			}
			rows, err := x.Set(ctx, l, from, to)
			if err != nil {
				return maybe, sure, err
			}
			if l.Form == inverted.Approximate {
				other.add(rows)
			} else {
				exact.add(rows)
			}
		}
	}
	sure = exact.set()
	maybe = sure.Or(other.set())
	if x.settings.complete {
		return maybe, sure, nil
	}
	lost, err := x.lost(ctx, t.text)
	return maybe.Or(lost.Clip(from, to)), sure, err
}

// union is a set of rows in the making: ranges in any order.
type union struct {
	ranges []rowset.Range
	limit  int // of ranges before those that overlap are joined
}

func (u *union) add(rows rowset.Set) {
	for r := range rows.Ranges() {
		u.ranges = append(u.ranges, r)
	}
	if u.limit = max(u.limit, 1<<16); len(u.ranges) > u.limit {
		u.ranges = slices.AppendSeq(u.ranges[:0], u.set().Ranges())
		u.limit = 2 * len(u.ranges)
	}
}

func (u *union) set() rowset.Set { return rowset.Of(u.ranges...) }

// lost returns the row that the reference may have lost of a term: it leaves out a row that is the last one of the term before.
func (x *invertedIndex) lost(ctx context.Context, text []byte) (rows rowset.Set, err error) {
	l, ok, err := x.Before(ctx, text)
	if err != nil || !ok {
		return rows, err
	}
	row, ok, err := x.Last(ctx, l)
	if err != nil || !ok {
		return rows, err
	}
	return rowset.Of(rowset.Range{From: row, To: row + 1}), nil
}

// Compare implements [Index].
func (x *invertedIndex) Compare(ctx context.Context, built Index, found func(error) error) error {
	other := built.(*invertedIndex)
	if err := x.compareTo(ctx, other, other, found); err != nil {
		return err
	}
	return x.compareTo(ctx, other, x, found)
}

// compareTo compares the rows of all terms of one of two indexes, x and another that has lost nothing.
func (x *invertedIndex) compareTo(ctx context.Context, other, terms *invertedIndex, found func(error) error) error {
	for e, err := range terms.All(ctx) {
		if err != nil {
			return err
		}
		if !x.settings.complete && hasDot(e.Term) {
			continue
		}
		for field := range x.settings.fields {
			same, err := x.sameRows(ctx, other, field, wantedTerm{text: e.Term})
			if err == nil && !same {
				err = found(fault.Corruptf("term %q of field %d has other rows than the data", e.Term, field))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sameRows reports whether a term may have the same rows in two indexes.
func (x *invertedIndex) sameRows(ctx context.Context, other *invertedIndex, field int, t wantedTerm) (bool, error) {
	maybe, sure, err := x.rowsOf(ctx, field, t, 0, x.Rows)
	if err != nil {
		return false, err
	}
	otherMaybe, otherSure, err := other.rowsOf(ctx, field, t, 0, x.Rows)
	if err != nil || x.settings.complete {
		return maybe.Equal(otherMaybe) && sure.Equal(otherSure), err
	}
	return otherSure.Minus(maybe).Empty() && sure.Minus(otherMaybe).Empty(), nil
}
