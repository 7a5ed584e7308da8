package arrowmap

import (
	"bytes"
	"cmp"
	"encoding/base64"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/internal/arrow/ipccheck"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/flatread"
)

// SchemaProperty is the name of the shard property that holds an Arrow IPC schema, as in
// Parquet files: an encapsulated Schema message in base64. Readers take only the metadata of
// the whole schema from it, because the types of all columns are recorded with their nodes.
//
//	u32 0xFFFFFFFF | u32 n | Message, n bytes with padding to 8
const SchemaProperty = "ARROW:schema"

// Slots of the tables in the message.
const (
	messageHeaderType, messageHeader = 1, 2
	arrowSchemaMetadata              = 2
	keyValueKey, keyValueValue       = 0, 1

	messageIsSchema = 1
)

// EncodeIPC is the value of [SchemaProperty] for a schema.
func EncodeIPC(s *arrow.Schema) (string, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return "", err
	}
	_, rest, err := ipccheck.Cut(b.Bytes())
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()[:b.Len()-len(rest)]), nil
}

// MetadataFromIPC is the metadata of the schema in a [SchemaProperty]. Nothing else is read.
// Errors wrap [fault.ErrCorrupt].
func MetadataFromIPC(property string) (arrow.Metadata, error) {
	m, err := metadataFromIPC(property)
	if err != nil {
		return arrow.Metadata{}, fault.In(err, "property "+SchemaProperty, -1)
	}
	return m, nil
}

func metadataFromIPC(property string) (arrow.Metadata, error) {
	raw, err := base64.StdEncoding.DecodeString(property)
	if err != nil {
		return arrow.Metadata{}, fault.Corruptf("%w", err)
	}
	b, _, err := ipccheck.Cut(raw)
	if err != nil {
		return arrow.Metadata{}, err
	}
	message, err := flatread.Root(b)
	if err != nil {
		return arrow.Metadata{}, err
	}
	if kind := message.Uint8(messageHeaderType, 0); message.Err == nil && kind != messageIsSchema {
		return arrow.Metadata{}, fault.Corruptf("Arrow message of kind %d where a schema belongs", kind)
	}
	header, ok := message.Table(messageHeader)
	if !ok {
		return arrow.Metadata{}, cmp.Or(message.Err, fault.Corruptf("Arrow message without a schema"))
	}
	list := header.Vector(arrowSchemaMetadata, 4)
	if header.Err != nil {
		return arrow.Metadata{}, header.Err
	}
	keys, values, total := make([]string, list.Len()), make([]string, list.Len()), 0
	for i := range keys {
		entry, err := list.Table(i)
		if err != nil {
			return arrow.Metadata{}, err
		}
		keys[i], values[i] = string(entry.String(keyValueKey)), string(entry.String(keyValueValue))
		if entry.Err != nil {
			return arrow.Metadata{}, entry.Err
		}
		// Entries may share their texts. In valid messages they are not longer than the message in
		// total.
		if total += len(keys[i]) + len(values[i]); total > 4*len(b) {
			return arrow.Metadata{}, fault.Corruptf("Arrow schema metadata of more than %d bytes in a message of %d", total, len(b))
		}
	}
	return arrow.NewMetadata(keys, values), nil
}
