package column

import (
	"cmp"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Limits bound what the data of a column may make a reader take.
type Limits struct {
	DictionaryEntries int // of a dictionary, or of prefixes; 0 means 1,000,000
	ValueLen          int // bytes of a value; 0 means 10 MiB
	Bytes             int // bytes of each part of a column, decompressed; 0 means 1 GiB
}

// The limits of the format.
const (
	MaxDictionaryEntries = 1_000_000
	MaxValueLen          = 10 << 20
	MaxNameLen           = 1 << 10 // bytes of the name of a column
	maxBytes             = 1 << 30
)

func (l Limits) orDefaults() Limits {
	l.DictionaryEntries = cmp.Or(l.DictionaryEntries, MaxDictionaryEntries)
	l.ValueLen = cmp.Or(l.ValueLen, MaxValueLen)
	l.Bytes = cmp.Or(l.Bytes, maxBytes)
	return l
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
type Decoder struct {
	zstd          decompress.Zstd
	first, second []byte // decompressed parts of a column
	ranks         []int  // of rows that are taken
}

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
	d.first, d.second = Kept(d.first), Kept(d.second)
	r := &Reader{d: d, name: name, typ: t.Base(), rows: rows, o: o}
	r.o.Limits = o.Limits.orDefaults()
	if !t.Valid() {
		return nil, r.in(fault.Corruptf("%s", t))
	}
	c := &fields.Cursor{Data: data}
	if r.parse(c); c.Err != nil {
		return nil, r.in(c.Err)
	}
	return r, nil
}

// MaxKept is the size up to which memory is kept for the next column.
const MaxKept = 4 << 20

// Kept gives memory to be used again, unless it is that of an uncommonly large column.
func Kept(b []byte) []byte {
	if cap(b) > MaxKept {
		return nil
	}
	return b
}

// Decode is [Decoder.Decode] with a decoder of its own.
func Decode(data []byte, name string, t Type, rows int, o DecodeOptions) (*Column, error) {
	var d Decoder
	return d.Decode(data, name, t, rows, o)
}
