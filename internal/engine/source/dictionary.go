package source

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Dictionary is the value dictionaries of a stripe: a condition is evaluated once an
// entry. It knows rows only where the condition is true for all entries or for none; in
// between, [Dictionary.Codes] says which codes to look for.
type Dictionary struct {
	stripe *Stripe
	codes  map[*predicate.Node]*Codes
	notes  []string
}

// Codes tells for each entry of a value dictionary whether a condition is true for it.
type Codes struct {
	Keep    []byte // 1 if it is, 0 if not
	verdict predicate.Verdict
	kept    int
}

// Only is the one entry that the condition is true for; ok is false if there are several.
func (c *Codes) Only() (entry int, ok bool) { return bytes.IndexByte(c.Keep, 1), c.kept == 1 }

// Codes are those for a condition, nil if the source was not asked about it, or its column
// has no dictionary.
func (d *Dictionary) Codes(leaf *predicate.Node) *Codes {
	if d == nil {
		return nil
	}
	return d.codes[leaf]
}

// Kind implements [Source].
func (d *Dictionary) Kind() Kinds { return Dictionaries }

// Cost implements [Source].
func (d *Dictionary) Cost(leaf *predicate.Node) (int64, bool) {
	if leaf.Kind != predicate.NodeLeaf {
		return 0, false
	}
	c := &d.stripe.Columns[leaf.Column]
	return c.DictionaryEntries, c.Direct && c.DictionaryEntries > 0
}

// Ask implements [Source].
func (d *Dictionary) Ask(ctx context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error) {
	column := &d.stripe.Columns[leaf.Column]
	entries, err := column.Entries(ctx)
	if entries == nil || err != nil {
		return Answer{Maybe: among}, err
	}
	c, err := d.evaluate(leaf, entries)
	if err != nil {
		return Answer{}, err
	}
	if d.codes == nil {
		d.codes = map[*predicate.Node]*Codes{}
	}
	d.codes[leaf] = c
	d.notes = append(d.notes, fmt.Sprintf("%d of %d entries of %s", c.kept, len(c.Keep), column.Path))
	return answerOf(c.verdict, among), nil
}

// Note implements [Source].
func (d *Dictionary) Note() string { return notes(d.notes) }

// evaluate evaluates a condition on the entries of its column's dictionary.
func (d *Dictionary) evaluate(leaf *predicate.Node, entries arrow.Array) (*Codes, error) {
	columns := make([]arrow.Array, len(d.stripe.Columns))
	columns[leaf.Column] = entries
	bits, err := leaf.Eval(nil, columns, entries.Len())
	if err != nil {
		return nil, err
	}
	c := &Codes{Keep: make([]byte, entries.Len())}
	for i := range c.Keep {
		c.Keep[i] = bits[i/8] >> (i % 8) & 1
		c.kept += int(c.Keep[i])
	}
	switch c.kept {
	case 0:
		c.verdict = predicate.None
	case len(c.Keep):
		c.verdict = predicate.All
	}
	return c, nil
}
