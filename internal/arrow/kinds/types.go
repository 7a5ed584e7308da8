package kinds

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Types as text are a name, parameters and parts, which every grammar of types writes in its own way:
//
//	decimal128, 18, 2           decimal128(18, 2)
//	dictionary, int8, ordered   dictionary<int8, utf8, ordered>; its part is utf8
//	fixed_size_list, 3          fixed_size_list<int64>[3]; its part is int64

// leaf is the row of a type without parameters whose values are of one width.
func leaf(name string, dt arrow.DataType) kind { return text(name, dt, Layout{Form: Fixed}) }

// text is the row of a type without parameters.
func text(name string, dt arrow.DataType, layout Layout) kind {
	return kind{name: name, layout: layout, make: func(args []string, _ []arrow.Field) (arrow.DataType, error) { return dt, none(name, args) }}
}

// fixedSizeBinary is the row of values of a number of bytes.
func fixedSizeBinary() kind {
	return kind{
		layout: Layout{Form: Fixed},
		name:   "fixed_size_binary",
		args: func(dt arrow.DataType) []string {
			return []string{strconv.Itoa(dt.(*arrow.FixedSizeBinaryType).ByteWidth)}
		},
		make: func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			n, err := number("fixed_size_binary", args, 0, 0, math.MaxInt32)
			return &arrow.FixedSizeBinaryType{ByteWidth: n}, err
		},
	}
}

// maxScale bounds the scale of decimals: that of decimal128's exponents, less the digits that a coefficient may add.
const maxScale = 6000

// decimal is the row of decimals of up to a number of digits.
func decimal(id arrow.Type, name string, most int) kind {
	return kind{
		layout: Layout{Form: Fixed},
		name:   name,
		args: func(dt arrow.DataType) []string {
			d := dt.(arrow.DecimalType)
			return []string{strconv.Itoa(int(d.GetPrecision())), strconv.Itoa(int(d.GetScale()))}
		},
		make: func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			if len(args) == 1 {
				args = append(args[:1:1], "0")
			}
			if len(args) != 2 {
				return nil, fmt.Errorf("%s needs precision and scale, as in %s(%d, 2)", name, name, most)
			}
			precision, err := number("the precision of "+name, args, 0, 1, most)
			if err != nil {
				return nil, err
			}
			scale, err := number("the scale of "+name, args, 1, -maxScale, maxScale)
			if err != nil {
				return nil, err
			}
			return arrow.NewDecimalType(id, int32(precision), int32(scale))
		},
	}
}

// timed is the row of times with a unit, and with a zone if they have one.
func timed(name string, of func(unit arrow.TimeUnit, zone string) arrow.DataType, zoned bool, units ...arrow.TimeUnit) kind {
	return kind{
		layout: Layout{Form: Fixed},
		name:   name,
		args: func(dt arrow.DataType) []string {
			args := []string{dt.(arrow.TemporalWithUnit).TimeUnit().String()}
			if t, ok := dt.(*arrow.TimestampType); ok && t.TimeZone != "" {
				args = append(args, t.TimeZone)
			}
			return args
		},
		make: func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			zone := ""
			if zoned && len(args) == 2 {
				args, zone = args[:1], args[1]
			}
			for _, u := range units {
				if len(args) == 1 && args[0] == u.String() {
					return of(u, zone), nil
				}
			}
			return nil, fmt.Errorf("unknown unit in %s[%s]: use one of %v", name, strings.Join(args, ", "), units)
		},
	}
}

// integers are the types of codes of dictionaries, and some of them of the ends of runs.
var integers = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
}

// integerAndFlag reads the name of a type of integers, and a word that may follow it.
func integerAndFlag(name string, args []string, parts []arrow.Field, word string) (dt arrow.DataType, flag bool, err error) {
	flag = len(args) == 2 && args[1] == word
	if len(parts) != 1 || len(args) != 1 && !flag {
		return nil, false, badArgs(name, args)
	}
	i := slices.IndexFunc(integers, func(t arrow.DataType) bool { return t.String() == args[0] })
	if i < 0 {
		return nil, false, fmt.Errorf("%s codes are integers, not %s", name, args[0])
	}
	return integers[i], flag, nil
}

func makeDictionary(args []string, parts []arrow.Field) (arrow.DataType, error) {
	codes, ordered, err := integerAndFlag("dictionary", args, parts, "ordered")
	if err != nil {
		return nil, err
	}
	return &arrow.DictionaryType{IndexType: codes, ValueType: parts[0].Type, Ordered: ordered}, nil
}

func makeRuns(args []string, parts []arrow.Field) (arrow.DataType, error) {
	ends, required, err := integerAndFlag("run_end_encoded", args, parts, "required")
	if err != nil {
		return nil, err
	}
	t := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, parts[0].Type)
	if !t.ValidRunEndsType(ends) {
		return nil, fmt.Errorf("run ends are int16, int32 or int64, not %s", ends)
	}
	t = arrow.RunEndEncodedOf(ends, parts[0].Type)
	t.ValueNullable = !required
	return t, nil
}

func makeFixedSizeList(args []string, parts []arrow.Field) (arrow.DataType, error) {
	n, err := number("fixed_size_list", args, 0, 1, math.MaxInt32)
	if err != nil || len(parts) != 1 {
		return nil, badArgs("fixed_size_list", args)
	}
	return arrow.FixedSizeListOfField(int32(n), parts[0]), nil
}

func makeMap(args []string, parts []arrow.Field) (arrow.DataType, error) {
	sorted := len(args) == 1 && args[0] == "sorted"
	if len(args) > 0 && !sorted || len(parts) != 2 {
		return nil, badArgs("map", args)
	}
	parts[0].Nullable = false
	m := arrow.MapOfFields(parts[0], parts[1])
	m.KeysSorted = sorted
	return m, nil
}

// unionArgs are the codes of alternatives, none if they are 0, 1, 2 and so on.
func unionArgs(dt arrow.DataType) (args []string) {
	plain := true
	for i, code := range dt.(arrow.UnionType).TypeCodes() {
		plain = plain && int(code) == i
		args = append(args, strconv.Itoa(int(code)))
	}
	if plain {
		return nil
	}
	return args
}

// union is how unions of a mode are made.
func union(mode arrow.UnionMode) func(args []string, parts []arrow.Field) (arrow.DataType, error) {
	return func(args []string, parts []arrow.Field) (arrow.DataType, error) {
		codes := make([]arrow.UnionTypeCode, len(parts))
		for i := range codes {
			code, err := i, error(nil)
			if len(args) > 0 {
				code, err = number("the codes of a union", args, i, 0, int(arrow.MaxUnionTypeCode))
			}
			if err != nil || code > int(arrow.MaxUnionTypeCode) || len(args) > len(parts) || slices.Contains(codes[:i], arrow.UnionTypeCode(code)) {
				return nil, badArgs("union", args)
			}
			codes[i] = arrow.UnionTypeCode(code)
		}
		return arrow.UnionOf(mode, parts, codes), nil
	}
}

func badArgs(name string, args []string) error {
	return fmt.Errorf("arguments %q do not suit %s", args, name)
}

func none(name string, args []string) error {
	if len(args) != 0 {
		return badArgs(name, args)
	}
	return nil
}

// number is an argument.
func number(what string, args []string, i, least, most int) (int, error) {
	if i >= len(args) {
		return 0, badArgs(what, args)
	}
	n, err := strconv.Atoi(args[i])
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q for %s is not a number from %d to %d", args[i], what, least, most)
	}
	return n, nil
}

// Name is the name of a kind of types, "" of one without a row.
func Name(id arrow.Type) string {
	if int(id) < len(table) {
		return table[id].name
	}
	return ""
}

// Describe is the name of a type, "" of one without a row, and its parameters. What it is made of is in [Fields].
func Describe(dt arrow.DataType) (name string, args []string) {
	k := of(dt)
	if k.args != nil {
		args = k.args(dt)
	}
	return k.name, args
}

// OfName is the shape of the types of a name. ok is false if there are none.
func OfName(name string) (shape Shape, ok bool) {
	k := named[name]
	if k == nil {
		return Leaf, false
	}
	return k.shape, true
}

// Make is the inverse of [Describe] and [Fields]. It takes the parts. An extension is made by its own type.
func Make(name string, args []string, parts []arrow.Field) (arrow.DataType, error) {
	k := named[name]
	if k == nil || k.make == nil {
		return nil, fmt.Errorf("type %q is not known", name)
	}
	return k.make(args, parts)
}

var named = map[string]*kind{}

func init() {
	for i := range table {
		if k := &table[i]; k.name != "" {
			named[k.name] = k
		}
	}
}
