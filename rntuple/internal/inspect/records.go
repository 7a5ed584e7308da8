package inspect

import (
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/wire"
	"github.com/amudai/amudai-go/table/provider"
)

// listed are the parts of bytes of the container. What follows them is content.
func listed(b []byte, list func(c *wire.Coder)) (parts []provider.Part) {
	c := rootfile.Lister(b)
	list(c)
	for _, p := range c.Parts.List {
		parts = append(parts, provider.Part(p))
	}
	if c.Left() > 0 {
		parts = append(parts, provider.Part{Offset: c.Pos, Size: c.Left(), Text: "content"})
	}
	return parts
}

// recordParts are the key of a record, and its content as far as it has a meaning here.
func (o *outline) recordParts(b []byte, k rootfile.Key) []provider.Part {
	return listed(b, func(c *wire.Coder) {
		o.file.ListRecord(c, k)
		if k.Class != rootfile.ClassNTuple || int64(len(b)) != k.HeaderSize+k.ObjectSize {
			return
		}
		var a envelope.Anchor
		envelope.CodeAnchor(c, &a)
		const checksum = 8
		if n := c.Left() - checksum; n > 0 {
			c.Skip("of a newer version", n)
		}
		c.Skip("XXH3", checksum)
	})
}
