package main

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// span is the rows from From up to, not including, To of the row groups that
// are read.
type span struct{ from, to int64 }

// seekGap is the largest gap of rows that is decoded rather than skipped: a seek makes every
// column decompress a page and its dictionary again.
const seekGap = suite.BatchRows

// prune drops row groups by their statistics, and rows by the page index, which arrow-go's
// reader does not do.
func prune(r *file.Reader, where conds) (groups []int, spans []span, err error) {
	at := int64(0)
	for g := range r.NumRowGroups() {
		rows := r.MetaData().RowGroup(g).NumRows()
		if len(where) > 0 {
			excluded, err := groupExcluded(r, g, where)
			if err != nil {
				return nil, nil, err
			}
			if excluded {
				continue
			}
		}
		groups = append(groups, g)
		kept, err := keptRows(r, g, rows, where)
		if err != nil {
			return nil, nil, err
		}
		for _, k := range kept {
			spans = appendSpan(spans, span{at + k.from, at + k.to})
		}
		at += rows
	}
	return groups, spans, nil
}

// appendSpan adds a span, or lengthens the last one over a small gap.
func appendSpan(spans []span, s span) []span {
	if n := len(spans); n > 0 && s.from-spans[n-1].to < seekGap {
		spans[n-1].to = s.to
		return spans
	}
	return append(spans, s)
}

func groupExcluded(r *file.Reader, group int, where conds) (bool, error) {
	for _, c := range where {
		i := r.MetaData().Schema.ColumnIndexByName(c.column)
		chunk, err := r.MetaData().RowGroup(group).ColumnChunk(i)
		if err != nil {
			return false, err
		}
		stats, err := chunk.Statistics()
		if err != nil {
			return false, err
		}
		if stats != nil && stats.HasMinMax() && c.excludes(chunk.Type(), stats.EncodeMin(), stats.EncodeMax()) {
			return true, nil
		}
	}
	return false, nil
}

// keptRows are the rows of a row group that no bounds of a page exclude.
func keptRows(r *file.Reader, group int, rows int64, where conds) ([]span, error) {
	kept := []span{{0, rows}}
	if len(where) == 0 {
		return kept, nil
	}
	index, err := r.GetPageIndexReader().RowGroup(group)
	if err != nil || index == nil {
		return kept, err
	}
	for _, c := range where {
		i := r.MetaData().Schema.ColumnIndexByName(c.column)
		bounds, err := index.GetColumnIndex(i)
		if err != nil {
			return nil, err
		}
		places, err := index.GetOffsetIndex(i)
		if err != nil {
			return nil, err
		}
		if bounds == nil || places == nil {
			continue
		}
		var pages []span
		locations := places.GetPageLocations()
		for p, location := range locations {
			end := rows
			if p+1 < len(locations) {
				end = locations[p+1].FirstRowIndex
			}
			physical := r.MetaData().Schema.Column(i).PhysicalType()
			if !bounds.GetNullPages()[p] && !c.excludes(physical, bounds.GetMinValues()[p], bounds.GetMaxValues()[p]) {
				pages = append(pages, span{location.FirstRowIndex, end})
			}
		}
		kept = intersect(kept, pages)
	}
	return kept, nil
}

// intersect is the intersection of two ascending lists of spans.
func intersect(a, b []span) []span {
	var out []span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		s := span{max(a[i].from, b[j].from), min(a[i].to, b[j].to)}
		if s.from < s.to {
			out = append(out, s)
		}
		if a[i].to < b[j].to {
			i++
		} else {
			j++
		}
	}
	return out
}

// excludes reports whether no value between two bounds satisfies the condition.
func (c cond) excludes(t parquet.Type, least, most []byte) bool {
	if c.ranged {
		lo, ok1 := integer(t, least)
		hi, ok2 := integer(t, most)
		return ok1 && ok2 && (hi < c.from || lo > c.to)
	}
	if c.equals != "" && t == parquet.Types.ByteArray {
		return bytes.Compare([]byte(c.equals), least) < 0 || bytes.Compare([]byte(c.equals), most) > 0
	}
	return false
}

// integer reads a bound of an integer, date or decimal column.
func integer(t parquet.Type, b []byte) (int64, bool) {
	switch {
	case t == parquet.Types.Int64 && len(b) == 8:
		return int64(binary.LittleEndian.Uint64(b)), true
	case t == parquet.Types.Int32 && len(b) == 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), true
	case t == parquet.Types.FixedLenByteArray && len(b) > 0 && len(b) <= 8:
		return bigEndian(b), true
	}
	return 0, false
}

// bigEndian is a number of at most eight bytes, or one that fits into them.
func bigEndian(b []byte) int64 {
	v := int64(int8(b[0]))
	for _, x := range b[1:] {
		v = v<<8 | int64(x)
	}
	return v
}
