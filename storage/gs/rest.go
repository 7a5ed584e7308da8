package gs

import (
	"context"
	"errors"
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

// statusError is an answer with a status that is an error.
type statusError struct {
	Status int
	Header http.Header
	Body   []byte // its beginning
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answers with status %d", e.Status)
}

// do sends a request. The body of the answer is the caller's to close. A status from 300 on is a [statusError], unless it is expected;
// what breaks a connection is transient.
func do(c *http.Client, r *http.Request, expected ...int) (*http.Response, error) {
	resp, err := c.Do(r)
	if err != nil {
		return nil, object.Unanswered(err, "check STORAGE_EMULATOR_HOST")
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	for _, s := range expected {
		if s == resp.StatusCode {
			return resp, nil
		}
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what has arrived will do
	return nil, errors.Join(&statusError{resp.StatusCode, resp.Header, body}, resp.Body.Close())
}

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
