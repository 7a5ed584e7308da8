package buffers

import (
	"sync"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
)

// History is the memory that the encoders of earlier stripes have of the columns,
// so that the next stripe need not begin anew. The stripes that share one come
// one after the other; their bytes depend on those before.
type History struct {
	mu       sync.Mutex
	encoders map[NodePart]any
}

// NodePart is one sequence of blocks of a schema node.
type NodePart struct {
	ID     uint32
	Codes  bool // those of its value dictionary
	Skewed bool // they are written as in HighCompression, since some are much more frequent than others
	Octets bool // those of the bytes of its byte strings
	Ends   bool // those of the offsets of these, or of a union
}

// NewHistory is an empty memory.
func NewHistory() *History { return &History{encoders: map[NodePart]any{}} }

// remembered are the encoders of a part, made if there are none.
func remembered[E any](c *Context, p NodePart, create func() E) E {
	if c.History == nil {
		return create()
	}
	c.History.mu.Lock()
	defer c.History.mu.Unlock()
	e, ok := c.History.encoders[p].(E)
	if !ok {
		e = create()
		c.History.encoders[p] = e
	}
	return e
}

// numberEncoders are the encoders of the numbers of a node.
func numberEncoders[T numeric.Value](c *Context, p NodePart, o encoding.Options) *encoders[*numeric.Encoder[T]] {
	return remembered(c, p, func() *encoders[*numeric.Encoder[T]] { return newEncoders(numeric.NewEncoder[T](o)) })
}

// bytesEncoders are the encoders of the byte strings of a node.
func bytesEncoders(c *Context, id uint32, fixed int) *encoders[*bytestring.Encoder] {
	return remembered(c, NodePart{ID: id}, func() *encoders[*bytestring.Encoder] {
		e := bytestring.NewEncoder(c.Encoding, fixed)
		e.ShareDictionary()
		return newEncoders(e)
	})
}
