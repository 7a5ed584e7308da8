package arrowmap

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// row is one way to store an Arrow type. A writer uses the first row of the type whose
// conditions hold, and a reader the first row with the stored type that it found.
type row struct {
	arrow  arrow.Type
	stored schema.BasicType
	signed bool
	label  string // extended type, "" for none
	rule   Rule

	// Conditions for a writer, all of which must hold.
	ext   string                    // name of the extension type around it, "" for any
	form  TimeEncoding              // form chosen for the column, TimesAuto for any
	needs edition.Set               // features that the shard may use
	when  func(arrow.DataType) bool // nil for always
}

// Names of extension types with a meaning in the format. The Kusto names label
// Arrow fields whose values already are in the stored form (docs/format.md §5.7).
const (
	extUUID     = "arrow.uuid"
	extJSON     = "arrow.json"
	extDecimal  = "KustoDecimal"  // fixed_size_binary[16]
	extTimeSpan = "KustoTimeSpan" // int64
	extDynamic  = "KustoDynamic"  // binary
	extDateTime = "KustoDateTime" // uint64
)

// rows is the table. TimesAsIntegers stores the number of the Arrow array.
var rows = []row{
	{arrow: arrow.NULL, stored: schema.Unit, rule: Null, needs: edition.Only(edition.UnitNodes)},
	{arrow: arrow.NULL, stored: schema.Boolean, rule: Null},
	{arrow: arrow.BOOL, stored: schema.Boolean},
	{arrow: arrow.INT8, stored: schema.Int8, signed: true},
	{arrow: arrow.INT16, stored: schema.Int16, signed: true},
	{arrow: arrow.INT32, stored: schema.Int32, signed: true},
	{arrow: arrow.INT64, stored: schema.Int64, signed: true, label: schema.LabelTimeSpan, ext: extTimeSpan},
	{arrow: arrow.INT64, stored: schema.Int64, signed: true},
	{arrow: arrow.UINT8, stored: schema.Int8},
	{arrow: arrow.UINT16, stored: schema.Int16},
	{arrow: arrow.UINT32, stored: schema.Int32},
	{arrow: arrow.UINT64, stored: schema.DateTime, ext: extDateTime},
	{arrow: arrow.UINT64, stored: schema.Int64},
	{arrow: arrow.FLOAT16, stored: schema.Float32, rule: Float16},
	{arrow: arrow.FLOAT32, stored: schema.Float32},
	{arrow: arrow.FLOAT64, stored: schema.Float64},
	{arrow: arrow.DECIMAL32, stored: schema.FixedSizeBinary, label: schema.LabelDecimal, rule: Decimal},
	{arrow: arrow.DECIMAL64, stored: schema.FixedSizeBinary, label: schema.LabelDecimal, rule: Decimal},
	{arrow: arrow.DECIMAL128, stored: schema.FixedSizeBinary, label: schema.LabelDecimal, rule: Decimal},
	{arrow: arrow.DECIMAL256, stored: schema.FixedSizeBinary, label: schema.LabelDecimal, rule: Decimal},

	{arrow: arrow.STRING, stored: schema.Binary, label: schema.LabelDynamic, rule: Text, ext: extJSON},
	{arrow: arrow.STRING, stored: schema.String},
	{arrow: arrow.LARGE_STRING, stored: schema.Binary, label: schema.LabelDynamic, rule: Text, ext: extJSON},
	{arrow: arrow.LARGE_STRING, stored: schema.String},
	{arrow: arrow.LARGE_STRING, stored: schema.FixedSizeBinary, label: schema.LabelDecimal, rule: DecimalText, when: never},
	{arrow: arrow.STRING_VIEW, stored: schema.Binary, label: schema.LabelDynamic, rule: Text, ext: extJSON},
	{arrow: arrow.STRING_VIEW, stored: schema.String},
	{arrow: arrow.BINARY, stored: schema.Binary, label: schema.LabelDynamic, ext: extDynamic},
	{arrow: arrow.BINARY, stored: schema.Binary},
	{arrow: arrow.LARGE_BINARY, stored: schema.Binary, label: schema.LabelDynamic, ext: extDynamic},
	{arrow: arrow.LARGE_BINARY, stored: schema.Binary},
	{arrow: arrow.BINARY_VIEW, stored: schema.Binary, label: schema.LabelDynamic, ext: extDynamic},
	{arrow: arrow.BINARY_VIEW, stored: schema.Binary},
	{arrow: arrow.FIXED_SIZE_BINARY, stored: schema.Boolean, rule: Empty, when: holdsNothing},
	{arrow: arrow.FIXED_SIZE_BINARY, stored: schema.Guid, ext: extUUID, when: is16Bytes},
	{arrow: arrow.FIXED_SIZE_BINARY, stored: schema.FixedSizeBinary, label: schema.LabelDecimal, ext: extDecimal, when: is16Bytes},
	{arrow: arrow.FIXED_SIZE_BINARY, stored: schema.FixedSizeBinary},

	{arrow: arrow.DATE32, stored: schema.DateTime, rule: Ticks, form: TimesAsTicks},
	{arrow: arrow.DATE32, stored: schema.Int32, signed: true, form: TimesAsIntegers},
	{arrow: arrow.DATE64, stored: schema.DateTime, rule: Ticks, form: TimesAsTicks},
	{arrow: arrow.DATE64, stored: schema.Int64, signed: true, form: TimesAsIntegers},
	{arrow: arrow.TIMESTAMP, stored: schema.DateTime, rule: Ticks, form: TimesAsTicks},
	{arrow: arrow.TIMESTAMP, stored: schema.Int64, signed: true, form: TimesAsIntegers},
	{arrow: arrow.DURATION, stored: schema.Int64, signed: true, label: schema.LabelTimeSpan, rule: Span, form: TimesAsTicks},
	{arrow: arrow.DURATION, stored: schema.Int64, signed: true, form: TimesAsIntegers},
	{arrow: arrow.TIME32, stored: schema.Int32, signed: true},
	{arrow: arrow.TIME64, stored: schema.Int64, signed: true},
	{arrow: arrow.INTERVAL_MONTHS, stored: schema.Int32, signed: true},
	{arrow: arrow.INTERVAL_DAY_TIME, stored: schema.Struct, rule: DayTime},
	{arrow: arrow.INTERVAL_MONTH_DAY_NANO, stored: schema.Struct, rule: MonthDayNano},

	{arrow: arrow.LIST, stored: schema.List},
	{arrow: arrow.LARGE_LIST, stored: schema.List},
	{arrow: arrow.LIST_VIEW, stored: schema.List},
	{arrow: arrow.LARGE_LIST_VIEW, stored: schema.List},
	{arrow: arrow.FIXED_SIZE_LIST, stored: schema.FixedSizeList, needs: edition.Only(edition.FixedSizeLists)},
	{arrow: arrow.FIXED_SIZE_LIST, stored: schema.List, rule: FixedList},
	{arrow: arrow.STRUCT, stored: schema.Boolean, rule: Empty, when: holdsNothing},
	{arrow: arrow.STRUCT, stored: schema.Struct},
	{arrow: arrow.STRUCT, stored: schema.Union, when: never}, // some alternatives, null in the rows of others
	{arrow: arrow.SPARSE_UNION, stored: schema.Union, needs: edition.Only(edition.Unions), when: hasParts},
	{arrow: arrow.DENSE_UNION, stored: schema.Union, needs: edition.Only(edition.Unions), when: hasParts},
	{arrow: arrow.MAP, stored: schema.Map},
}

func never(arrow.DataType) bool { return false }

func hasParts(dt arrow.DataType) bool { return len(kinds.Fields(dt)) > 0 }

func is16Bytes(dt arrow.DataType) bool { return dt.(*arrow.FixedSizeBinaryType).ByteWidth == 16 }

func holdsNothing(dt arrow.DataType) bool {
	if t, ok := dt.(*arrow.FixedSizeBinaryType); ok {
		return t.ByteWidth == 0
	}
	return kinds.Of(dt) == kinds.Record && len(kinds.Fields(dt)) == 0
}

// rowsOf finds the rows of a type.
var rowsOf = map[arrow.Type][]*row{}

func init() {
	for i := range rows {
		rowsOf[rows[i].arrow] = append(rowsOf[rows[i].arrow], &rows[i])
	}
}

// toStore is the row that a writer uses for a plain type.
func toStore(dt arrow.DataType, ext string, form TimeEncoding, features edition.Set) *row {
	for _, r := range rowsOf[dt.ID()] {
		switch {
		case r.ext != "" && r.ext != ext:
		case r.form != TimesAuto && r.form != form:
		case r.needs&^features != 0:
		case r.when != nil && !r.when(dt):
		default:
			return r
		}
	}
	return nil
}

// stored is the row that stores a plain type as the type of a node, or nil.
func stored(dt arrow.DataType, node *schema.Field) *row {
	for _, r := range rowsOf[dt.ID()] {
		if r.stored == node.Type && r.signed == node.Signed && r.label == knownLabel(node) && sizeFits(r, dt, node.FixedSize) {
			return r
		}
	}
	return nil
}

// knownLabel is the label of a node if it changes the meaning of the values.
func knownLabel(node *schema.Field) string {
	switch l := node.Label(); l {
	case schema.LabelDecimal, schema.LabelDynamic, schema.LabelTimeSpan:
		return l
	}
	return ""
}

// fixedSize is the FixedSize of a node that stores dt by row r.
func fixedSize(r *row, dt arrow.DataType) uint32 {
	switch r.stored {
	case schema.Guid:
		return 16
	case schema.FixedSizeBinary:
		if f, ok := dt.(*arrow.FixedSizeBinaryType); ok {
			return uint32(f.ByteWidth)
		}
		return 16
	case schema.FixedSizeList:
		return uint32(dt.(*arrow.FixedSizeListType).Len())
	}
	return 0
}

func sizeFits(r *row, dt arrow.DataType, size uint32) bool {
	switch {
	case r.rule == Empty:
		return holdsNothing(dt)
	case r.stored == schema.Guid:
		return is16Bytes(dt) && size == 16
	case r.stored == schema.FixedSizeBinary, r.stored == schema.FixedSizeList:
		return fixedSize(r, dt) == size
	}
	return true
}

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
