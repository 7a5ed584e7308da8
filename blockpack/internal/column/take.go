package column

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// takeCoded decodes the values of present rows. ranks are their numbers among those.
func (r *Reader) takeCoded(rows, ranks []int) (Values, error) {
	if len(rows) == 0 {
		return r.noValues(), nil
	}
	positions := ranks
	if r.kind.Dense() {
		positions = rows
	}
	codes, err := r.codesAt(positions)
	if err != nil {
		return Values{}, err
	}
	body, err := r.d.decompress(r.d.first, r.first, r.o.Limits.Bytes)
	if err != nil {
		return Values{}, err
	}
	r.d.first = body
	v, err := r.entriesAt(body, codes)
	if err != nil {
		return Values{}, r.first.in(err, 0)
	}
	return v, nil
}

// noValues is the Values of a column without values.
func (r *Reader) noValues() Values {
	if r.typ.Textual() {
		return Values{Offsets: []uint32{0}}
	}
	return Values{}
}

// codesAt decodes the codes at positions, which ascend, of those stored.
func (r *Reader) codesAt(positions []int) ([]uint32, error) {
	codes := scratch.Slice(&r.d.codes, len(positions))
	switch r.kind {
	case Dictionary, SparseDictionary:
		for i, p := range positions {
			widen(codes[i:i+1], r.second.data[p*r.width:], r.width, 0)
		}
	case RLEIndexes, SparseRLEIndexes:
		rs, err := r.indexRuns(r.stored())
		if err != nil {
			return nil, err
		}
		at, k := 0, 0
		for i := 0; i < rs.len() && k < len(positions); i++ {
			length, value := rs.at(i)
			at += int(length)
			for ; k < len(positions) && positions[k] < at; k++ {
				codes[k] = value
			}
		}
	default:
		data, err := r.deltas(r.stored())
		if err != nil {
			return nil, err
		}
		index, at := uint32(0), 0
		for i, p := range positions {
			for ; at <= p; at++ {
				index += binary.LittleEndian.Uint32(data[4*at:])
			}
			codes[i] = index
		}
	}
	return codes, nil
}

// entriesAt gives entries of a dictionary.
func (r *Reader) entriesAt(body []byte, codes []uint32) (Values, error) {
	size := 4
	if !r.typ.Textual() {
		size = numberSize(r.typ)
	}
	n, err := entries(body, size, r.o.Limits)
	if err != nil {
		return Values{}, err
	}
	if largest := slices.Max(codes); uint64(largest) >= uint64(n) {
		return Values{}, fault.Corruptf("index %d into a dictionary of %d entries", largest, n)
	}
	if r.typ.Textual() {
		return r.stringsAt(body, n, codes)
	}
	v := Values{Numbers: make([]uint64, len(codes))}
	for i, code := range codes {
		v.Numbers[i] = numberAt(body, r.typ, int(code))
	}
	return v, nil
}

// stringsAt gives entries of a dictionary of n strings, in one walk up to the last that is needed.
func (r *Reader) stringsAt(body []byte, n int, codes []uint32) (Values, error) {
	d := r.d
	d.needed = append(d.needed[:0], codes...)
	slices.Sort(d.needed)
	needed := slices.Compact(d.needed)
	found := scratch.Slice(&d.found, len(needed))
	walk := values{data: body, at: 4, limit: r.o.Limits.ValueLen}
	at := 0
	for k, code := range needed {
		err := walk.skip(int(code)-at, 0)
		if err == nil {
			found[k], err = walk.next()
		}
		if err != nil {
			return Values{}, entryError(err, int(code), n)
		}
		at = int(code) + 1
	}
	v := Values{Offsets: make([]uint32, 1, len(codes)+1)}
	size := 0
	for i, code := range codes {
		k, _ := slices.BinarySearch(needed, code)
		codes[i] = uint32(k)
		size += len(found[k])
	}
	v.Data = make([]byte, 0, size)
	for _, k := range codes {
		v.add(found[k])
	}
	return v, nil
}

// takeDelta decodes the values of ranks.
func (r *Reader) takeDelta(ranks []int) (Values, error) {
	v := Values{Numbers: make([]uint64, len(ranks))}
	offsets, err := r.offsets(len(ranks))
	if err != nil {
		return Values{}, err
	}
	for i, rank := range ranks {
		widen(v.Numbers[i:i+1], offsets[r.width*rank:], r.width, r.base)
	}
	return v, nil
}

// takeBytes decodes the values of present rows of the kinds 3, 4 and 8 to 11.
func (r *Reader) takeBytes(rows, ranks []int) (Values, error) {
	if len(rows) == 0 {
		return r.noValues(), nil
	}
	switch r.kind {
	case InlineBytes:
		return r.takeInline(rows)
	case SparseInlineBytes:
		return r.takeInline(ranks)
	case PrefixBytes, SparsePrefixBytes:
		return r.prefixValues(ranks)
	}
	all, err := r.xorValues()
	if err != nil {
		return Values{}, err
	}
	return Pick(&all, ranks), nil
}
