// Package otlp converts OTLP messages to columns of spans and back.
package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/distinct"
	"github.com/amudai/amudai-go/internal/text"
)

// Options are those of a [Builder]. The zero value is the default.
type Options struct {
	PadIDs bool // ids that are too short get zeros in front; by default they are errors

	MaxColumns  int // of a block; by default the limit of the format, 10,000
	MaxValueLen int // bytes of a string; by default the limit of the format, 10 MiB
	MaxNameLen  int // bytes of the name of a column; by default the limit of the format, 1024
}

// Stats count what a [Builder] took.
type Stats struct {
	Spans          int64
	EmptyResources int64 // ResourceSpans without spans, which no column keeps
	EmptyScopes    int64 // ScopeSpans without spans, likewise
	Padded         int64 // ids that were padded
	UnknownFields  int64 // fields of messages around ResourceSpans that OTLP does not have, which no column keeps
}

// Tell calls say for what was left out or changed.
func (s Stats) Tell(say func(string)) {
	for _, w := range []struct {
		n    int64
		what string
	}{
		{s.EmptyResources, "resources without spans are left out"},
		{s.EmptyScopes, "scopes without spans are left out"},
		{s.UnknownFields, "fields around resources that OTLP does not have are left out"},
		{s.Padded, "ids are padded with zeros"},
	} {
		if w.n > 0 {
			say(fmt.Sprintf("%d %s", w.n, w.what))
		}
	}
}

// ErrTooManyColumns means that spans have more different attributes than a block can hold. Those that the builder has fit.
var ErrTooManyColumns = errors.New("too many columns for one block")

// ValueTooLongError means that a value or a name exceeds a limit of the format.
type ValueTooLongError struct {
	Column string // its beginning, if the name is too long
	Name   bool   // the name is too long, not the value
	Len    int    // bytes
	Limit  int
}

// Error names the column and the limit.
func (e *ValueTooLongError) Error() string {
	if e.Name {
		return fmt.Sprintf("name of a column of %d bytes (%q): the format allows %d", e.Len, e.Column, e.Limit)
	}
	return fmt.Sprintf("value of %d bytes in column %q: the format allows %d", e.Len, e.Column, e.Limit)
}

// Block is the columns of some spans, sorted by name and type. Each has a value in some row.
type Block struct {
	Rows    int
	Columns []*column.Column
}

// Column finds a column, nil if there is none.
func (b *Block) Column(name string, t column.Type) *column.Column {
	i, ok := slices.BinarySearchFunc(b.Columns, column.Key{Name: name, Type: t}, func(c *column.Column, k column.Key) int { return c.Key().Compare(k) })
	if !ok {
		return nil
	}
	return b.Columns[i]
}

// The scopes of attributes.
const (
	ofSpan = iota
	ofResource
	ofScope
)

var (
	prefixes = [...]string{spans.SpanPrefix, spans.ResourcePrefix, spans.ScopePrefix}
	depths   = [...]int{4, 3, 4} // messages around an attribute
)

// Builder collects spans in columns. Strings of attributes and names are stored once, and rows refer to them by codes. A
// builder is used by one goroutine.
type Builder struct {
	o     Options
	rows  int
	used  int // columns with values
	stats Stats
	sizes []uint32 // of the spans, for blocks of a limited size
	size  int      // of the strings and bytes that were added of a span
	fill  fill

	fields []*columnBuilder // intrinsics and extensions, as in spans.Intrinsics
	attrs  [3]attributes    // by scope
	list   int              // number of the current list of attributes

	// Scratch: the values of the span, the resource and the scope at hand.
	values       []value             // of fields, as in spans.Intrinsics, and one that is not used
	taken        [3][]attributeValue // by scope
	inner        []byte              // unknown fields of the Resource, InstrumentationScope or Status
	unusedValues bool                // values may be interned that no row has
}

// NewBuilder makes an empty builder.
func NewBuilder(o Options) *Builder {
	o.MaxColumns = cmp.Or(o.MaxColumns, layout.MaxColumns)
	o.MaxValueLen = cmp.Or(o.MaxValueLen, column.MaxValueLen)
	o.MaxNameLen = cmp.Or(o.MaxNameLen, column.MaxNameLen)
	b := &Builder{o: o, values: make([]value, len(spans.Intrinsics)+1)}
	for _, f := range spans.Intrinsics {
		scope, _, _ := scopeOf(f.Name)
		b.fields = append(b.fields, &columnBuilder{definition: definition{
			b: b, name: f.Name, typ: f.Type, always: spans.IsRequired(f.Name), idLen: spans.LengthOfIDs(f.Name),
			// Those of resources and scopes have the same value in many rows.
			interned: f.Type == column.String || f.Type == column.Bytes && scope != ofSpan || f.Name == spans.Attrs, single: scope == ofSpan,
		}})
	}
	for i := range b.attrs {
		b.attrs[i].reset()
	}
	return b
}

// Rows is the number of spans.
func (b *Builder) Rows() int { return b.rows }

// Bytes estimates the memory of the spans.
func (b *Builder) Bytes() int {
	n := 0
	for c := range b.columns {
		n += c.bytes()
	}
	return n
}

// Stats are the counts since the builder was made.
func (b *Builder) Stats() Stats { return b.stats }

// columns yields all columns, also those without values.
func (b *Builder) columns(yield func(c *columnBuilder) bool) {
	for _, c := range b.fields {
		if !yield(c) {
			return
		}
	}
	for i := range b.attrs {
		for _, k := range b.attrs[i].keys {
			for _, c := range k.columns {
				if c != nil && !yield(c) {
					return
				}
			}
		}
	}
}

// Finish removes all spans and returns them. The builder may be used for others.
func (b *Builder) Finish() Block {
	out := Block{Rows: b.rows}
	for c := range b.columns {
		if c.n > 0 {
			out.Columns = append(out.Columns, c.column(b.rows, b.unusedValues))
		} else if c.interned {
			c.values, c.spread = distinct.Set{}, false
		}
	}
	b.rows, b.used, b.sizes, b.fill, b.unusedValues = 0, 0, b.sizes[:0], fill{}, false
	b.forgetKeys()
	slices.SortFunc(out.Columns, func(a, b *column.Column) int { return a.Key().Compare(b.Key()) })
	return out
}

// Take removes the first n spans and returns them. Other spans are copied.
func (b *Builder) Take(n int) (Block, error) {
	if n >= b.rows {
		return b.Finish(), nil
	}
	sizes := slices.Clone(b.sizes[n:])
	parts := b.Finish().Split([]int{n, len(sizes) + n})
	for _, c := range parts[1].Columns {
		to, err := b.target(c)
		if err == nil {
			err = b.addColumn(to, c)
		}
		if err != nil {
			return Block{}, err
		}
	}
	b.rows, b.sizes, b.unusedValues = len(sizes), sizes, false
	return parts[0], nil
}

// mark is the state of a builder that it can go back to.
type mark struct {
	rows  int
	stats Stats
}

func (b *Builder) mark() mark { return mark{b.rows, b.stats} }

// rollback removes what came after a mark. Values that were interned stay until the block ends.
func (b *Builder) rollback(m mark) {
	b.rows, b.stats, b.used, b.unusedValues = m.rows, m.stats, 0, true
	b.sizes, b.fill = b.sizes[:m.rows], fill{}
	for c := range b.columns {
		if c.cut(m.rows); c.n > 0 {
			b.used++
		}
	}
	b.forgetKeys()
}

// forgetKeys forgets the keys of attributes that no row has, so that they do not add up.
func (b *Builder) forgetKeys() {
	for i := range b.attrs {
		b.attrs[i].forget()
	}
}

// check checks the length of a value.
func (b *Builder) check(c *columnBuilder, v []byte) error {
	if len(v) > b.o.MaxValueLen {
		return &ValueTooLongError{Column: c.name, Len: len(v), Limit: b.o.MaxValueLen}
	}
	return nil
}

// nameTooLong is the error of an attribute whose column would have too long a name.
func (b *Builder) nameTooLong(scope int, key []byte) error {
	return &ValueTooLongError{Column: prefixes[scope] + text.Clip(string(key)), Name: true, Len: len(prefixes[scope]) + len(key), Limit: b.o.MaxNameLen}
}
