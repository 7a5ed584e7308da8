package source

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Dictionary asks the value dictionaries of a stripe. A condition is evaluated once per entry. If it is true for
// all entries or for none, it is decided for all rows. Otherwise [Dictionary.Codes] has the codes for which it is
// true.
type Dictionary struct {
	stripe *Stripe
	codes  map[*predicate.Node]*Codes
	notes  []string
}

// Codes has the entries of a value dictionary for which a condition is true.
type Codes struct {
	Keep    []byte // 1 if the condition is true for the entry, else 0
	Mixed   bool   // some rows have values of their own
	verdict predicate.Verdict
	kept    int
}

// Only is the single entry for which the condition is true. ok is false if there are several or none, or values beside the entries.
func (c *Codes) Only() (entry int, ok bool) {
	return bytes.IndexByte(c.Keep, 1), c.kept == 1 && !c.Mixed
}

// Codes returns the codes for a condition. It is nil if the source was not asked about the condition, or if the
// column has no dictionary.
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
	d.notes = append(d.notes, fmt.Sprintf("%d of %d entries of %s", c.kept, len(c.Keep), d.stripe.Path(leaf.Column)))
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
	c := &Codes{Keep: make([]byte, entries.Len()), Mixed: d.stripe.Columns[leaf.Column].Mixed}
	for i := range c.Keep {
		c.Keep[i] = bits[i/8] >> (i % 8) & 1
		c.kept += int(c.Keep[i])
	}
	switch {
	case c.Mixed:
	case c.kept == 0:
		c.verdict = predicate.None
	case c.kept == len(c.Keep):
		c.verdict = predicate.All
	}
	return c, nil
}
