package gs

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// maxError is the most that is read of an answer that is an error, maxAnswer of another one that is no object.
const (
	maxError  = 64 << 10
	maxAnswer = 64 << 20
)

// readAll reads the body of an answer that is no object, and closes it.
func readAll(ctx context.Context, resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, object.Transient(err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return body, nil
}

// content returns the body of an answer to a range request, the offset of its first byte, and the size of the object.
func content(resp *http.Response) (object.Content, error) {
	c := object.Content{Body: resp.Body}
	var err error
	c.Offset, c.Size, err = object.RangeOf(resp.Header.Get("Content-Range"), resp.ContentLength)
	return c, err
}
