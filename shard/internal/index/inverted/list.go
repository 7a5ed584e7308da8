package inverted

// The rules by which the reference shortens lists.
const (
	maxRows   = 64 // rows before a list is of ranges, if any two are consecutive
	maxRanges = 64 // ranges before a list is approximate, if any gap is small
	maxGap    = 3  // rows between ranges of an approximate list that become one
)

// span is a range of rows.
type span struct{ from, to uint32 }

// list is a list of rows in the making.
type list struct {
	form  Form
	rows  []uint32 // of the form Rows
	spans []span   // of other forms
	near  bool     // Rows: two of them are consecutive; Ranges: a gap is small
}

// add adds a row behind the others; the last one again changes nothing.
func (l *list) add(row uint32) {
	if l.form == Rows {
		l.addRow(row)
		return
	}
	gap := uint32(0)
	if l.form == Approximate {
		gap = maxGap
	}
	last := &l.spans[len(l.spans)-1]
	if row <= last.to+gap {
		last.to = max(last.to, row+1)
	} else {
		l.near = l.near || row <= last.to+maxGap
		l.spans = append(l.spans, span{row, row + 1})
	}
	if l.form == Ranges && len(l.spans) > maxRanges && l.near {
		l.form, l.spans = Approximate, joined(l.spans, maxGap)
	}
}

func (l *list) addRow(row uint32) {
	if n := len(l.rows); n > 0 {
		if l.rows[n-1] == row {
			return
		}
		l.near = l.near || l.rows[n-1]+1 == row
	}
	l.rows = append(l.rows, row)
	if len(l.rows) <= maxRows || !l.near {
		return
	}
	for _, r := range l.rows {
		l.spans = append(l.spans, span{r, r + 1})
	}
	l.form, l.rows, l.spans = Ranges, l.rows[:0], joined(l.spans, 0)
	l.near = false
	for i := range l.spans[1:] {
		l.near = l.near || l.spans[i+1].from <= l.spans[i].to+maxGap
	}
}

// joined joins spans with a gap between them, in place.
func joined(spans []span, gap uint32) []span {
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.from <= last.to+gap {
			last.to = s.to
		} else {
			out = append(out, s)
		}
	}
	return out
}

// each calls yield with the numbers that are stored.
func (l *list) each(yield func(uint64)) {
	for _, r := range l.rows {
		yield(uint64(r))
	}
	for _, s := range l.spans {
		yield(uint64(s.from))
		yield(uint64(s.to))
	}
}
