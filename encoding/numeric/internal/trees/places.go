package trees

import "github.com/amudai/amudai-go/encoding/numeric/internal/word"

// DecodePlaces is [Decode] of the values at ascending places, one for each of dst, of a tree of n.
func DecodePlaces[U word.Uint](dst []U, places []uint32, tree []byte, t word.Type, n int, s *Scratch) error {
	v, err := ParseView[U](nil, tree, t, n, places, s)
	if err != nil || len(dst) == 0 {
		return err
	}
	switch v.Form {
	case Single:
		word.Fill(dst, v.Values[0])
	case Runs:
		ends, err := RunEnds(v.Lengths, n)
		if err != nil {
			return err
		}
		pickRuns(dst, v.Values, ends, places)
	case Coded:
		codes := word.Take[uint32](&s.Mem, len(dst))
		if v.Codes.All != nil {
			pick(codes, v.Codes.All, places)
		} else {
			v.Codes.Chunks.Pick(codes, places, s)
		}
		return Gather(dst, codes, v.Values)
	case InChunks:
		v.Chunks.Pick(dst, places, s)
	default:
		pick(dst, v.Values, places)
	}
	return nil
}

// DecodePartPlaces is [DecodePart] of the values at ascending places, one for each of dst.
func DecodePartPlaces[U word.Uint](dst []U, places []uint32, p *Part, s *Scratch) error {
	if p.Nested {
		return DecodePlaces(dst, places, p.Bytes, p.T, p.N, s)
	}
	all := word.Take[U](&s.Mem, p.N)
	if err := DecodePart(all, p, s); err != nil {
		return err
	}
	pick(dst, all, places)
	return nil
}

// pick copies the values at ascending positions.
func pick[U word.Uint](dst, src []U, places []uint32) {
	for i, p := range places {
		dst[i] = src[p]
	}
}

// pickRuns iterates over the runs. The last one ends after the last position.
func pickRuns[U word.Uint](dst, values []U, ends, places []uint32) {
	k := 0
	for i, p := range places {
		if p >= ends[k] {
			k = runOf(ends, k, p)
		}
		dst[i] = values[k]
	}
}

// runOf returns the first run from k on that ends after a position. It compares several at a time, because branches
// on each would be mispredicted.
func runOf(ends []uint32, k int, place uint32) int {
	const many = 64
	for k+many <= len(ends) && ends[k+many-1] <= place {
		k += many
	}
	for k+8 <= len(ends) {
		e := (*[8]uint32)(ends[k:])
		before := func(end uint32) int { return int(uint64(int64(end)-1-int64(place)) >> 63) } // 1 if it ends at or before the position
		n := before(e[0]) + before(e[1]) + before(e[2]) + before(e[3]) +
			before(e[4]) + before(e[5]) + before(e[6]) + before(e[7])
		if k += n; n < len(e) {
			return k
		}
	}
	for ends[k] <= place {
		k++
	}
	return k
}
