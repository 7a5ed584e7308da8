package inspect

import (
	"bytes"
	"fmt"
	"io"

	"github.com/amudai/amudai-go/table/provider"
)

// Magic begins the header of each file of a shard.
var Magic = []byte("amud")

// OrOther describes a file that cannot be opened because it is no shard.
func OrOther(in provider.Input, err error) error {
	if err == nil || in.At == nil {
		return err
	}
	head := make([]byte, 8)
	n, rerr := in.At.ReadAt(head, 0)
	switch {
	case rerr != nil && rerr != io.EOF, bytes.HasPrefix(head, Magic):
		return err
	case n == 0:
		return fmt.Errorf("%s is empty", in.Name)
	}
	return fmt.Errorf("%s is not an Amudai shard: it starts with %q", in.Name, head[:n])
}
