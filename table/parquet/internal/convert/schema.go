package convert

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/ipccheck"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// storedKey is the key of the stored Arrow schema in the metadata of Parquet files.
const storedKey = arrowmap.SchemaProperty

// TakeStored removes the stored Arrow schema from the metadata of a file, so that pqarrow does not use it: pqarrow
// knows fewer types, fails on some, and trusts the bytes. A schema that cannot be read is ignored.
func TakeStored(kv metadata.KeyValueMetadata) *arrow.Schema {
	var stored *arrow.Schema
	for _, e := range kv {
		if e.Key != storedKey || e.Value == nil {
			continue
		}
		e.Key += " (read)"
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(*e.Value, "="))
		if err != nil || ipccheck.Schema(raw) != nil {
			continue
		}
		_ = Guard(func() error {
			r, err := ipc.NewReader(bytes.NewReader(raw))
			if err == nil {
				stored = r.Schema()
				r.Release()
			}
			return err
		})
	}
	return stored
}

// RestoredSchema returns the schema of a source: that of pqarrow, with the types, names of items and metadata of the
// stored one where possible.
func RestoredSchema(read, stored *arrow.Schema) *arrow.Schema {
	fields := make([]arrow.Field, read.NumFields())
	for i, f := range read.Fields() {
		fields[i] = withoutFieldID(f)
		if stored == nil || stored.NumFields() != len(fields) {
			continue
		}
		if s := stored.Field(i); s.Name == f.Name && Restorable(f.Type, s.Type) {
			fields[i] = s
			fields[i].Nullable = f.Nullable
		}
	}
	meta := map[string]string{}
	m := read.Metadata()
	for i, k := range m.Keys() {
		if !strings.HasPrefix(k, storedKey) {
			meta[k] = m.Values()[i]
		}
	}
	if stored != nil {
		m = stored.Metadata()
		for i, k := range m.Keys() {
			meta[k] = m.Values()[i]
		}
	}
	all := arrow.MetadataFrom(meta)
	return arrow.NewSchema(fields, &all)
}

// withoutFieldID removes the metadata that pqarrow adds to every column of files without field ids: field id -1.
func withoutFieldID(f arrow.Field) arrow.Field {
	const fieldID = "PARQUET:field_id"
	if at := f.Metadata.FindKey(fieldID); at >= 0 && f.Metadata.Values()[at] == "-1" {
		rest := f.Metadata.ToMap()
		delete(rest, fieldID)
		f.Metadata = arrow.MetadataFrom(rest)
	}
	return f
}

// WithStored adds the Arrow schema of the caller to the metadata of the written schema, with JSON in place of unions.
func WithStored(written, original *arrow.Schema) (*arrow.Schema, error) {
	m := original.Metadata()
	text, err := arrowmap.EncodeIPC(arrow.NewSchema(withJSON(original.Fields()), &m))
	if err != nil {
		return nil, err
	}
	meta := m.ToMap()
	meta[storedKey] = text
	all := arrow.MetadataFrom(meta)
	return arrow.NewSchema(written.Fields(), &all), nil
}

// withJSON has fields of JSON in place of those of unions.
func withJSON(fields []arrow.Field) []arrow.Field {
	for i, f := range fields {
		if kinds.Of(f.Type) == kinds.Choice {
			fields[i].Type, fields[i].Nullable = extension.JSON(arrow.BinaryTypes.String), true
		} else if kinds.Of(f.Type) != kinds.Leaf {
			fields[i].Type = kinds.With(f.Type, withJSON(kinds.Fields(f.Type)))
		}
	}
	return fields
}

// Guard converts a panic of arrow-go to an error.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid Parquet data: %v", r)
		}
	}()
	return f()
}
