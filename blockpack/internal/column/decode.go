package column

import "github.com/amudai/amudai-go/internal/base/fault"

// Limits bound what the data of a column may make a reader take.
type Limits struct {
	DictionaryEntries int // of a dictionary; 0 means 1,000,000
	ValueLen          int // bytes of a value; 0 means 10 MiB
	Bytes             int // decompressed bytes of a column; 0 means 1 GiB
}

// DecodeOptions are options of reading a column.
type DecodeOptions struct {
	Limits Limits
	// Warn gets notes about data that is read although it breaks a rule. nil: notes are dropped.
	Warn func(error)
	// UUID says what is known about strings that have 16 bytes each.
	UUID UUIDHint
}

// UUIDHint says whether the values of a String column are UUIDs packed into 16 bytes. Files have no mark for it.
type UUIDHint uint8

// The hints.
const (
	UUIDUnknown UUIDHint = iota // decided by the kind and the bytes
	UUIDPacked                  // statistics or keys of the range index are UUIDs in text
	UUIDPlain                   // statistics are strings of 16 bytes, or the file is one of our own
)

// Decoder decodes columns, and keeps memory for the next one. The zero value is ready to use. It must not be used
// concurrently.
type Decoder struct{}

// Decode decodes data, the bytes of a column of rows rows, from their encoding version on. The result is memory of its
// own. Offsets in errors count from the start of data.
func (d *Decoder) Decode(data []byte, name string, t Type, rows int, o DecodeOptions) (*Column, error) {
	r, err := d.Open(data, name, t, rows, o)
	if err != nil {
		return nil, err
	}
	return r.Column()
}

// Open parses the parts of a column, and its presence. It decompresses nothing. The reader holds data.
func (d *Decoder) Open(data []byte, name string, t Type, rows int, o DecodeOptions) (*Reader, error) {
	return nil, fault.Unsupportedf("not yet")
}

// Decode is [Decoder.Decode] with a decoder of its own.
func Decode(data []byte, name string, t Type, rows int, o DecodeOptions) (*Column, error) {
	var d Decoder
	return d.Decode(data, name, t, rows, o)
}

// Reader reads the parts of a column. It uses the memory of its [Decoder]: readers of one decoder must not be used
// concurrently. What its methods return is memory of its own.
type Reader struct{}

// Kind is how the column is stored.
func (r *Reader) Kind() Kind { return 0 }

// Present is the bitmap of rows with a value, as in [Column]. nil: every row has one.
func (r *Reader) Present() []byte { return nil }

// PresentCount is the number of rows with a value.
func (r *Reader) PresentCount() int { return 0 }

// Coded tells whether the column is stored as a dictionary and codes: in the kinds 1, 2, 6, 7, 12 and 13.
func (r *Reader) Coded() bool { return false }

// Dictionary decodes the dictionary of a coded column. Its entries need not be sorted or unique.
func (r *Reader) Dictionary() (Values, error) { return Values{}, fault.Unsupportedf("not yet") }

// Codes decodes the codes of the present rows of a coded column, in order. Each is less than entries, the number of
// entries of the dictionary.
func (r *Reader) Codes(entries int) ([]uint32, error) { return nil, fault.Unsupportedf("not yet") }

// Column decodes all rows. Codes is nil unless the column is [Reader.Coded].
func (r *Reader) Column() (*Column, error) { return nil, fault.Unsupportedf("not yet") }

// Take decodes rows, which ascend: row i of the result is rows[i]. It is for few rows: what is not needed for them is
// neither decoded nor checked. Codes of the result is nil.
func (r *Reader) Take(rows []int) (*Column, error) { return nil, fault.Unsupportedf("not yet") }
