package convert

import (
	"fmt"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/bitmap"
)

// CheckUTF8 verifies that every value is valid UTF-8. Value i is
// data[offsets[i]:offsets[i+1]]; there is one offset more than values.
func CheckUTF8[O int32 | int64](data []byte, offsets []O, valid bitmap.Bits) error {
	if len(offsets) < 2 {
		return nil
	}
	if utf8.Valid(data[offsets[0]:offsets[len(offsets)-1]]) && cutBetweenRunes(data, offsets) {
		return nil
	}
	for i := range len(offsets) - 1 {
		v := data[offsets[i]:offsets[i+1]]
		if valid.At(i) && !utf8.Valid(v) {
			return &RowError{Row: i, Value: fmt.Sprintf("text %.40q", v), Reason: "is not valid UTF-8; make the column binary to keep it"}
		}
	}
	return nil
}

// cutBetweenRunes tells whether no value begins inside a rune. Then, if all of
// the data is valid, so is every value.
func cutBetweenRunes[O int32 | int64](data []byte, offsets []O) bool {
	last := offsets[len(offsets)-1]
	for _, o := range offsets {
		if o < last && !utf8.RuneStart(data[o]) {
			return false
		}
	}
	return true
}
