package arrowmap

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
)

// unitOf is the unit that the rules Ticks and Span convert by.
func unitOf(dt arrow.DataType) convert.Unit {
	switch t := dt.(type) {
	case *arrow.Date32Type:
		return convert.Day
	case *arrow.Date64Type:
		return convert.Millisecond
	case arrow.TemporalWithUnit:
		switch t.TimeUnit() {
		case arrow.Second:
			return convert.Second
		case arrow.Millisecond:
			return convert.Millisecond
		case arrow.Microsecond:
			return convert.Microsecond
		}
	}
	return convert.Nanosecond
}
