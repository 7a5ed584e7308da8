package numeric

// FOR, code 3, integers (T of size bytes, U the unsigned type of that size):
//
//	03 00 | T reference | zeros up to 8, or 16 if size is 8 | tree of n U: value - reference, modulo 2^bits
//
// FFOR, code 4, packs the differences itself:
//
//	04 00 | T reference | u8 W | zeros up to 8, or 16 | ceil(n/1024) chunks of 128*W bytes
//
// Example, the header of FFOR with int64 reference 1000 and 2 bits:
//
//	04 00 | e8 03 00 00 00 00 00 00 | 02 | 00 00 00 00 00
func decodeFOR[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	header, payload, err := split(tree, sizeOf[U]())
	if err != nil {
		return err
	}
	base := loadOne[U](header)
	p, ok, err := parsePacked[U](payload, t.unsigned(), len(dst))
	if err != nil {
		return err
	}
	if ok {
		p.base += base
		p.unpack(dst, s)
		return nil
	}
	if err := decode(dst, payload, t.unsigned(), s); err != nil {
		return err
	}
	if base != 0 {
		for i := range dst {
			dst[i] += base
		}
	}
	return nil
}

func decodeFFOR[U word](dst []U, tree []byte, s *Scratch) error {
	p, err := parseFFOR[U](tree, len(dst))
	if err != nil {
		return err
	}
	p.unpack(dst, s)
	return nil
}

func parseFFOR[U word](tree []byte, n int) (packed[U], error) {
	size := sizeOf[U]()
	header, payload, err := split(tree, size+1)
	if err != nil {
		return packed[U]{}, err
	}
	return newPacked(loadOne[U](header), int(header[size]), payload, n)
}
