package decimal

// fromDeclet is the value of each of the 1,024 declets, toDeclet the canonical declet of each
// value below 1,000. 24 declets are not canonical: another declet has the same value.
var fromDeclet, toDeclet = makeTables()

// makeTables follows the definition of DPD. With the three digits as bits abcd
// efgh ijkm, a digit is large (8 or 9) if its first bit is set; the ten bits
// are then, by a, e, i:
//
//	000  bcd fgh 0 jkm     100  jkd fgh 1 10m
//	001  bcd fgh 1 00m     101  fgd 01h 1 11m
//	010  bcd jkh 1 01m     110  jkd 00h 1 11m
//	011  bcd 10h 1 11m     111  00d 11h 1 11m
func makeTables() (from [1024]uint16, to [1000]uint16) {
	for declet := range uint16(1024) {
		from[declet] = declet2value(declet)
	}
	for declet := 1023; declet >= 0; declet-- { // canonical declets have 0 for bits without a meaning
		to[from[declet]] = uint16(declet)
	}
	return from, to
}

func declet2value(b uint16) uint16 {
	pq, r := b>>8&3, b>>7&1
	st, u := b>>5&3, b>>4&1
	wx, y := b>>1&3, b&1
	small := func(two, one uint16) uint16 { return two<<1 | one }
	large := func(one uint16) uint16 { return 8 | one }
	digits := func(x, y, z uint16) uint16 { return 100*x + 10*y + z }
	if b>>3&1 == 0 {
		return digits(small(pq, r), small(st, u), small(wx, y))
	}
	switch wx {
	case 0:
		return digits(small(pq, r), small(st, u), large(y))
	case 1:
		return digits(small(pq, r), large(u), small(st, y))
	case 2:
		return digits(large(r), small(st, u), small(pq, y))
	}
	switch st {
	case 0:
		return digits(large(r), large(u), small(pq, y))
	case 1:
		return digits(large(r), small(pq, u), large(y))
	case 2:
		return digits(small(pq, r), large(u), large(y))
	}
	return digits(large(r), large(u), large(y))
}
