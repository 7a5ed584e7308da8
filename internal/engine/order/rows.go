package order

import "github.com/apache/arrow-go/v18/arrow"

// Rows returns a function that appends the encoding of a row of columns, one for each key, for other uses than sorting. It is
// valid until the next use of the encoder, as long as the columns live.
func (e *Encoder) Rows(columns ...arrow.Array) func(dst []byte, row int) []byte {
	appenders := e.bind(columns)
	if len(appenders) == 1 {
		return appenders[0]
	}
	return func(dst []byte, row int) []byte {
		for _, a := range appenders {
			dst = a(dst, row)
		}
		return dst
	}
}
