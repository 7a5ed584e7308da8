// Package gen contains generated code only. Its tests check the definitions in proto/ and fbs/ that the code is
// generated from: they decode every metadata message of every shard of the reference by the definitions alone, and no
// part of a message may be unknown to them.
package gen

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// descriptorSet is compiled from proto/ by buf.
//
//go:embed amudai/amudai.binpb
var descriptorSet []byte

func definitions(t *testing.T) (*descriptorpb.FileDescriptorSet, *protoregistry.Files) {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	require.NoError(t, proto.Unmarshal(descriptorSet, set))
	files, err := protodesc.NewFiles(set)
	require.NoError(t, err)
	return set, files
}

func TestGeneratedTypesMatchTheDefinitions(t *testing.T) {
	set, _ := definitions(t)
	generated := []protoreflect.FileDescriptor{commonpb.File_amudai_common_common_proto, shardpb.File_amudai_shard_shard_proto}
	require.Len(t, set.File, len(generated))
	for i, file := range set.File {
		file.SourceCodeInfo = nil
		got := protodesc.ToFileDescriptorProto(generated[i])
		require.True(t, proto.Equal(file, got), "%s", file.GetName())
	}
}

// Comments are part of the definitions: generated code of other languages contains them.
func TestEverythingIsCommented(t *testing.T) {
	_, files := definitions(t)
	eachMessage(files, func(message protoreflect.MessageDescriptor) {
		requireComment(t, message)
		for i := range message.Fields().Len() {
			requireComment(t, message.Fields().Get(i))
		}
	})
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Enums().Len() {
			enum := file.Enums().Get(i)
			requireComment(t, enum)
			for j := range enum.Values().Len() {
				requireComment(t, enum.Values().Get(j))
			}
		}
		return true
	})
}

func requireComment(t *testing.T, d protoreflect.Descriptor) {
	t.Helper()
	comment := strings.TrimSpace(d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments)
	require.NotEmpty(t, comment, "%s", d.FullName())
}

func eachMessage(files *protoregistry.Files, visit func(protoreflect.MessageDescriptor)) {
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			visit(file.Messages().Get(i))
		}
		return true
	})
}

// decoder decodes messages by the definitions alone, and counts messages and fields.
type decoder struct {
	files    *protoregistry.Files
	messages map[string]int // by name of the message
	fields   map[protoreflect.FullName]bool
}

func newDecoder(t *testing.T) *decoder {
	_, files := definitions(t)
	return &decoder{files, map[string]int{}, map[protoreflect.FullName]bool{}}
}

// decode checks a message and returns it as its generated type.
func decode[M proto.Message](t *testing.T, d *decoder, payload []byte, message M) M {
	t.Helper()
	name := message.ProtoReflect().Descriptor().FullName()
	descriptor, err := d.files.FindDescriptorByName(name)
	require.NoError(t, err)
	dynamic := dynamicpb.NewMessage(descriptor.(protoreflect.MessageDescriptor))
	require.NoError(t, proto.Unmarshal(payload, dynamic))
	d.messages[string(name)]++
	d.requireKnown(t, dynamic)

	// Encoded again, the message must have the same size, unless a field lacks explicit presence or is not packed.
	// The order may differ, because Go writes a oneof behind all other fields.
	require.Equal(t, len(payload), proto.Size(dynamic), "%s", name)

	require.NoError(t, proto.Unmarshal(payload, message))
	return message
}

// requireKnown fails if a message, or one within it, holds a field or an enum value that the definitions lack.
func (d *decoder) requireKnown(t *testing.T, message protoreflect.Message) {
	t.Helper()
	require.Empty(t, message.GetUnknown(), "unknown fields of %s", message.Descriptor().FullName())
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		d.fields[field.FullName()] = true
		if !field.IsList() {
			d.requireKnownValue(t, field, value)
			return true
		}
		for i := range value.List().Len() {
			d.requireKnownValue(t, field, value.List().Get(i))
		}
		return true
	})
}

func (d *decoder) requireKnownValue(t *testing.T, field protoreflect.FieldDescriptor, value protoreflect.Value) {
	t.Helper()
	if field.Message() != nil {
		d.requireKnown(t, value.Message())
	}
	if enum := field.Enum(); enum != nil {
		require.NotNil(t, enum.Values().ByNumber(value.Enum()), "%s = %d", field.FullName(), value.Enum())
	}
}

// unseen lists the defined fields that no message contained.
func (d *decoder) unseen() []string {
	var names []string
	eachMessage(d.files, func(message protoreflect.MessageDescriptor) {
		for i := range message.Fields().Len() {
			if name := message.Fields().Get(i).FullName(); !d.fields[name] {
				names = append(names, strings.TrimPrefix(string(name), "amudai."))
			}
		}
	})
	slices.Sort(names)
	return names
}
