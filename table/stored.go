package table

import (
	"context"

	"github.com/amudai/amudai-go/table/internal/recorded"
	"github.com/amudai/amudai-go/table/provider"
)

// Stored is what inputs store, by fields. Deleted rows are part of it.
//
//	type Stored struct {
//		Bytes  int64         // of all inputs, metadata included
//		Fields []StoredField // columns in order, each before the fields below it
//	}
type Stored = recorded.Stored

// StoredField is what inputs store of a column, or of a field below one.
//
//	type StoredField struct {
//		Path      string // as in the structure of the file ([Table.Inspect]), which has more fields than the table in some formats
//		Bytes     int64  // those of the fields below it included
//		Encodings []Fact // names with bytes, of the field alone, the largest first; nil for formats other than shards
//	}
type StoredField = recorded.Field

// Stored returns the stored sizes of all columns, and how they are encoded. It is nil if an input does not tell, as text and compressed inputs. No
// values are read, but the heads of blocks of shards are.
func (t *Table) Stored(ctx context.Context) (*Stored, error) {
	all := &Stored{}
	for i := range t.locations {
		var one *Stored
		err := t.describe(ctx, i, func(in *provider.Input, f provider.Format) (err error) {
			one, err = recorded.In(ctx, *in, f)
			return err
		})
		if one == nil || err != nil {
			return nil, err
		}
		all.Add(one)
	}
	return all, nil
}
