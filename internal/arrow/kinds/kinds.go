// Package kinds is the algebra of Arrow's types. One table has a row for each: its name and parameters, and of those that are made of
// others their parts, how rows refer to the rows of parts, and the same type made of other parts. All code that walks through types
// and arrays of any depth, or reads and writes types, goes by this table, and so knows a new type as soon as it has a row.
package kinds

import (
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Shape tells how the rows of a type are made of rows of its parts.
type Shape uint8

const (
	// Leaf has no parts: numbers, texts, times.
	Leaf Shape = iota
	// Wrap has one part with the same values in another layout or with another meaning: a dictionary, runs, an extension.
	Wrap
	// Record has in each row one of each part: a struct.
	Record
	// List has in each row a range of rows, the same of all parts: lists, and maps, whose parts are keys and items.
	List
	// Choice has in each row one row of one of the parts: a union.
	Choice
)

// kind is a row of the table.
type kind struct {
	name   string
	args   func(dt arrow.DataType) []string // nil: none
	make   func(args []string, parts []arrow.Field) (arrow.DataType, error)
	shape  Shape
	layout Layout
	fields func(dt arrow.DataType) []arrow.Field                        // nil for those that Arrow gives
	with   func(dt arrow.DataType, fields []arrow.Field) arrow.DataType // nil for make with the same parameters
	names  []string                                                     // of parts in paths, if these are not the names of fields
	open   func(arr arrow.Array, v *View)
	inside func(arr arrow.Array, row int) (arrow.Array, int) // of wraps and choices: the array with a value, and the row in it
	// Of the data of arrays: the parts, and data with others. Nil for those whose children are their parts.
	parts func(d arrow.ArrayData) []arrow.ArrayData
	put   func(d arrow.ArrayData, dt arrow.DataType, parts []arrow.ArrayData) arrow.ArrayData
}

// table has the kinds by the numbers of types.
var table = [...]kind{
	arrow.NULL:              text("null", arrow.Null, Layout{Nothing, 0, 0}),
	arrow.BOOL:              leaf("bool", arrow.FixedWidthTypes.Boolean),
	arrow.INT8:              leaf("int8", arrow.PrimitiveTypes.Int8),
	arrow.INT16:             leaf("int16", arrow.PrimitiveTypes.Int16),
	arrow.INT32:             leaf("int32", arrow.PrimitiveTypes.Int32),
	arrow.INT64:             leaf("int64", arrow.PrimitiveTypes.Int64),
	arrow.UINT8:             leaf("uint8", arrow.PrimitiveTypes.Uint8),
	arrow.UINT16:            leaf("uint16", arrow.PrimitiveTypes.Uint16),
	arrow.UINT32:            leaf("uint32", arrow.PrimitiveTypes.Uint32),
	arrow.UINT64:            leaf("uint64", arrow.PrimitiveTypes.Uint64),
	arrow.FLOAT16:           leaf("float16", arrow.FixedWidthTypes.Float16),
	arrow.FLOAT32:           leaf("float32", arrow.PrimitiveTypes.Float32),
	arrow.FLOAT64:           leaf("float64", arrow.PrimitiveTypes.Float64),
	arrow.DECIMAL32:         decimal(arrow.DECIMAL32, "decimal32", 9),
	arrow.DECIMAL64:         decimal(arrow.DECIMAL64, "decimal64", 18),
	arrow.DECIMAL128:        decimal(arrow.DECIMAL128, "decimal128", 38),
	arrow.DECIMAL256:        decimal(arrow.DECIMAL256, "decimal256", 76),
	arrow.STRING:            text("utf8", arrow.BinaryTypes.String, Layout{Bytes, 4, 0}),
	arrow.LARGE_STRING:      text("large_utf8", arrow.BinaryTypes.LargeString, Layout{Bytes, 8, 0}),
	arrow.STRING_VIEW:       text("utf8_view", arrow.BinaryTypes.StringView, Layout{Views, arrow.ViewHeaderSizeBytes, 0}),
	arrow.BINARY:            text("binary", arrow.BinaryTypes.Binary, Layout{Bytes, 4, 0}),
	arrow.LARGE_BINARY:      text("large_binary", arrow.BinaryTypes.LargeBinary, Layout{Bytes, 8, 0}),
	arrow.BINARY_VIEW:       text("binary_view", arrow.BinaryTypes.BinaryView, Layout{Views, arrow.ViewHeaderSizeBytes, 0}),
	arrow.FIXED_SIZE_BINARY: fixedSizeBinary(),
	arrow.DATE32:            leaf("date32", arrow.FixedWidthTypes.Date32),
	arrow.DATE64:            leaf("date64", arrow.FixedWidthTypes.Date64),
	arrow.TIME32: timed("time32", func(u arrow.TimeUnit, _ string) arrow.DataType { return &arrow.Time32Type{Unit: u} }, false,
		arrow.Second, arrow.Millisecond),
	arrow.TIME64: timed("time64", func(u arrow.TimeUnit, _ string) arrow.DataType { return &arrow.Time64Type{Unit: u} }, false,
		arrow.Microsecond, arrow.Nanosecond),
	arrow.TIMESTAMP: timed("timestamp", func(u arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: u, TimeZone: zone}
	}, true, arrow.TimeUnitValues...),
	arrow.DURATION: timed("duration", func(u arrow.TimeUnit, _ string) arrow.DataType { return &arrow.DurationType{Unit: u} }, false,
		arrow.TimeUnitValues...),
	arrow.INTERVAL_MONTHS:         leaf("interval_months", arrow.FixedWidthTypes.MonthInterval),
	arrow.INTERVAL_DAY_TIME:       leaf("interval_day_time", arrow.FixedWidthTypes.DayTimeInterval),
	arrow.INTERVAL_MONTH_DAY_NANO: leaf("interval_month_day_nano", arrow.FixedWidthTypes.MonthDayNanoInterval),
	arrow.DICTIONARY: {
		name: "dictionary",
		args: func(dt arrow.DataType) []string {
			t := dt.(*arrow.DictionaryType)
			if t.Ordered {
				return []string{t.IndexType.String(), "ordered"}
			}
			return []string{t.IndexType.String()}
		},
		make:   makeDictionary,
		shape:  Wrap,
		layout: Layout{Codes, 0, 0},
		fields: func(dt arrow.DataType) []arrow.Field { return only(dt.(*arrow.DictionaryType).ValueType) },
		with: func(dt arrow.DataType, fields []arrow.Field) arrow.DataType {
			t := *dt.(*arrow.DictionaryType)
			t.ValueType = fields[0].Type
			return &t
		},
		parts: func(d arrow.ArrayData) []arrow.ArrayData { return []arrow.ArrayData{d.Dictionary()} },
		put: func(d arrow.ArrayData, dt arrow.DataType, parts []arrow.ArrayData) arrow.ArrayData {
			return array.NewDataWithDictionary(dt, d.Len(), d.Buffers(), d.NullN(), d.Offset(), parts[0].(*array.Data))
		},
		open: func(arr arrow.Array, v *View) {
			a := arr.(*array.Dictionary)
			v.Parts, v.Row = []arrow.Array{a.Dictionary()}, a.GetValueIndex
		},
		inside: func(arr arrow.Array, row int) (arrow.Array, int) {
			a := arr.(*array.Dictionary)
			return a.Dictionary(), a.GetValueIndex(row)
		},
	},
	arrow.RUN_END_ENCODED: {
		name: "run_end_encoded",
		args: func(dt arrow.DataType) []string {
			t := dt.(*arrow.RunEndEncodedType)
			if !t.ValueNullable {
				return []string{t.RunEnds().String(), "required"}
			}
			return []string{t.RunEnds().String()}
		},
		make:   makeRuns,
		shape:  Wrap,
		layout: Layout{Runs, 0, 0},
		fields: func(dt arrow.DataType) []arrow.Field { return only(dt.(*arrow.RunEndEncodedType).Encoded()) },
		with: func(dt arrow.DataType, fields []arrow.Field) arrow.DataType {
			t := arrow.RunEndEncodedOf(dt.(*arrow.RunEndEncodedType).RunEnds(), fields[0].Type)
			t.ValueNullable = dt.(*arrow.RunEndEncodedType).ValueNullable
			return t
		},
		parts: func(d arrow.ArrayData) []arrow.ArrayData { return d.Children()[1:2] },
		put: func(d arrow.ArrayData, dt arrow.DataType, parts []arrow.ArrayData) arrow.ArrayData {
			return array.NewData(dt, d.Len(), d.Buffers(), []arrow.ArrayData{d.Children()[0], parts[0]}, d.NullN(), d.Offset())
		},
		open: func(arr arrow.Array, v *View) {
			a := arr.(*array.RunEndEncoded)
			v.Parts, v.Row = []arrow.Array{a.Values()}, a.GetPhysicalIndex
		},
		inside: func(arr arrow.Array, row int) (arrow.Array, int) {
			a := arr.(*array.RunEndEncoded)
			return a.Values(), a.GetPhysicalIndex(row)
		},
	},
	arrow.EXTENSION: {
		name: "extension",
		args: func(dt arrow.DataType) []string {
			t := dt.(arrow.ExtensionType)
			if data := t.Serialize(); data != "" {
				return []string{t.ExtensionName(), data}
			}
			return []string{t.ExtensionName()}
		},
		shape:  Wrap,
		fields: func(dt arrow.DataType) []arrow.Field { return only(dt.(arrow.ExtensionType).StorageType()) },
		with: func(dt arrow.DataType, fields []arrow.Field) arrow.DataType { // it is of its own storage only
			if arrow.TypeEqual(dt.(arrow.ExtensionType).StorageType(), fields[0].Type) {
				return dt
			}
			return fields[0].Type
		},
		put: func(_ arrow.ArrayData, dt arrow.DataType, parts []arrow.ArrayData) arrow.ArrayData {
			return Relabel(parts[0], dt)
		},
		open: func(arr arrow.Array, v *View) {
			v.Parts, v.Row = []arrow.Array{arr.(array.ExtensionArray).Storage()}, func(i int) int { return i }
		},
		inside: func(arr arrow.Array, row int) (arrow.Array, int) { return arr.(array.ExtensionArray).Storage(), row },
	},
	arrow.STRUCT: {
		name: "struct",
		make: func(args []string, parts []arrow.Field) (arrow.DataType, error) {
			return arrow.StructOf(parts...), none("struct", args)
		},
		shape:  Record,
		layout: Layout{Parallel, 0, 1},
		open: func(arr arrow.Array, v *View) {
			a := arr.(*array.Struct)
			for i := range a.NumField() {
				v.Parts = append(v.Parts, a.Field(i))
			}
		},
	},
	arrow.LIST:            list("list", Layout{Rows, 4, 0}, func(f arrow.Field) arrow.DataType { return arrow.ListOfField(f) }),
	arrow.LARGE_LIST:      list("large_list", Layout{Rows, 8, 0}, func(f arrow.Field) arrow.DataType { return arrow.LargeListOfField(f) }),
	arrow.LIST_VIEW:       list("list_view", Layout{RowViews, 4, 0}, func(f arrow.Field) arrow.DataType { return arrow.ListViewOfField(f) }),
	arrow.LARGE_LIST_VIEW: list("large_list_view", Layout{RowViews, 8, 0}, func(f arrow.Field) arrow.DataType { return arrow.LargeListViewOfField(f) }),
	arrow.FIXED_SIZE_LIST: fixedSizeList(),
	arrow.MAP: {
		name: "map",
		args: func(dt arrow.DataType) []string {
			if dt.(*arrow.MapType).KeysSorted {
				return []string{"sorted"}
			}
			return nil
		},
		make:   makeMap,
		shape:  List,
		layout: Layout{Rows, 4, 0},
		fields: func(dt arrow.DataType) []arrow.Field { return dt.(*arrow.MapType).Elem().(*arrow.StructType).Fields() },
		names:  []string{"key", "value"},
		parts:  func(d arrow.ArrayData) []arrow.ArrayData { return d.Children()[0].Children() },
		put: func(d arrow.ArrayData, dt arrow.DataType, parts []arrow.ArrayData) arrow.ArrayData {
			entries := d.Children()[0]
			entries = array.NewData(dt.(*arrow.MapType).Elem(), entries.Len(), entries.Buffers(), parts, entries.NullN(), entries.Offset())
			defer entries.Release()
			return array.NewData(dt, d.Len(), d.Buffers(), []arrow.ArrayData{entries}, d.NullN(), d.Offset())
		},
		open: func(arr arrow.Array, v *View) {
			a := arr.(*array.Map)
			entries := a.ListValues().(*array.Struct) // its fields respect its offset, unlike a.Keys and a.Items
			v.Parts, v.Range = []arrow.Array{entries.Field(0), entries.Field(1)}, a.ValueOffsets
		},
	},
	arrow.SPARSE_UNION: {
		name:   "sparse_union",
		args:   unionArgs,
		make:   union(arrow.SparseMode),
		shape:  Choice,
		layout: Layout{Parallel, 1, 1},
		open: func(arr arrow.Array, v *View) {
			a := arr.(*array.SparseUnion)
			v.openUnion(a)
			v.Choice = func(i int) (int, int) { return a.ChildID(i), i } // parts are sliced with it
		},
		inside: func(arr arrow.Array, row int) (arrow.Array, int) {
			a := arr.(*array.SparseUnion)
			return a.Field(a.ChildID(row)), row
		},
	},
	arrow.DENSE_UNION: {
		name:   "dense_union",
		args:   unionArgs,
		make:   union(arrow.DenseMode),
		shape:  Choice,
		layout: Layout{Addressed, 1, 0},
		open: func(arr arrow.Array, v *View) {
			a := arr.(*array.DenseUnion)
			v.openUnion(a)
			v.Choice = func(i int) (int, int) { return a.ChildID(i), int(a.ValueOffset(i)) }
		},
		inside: func(arr arrow.Array, row int) (arrow.Array, int) {
			a := arr.(*array.DenseUnion)
			return a.Field(a.ChildID(row)), int(a.ValueOffset(row))
		},
	},
}

// list is the row of a type of lists.
func list(name string, layout Layout, of func(item arrow.Field) arrow.DataType) kind {
	return kind{
		name: name,
		make: func(args []string, parts []arrow.Field) (arrow.DataType, error) {
			if len(parts) != 1 {
				return nil, badArgs(name, args)
			}
			return of(parts[0]), none(name, args)
		},
		shape:  List,
		layout: layout,
		names:  []string{"item"},
		open: func(arr arrow.Array, v *View) {
			a := arr.(array.ListLike)
			v.Parts, v.Range = []arrow.Array{a.ListValues()}, a.ValueOffsets
		},
	}
}

func fixedSizeList() kind {
	k := list("fixed_size_list", Layout{Parallel, 0, 0}, nil)
	k.args = func(dt arrow.DataType) []string {
		return []string{strconv.Itoa(int(dt.(*arrow.FixedSizeListType).Len()))}
	}
	k.make = makeFixedSizeList
	return k
}

func (v *View) openUnion(a array.Union) {
	for i := range a.NumFields() {
		v.Parts = append(v.Parts, a.Field(i))
	}
}

func only(dt arrow.DataType) []arrow.Field { return []arrow.Field{{Type: dt, Nullable: true}} }

// of is the row of a type, an empty one for leaves.
func of(dt arrow.DataType) *kind {
	if id := dt.ID(); int(id) < len(table) {
		return &table[id]
	}
	return &kind{}
}

// Of is the shape of a type.
func Of(dt arrow.DataType) Shape { return of(dt).shape }

// HasNames reports whether the parts of a type are told apart by names: those of structs and unions.
func HasNames(dt arrow.DataType) bool { return Of(dt) == Record || Of(dt) == Choice }

// Fields are the parts of a type, none of a leaf. The caller may change them.
func Fields(dt arrow.DataType) []arrow.Field {
	switch k := of(dt); {
	case k.shape == Leaf:
		return nil
	case k.fields != nil:
		return k.fields(dt)
	}
	return slices.Clone(dt.(arrow.NestedType).Fields())
}

// Names are the names of the parts of a type in paths: those of fields, "item" of lists, "key" and "value" of maps.
func Names(dt arrow.DataType) []string {
	if names := of(dt).names; names != nil {
		return names
	}
	var names []string
	for _, f := range Fields(dt) {
		names = append(names, f.Name)
	}
	return names
}

// With is a type of the same kind with other parts, as many as [Fields] has. An extension of another storage is that storage.
func With(dt arrow.DataType, fields []arrow.Field) arrow.DataType {
	switch k := of(dt); {
	case k.with != nil:
		return k.with(dt, fields)
	case k.shape != Leaf:
		_, args := Describe(dt)
		if t, err := k.make(args, fields); err == nil { // the parameters are those of a type
			return t
		}
	}
	return dt
}

// Inner is the type inside of a wrap, nil for all others.
func Inner(dt arrow.DataType) arrow.DataType {
	if Of(dt) != Wrap {
		return nil
	}
	return Fields(dt)[0].Type
}

// Unwrapped is a type without the wraps around it.
func Unwrapped(dt arrow.DataType) arrow.DataType {
	for inner := Inner(dt); inner != nil; inner = Inner(dt) {
		dt = inner
	}
	return dt
}

// Decoded is a type without the dictionaries and runs around it. An extension stays.
func Decoded(dt arrow.DataType) arrow.DataType {
	for dt.ID() != arrow.EXTENSION && Of(dt) == Wrap {
		dt = Inner(dt)
	}
	return dt
}

// Storage is a type without the extensions around it. A dictionary stays.
func Storage(dt arrow.DataType) arrow.DataType {
	for dt.ID() == arrow.EXTENSION {
		dt = Inner(dt)
	}
	return dt
}

// Has reports whether a condition holds for a type, or for one inside of it at any depth.
func Has(dt arrow.DataType, is func(arrow.DataType) bool) bool {
	return is(dt) || slices.ContainsFunc(Fields(dt), func(f arrow.Field) bool { return Has(f.Type, is) })
}

// HasID reports whether a type is one of some types, or contains one.
func HasID(dt arrow.DataType, ids ...arrow.Type) bool {
	return Has(dt, func(t arrow.DataType) bool { return slices.Contains(ids, t.ID()) })
}

// IsText reports whether the values of a type are UTF-8, in any layout.
func IsText(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// IsBinary reports whether the values of a type are byte strings, in any layout.
func IsBinary(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return true
	}
	return false
}

// WithTypes is a type of the same kind whose parts have other types.
func WithTypes(dt arrow.DataType, types []arrow.DataType) arrow.DataType {
	fields := Fields(dt)
	for i := range fields {
		fields[i].Type = types[i]
	}
	return With(dt, fields)
}
