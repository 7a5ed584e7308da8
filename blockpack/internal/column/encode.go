package column

import "github.com/amudai/amudai-go/internal/base/fault"

// EncodeOptions are options of writing columns.
type EncodeOptions struct {
	// NoChecksum leaves out the checksums of Zstandard frames. Frames of up to 4 KiB have none.
	NoChecksum bool
}

// Encoder encodes columns. It keeps memory for the next column. It must not be used concurrently.
type Encoder struct{}

// NewEncoder makes an encoder.
func NewEncoder(o EncodeOptions) *Encoder { return &Encoder{} }

// Append appends the data of c to dst, from the encoding version on, in the kind that makes it smallest. The bytes
// depend on the values and presence of c, not on the order of entries of a dictionary. c stays as it is. A value or
// dictionary over the limits of the format is an error.
func (e *Encoder) Append(dst []byte, c *Column) (out []byte, kind Kind, err error) {
	return dst, 0, fault.Unsupportedf("not yet")
}
