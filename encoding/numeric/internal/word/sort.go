package word

import "slices"

// SortBits sorts values of some bits: by one byte after the other, from the lowest, if those are few.
func SortBits[U Uint](a *Arena, values []U, width int) {
	if width > 24 {
		slices.Sort(values)
		return
	}
	from, to := values, Take[U](a, len(values))
	for shift := 0; shift < width; shift += 8 {
		var ends [257]uint32
		for _, v := range from {
			ends[int(v>>shift&255)+1]++
		}
		for i := range 255 {
			ends[i+1] += ends[i]
		}
		for _, v := range from {
			digit := int(v >> shift & 255)
			to[ends[digit]] = v
			ends[digit]++
		}
		from, to = to, from
	}
	copy(values, from)
}
