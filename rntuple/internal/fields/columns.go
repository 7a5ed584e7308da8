package fields

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

func (f *Field) perRepresentation() int {
	if len(f.Columns) == 0 {
		return 0
	}
	return len(f.Columns[0])
}

// columnsOf are the types of the columns of a layout, in each representation. Those of values depend on the kind.
var columnsOf = [...][]column.Type{
	Cardinality: {column.Index64},
	Text:        {column.Index64, column.Char},
	Bytes:       {column.Index64, column.Byte},
	List:        {column.Index64},
	Map:         {column.Index64},
	Optional:    {column.Index64},
	Struct:      {},
	Variant:     {column.Switch},
}

// lay gives a field a layout, if it has its columns.
func (b *builder) lay(f *Field, l Layout) error {
	f.Layout = l
	return f.expect(b.s, columnsOf[l]...)
}

// expect checks the columns of a field: an index type stands for all of them, and a
// byte or character for both.
func (f *Field) expect(s *envelope.Schema, types ...column.Type) error {
	if n := f.perRepresentation(); n != len(types) {
		return fmt.Errorf("%d columns where %d are due", n, len(types))
	}
	for _, columns := range f.Columns {
		for i, want := range types {
			t := s.Columns[columns[i]].Type
			switch {
			case t == want, t.Index() && want.Index():
			case (t == column.Byte || t == column.Char || t == column.UInt8 || t == column.Int8) && (want == column.Byte || want == column.Char):
			default:
				return fmt.Errorf("column %d is of type %v, not %v", i, t, want)
			}
		}
	}
	return nil
}

// columns are the physical columns of a field by representation. Those of a projected
// field are in the places that its aliases point at, of every representation of the
// field that is shown.
func (b *builder) columns(id uint32) ([][]uint32, error) {
	var all [][]uint32
	for _, alias := range b.s.AliasesOf(id) {
		var err error
		if all, err = b.addAlias(all, b.s.Aliases[alias].Column); err != nil {
			return nil, err
		}
	}
	if all == nil {
		all = b.representations(id)
	}
	for _, columns := range all {
		for _, c := range columns {
			if t := b.s.Columns[c].Type; !t.Known() {
				return nil, fmt.Errorf("%v is of a newer format", t)
			}
		}
	}
	return all, nil
}

// representations are the columns of a field that is not projected.
func (b *builder) representations(id uint32) (all [][]uint32) {
	columns := b.s.ColumnsOf(id)
	for i, c := range columns {
		if i == 0 || b.s.Columns[c].Representation != b.s.Columns[columns[i-1]].Representation {
			all = append(all, nil)
		}
		last := &all[len(all)-1]
		*last = append(*last, c)
	}
	return all
}

func (b *builder) addAlias(all [][]uint32, target uint32) ([][]uint32, error) {
	shown := b.representations(b.s.Columns[target].Field)
	if all == nil {
		all = make([][]uint32, len(shown))
	}
	if len(all) != len(shown) {
		return nil, errors.New("projects fields of different representations")
	}
	place := -1
	for _, columns := range shown {
		for i, c := range columns {
			if c == target {
				place = i
			}
		}
	}
	for r, columns := range shown {
		if place < 0 || place >= len(columns) {
			return nil, fmt.Errorf("projects column %d, which has no place in its field", target)
		}
		all[r] = append(all[r], columns[place])
	}
	return all, nil
}

func (b *builder) metadata(id uint32, description string, out *Field) arrow.Metadata {
	f := &b.s.Fields[id]
	var keys, values []string
	add := func(key, value string) {
		if value != "" {
			keys, values = append(keys, key), append(values, value)
		}
	}
	add(KeyType, f.TypeName)
	add(KeyAlias, f.TypeAlias)
	add(KeyDescription, description)
	add(KeyExtensionName, out.unknown.Name)
	add(KeyExtensionData, out.unknown.Data)
	add(KeyBases, strings.Join(out.bases, ", "))
	if f.Flags&envelope.FieldSoA != 0 {
		add(KeySoA, "true")
	}
	if f.TypeVersion != 0 {
		add(KeyTypeVersion, strconv.FormatUint(uint64(f.TypeVersion), 10))
	}
	if f.Flags&envelope.FieldChecksum != 0 {
		add(KeyChecksum, fmt.Sprintf("%08x", f.TypeChecksum))
	}
	if f.Projected() && int64(f.Source) < int64(len(b.s.Fields)) {
		add(KeyProjected, b.s.Path(f.Source))
	}
	return arrow.NewMetadata(keys, values)
}
