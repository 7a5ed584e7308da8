package stripe

import (
	"sync"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
)

// Memory is what the encoders of the stripes so far found out about the columns,
// so that the next stripe need not begin anew. The stripes that share one come
// one after the other; their bytes depend on those before.
type Memory struct {
	mu       sync.Mutex
	encoders map[nodePart]any
}

// nodePart is one sequence of blocks of a schema node.
type nodePart struct {
	id    uint32
	codes bool // those of its value dictionary
}

// NewMemory is an empty memory.
func NewMemory() *Memory { return &Memory{encoders: map[nodePart]any{}} }

// remembered are the encoders of a part, made if there are none.
func remembered[E any](c *nodeContext, p nodePart, create func() E) E {
	if c.memory == nil {
		return create()
	}
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	e, ok := c.memory.encoders[p].(E)
	if !ok {
		e = create()
		c.memory.encoders[p] = e
	}
	return e
}

// numberEncoders are the encoders of the numbers of a node.
func numberEncoders[T numeric.Value](c *nodeContext, p nodePart, o encoding.Options) *encoders[*numeric.Encoder[T]] {
	return remembered(c, p, func() *encoders[*numeric.Encoder[T]] { return newEncoders(numeric.NewEncoder[T](o)) })
}

// bytesEncoders are the encoders of the byte strings of a node.
func bytesEncoders(c *nodeContext, id uint32, fixed int) *encoders[*bytestring.Encoder] {
	return remembered(c, nodePart{id: id}, func() *encoders[*bytestring.Encoder] {
		return newEncoders(bytestring.NewEncoder(c.encoding, fixed))
	})
}
