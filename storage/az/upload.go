package az

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// upload stages blocks of a blob, and then names those that are the blob. Azure keeps staged blocks that no list has named for a
// week, or until the next blob is written at the location; no request drops them.
type upload struct {
	c     *client
	key   string
	token string
	cond  object.Condition
}

// Begin implements [object.Client]. It sends no request.
func (c *client) Begin(_ context.Context, key, token string, cond object.Condition) (object.Upload, error) {
	return &upload{c, key, token, cond}, nil
}

// id is the name of a block. Those of all writers of a blob have the same length, and are different.
func (u *upload) id(i int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%.26s-%07d", u.token, i))
}

// Part implements [object.Upload].
func (u *upload) Part(ctx context.Context, i int, body []byte) error {
	q := url.Values{"comp": {"block"}, "blockid": {u.id(i)}}
	return u.c.done(ctx, request{method: http.MethodPut, key: u.key, query: q, body: body})
}

// Complete implements [object.Upload].
func (u *upload) Complete(ctx context.Context, n int) error {
	var list struct {
		XMLName xml.Name `xml:"BlockList"`
		Latest  []string
	}
	for i := range n {
		list.Latest = append(list.Latest, u.id(i))
	}
	body, err := xml.Marshal(list)
	if err != nil {
		return err
	}
	header := conditional(map[string]string{"X-Ms-Blob-Content-Type": "application/octet-stream"}, u.token, u.cond)
	return u.c.done(ctx, request{method: http.MethodPut, key: u.key, query: url.Values{"comp": {"blocklist"}}, header: header, body: body})
}

// Abort implements [object.Upload].
func (u *upload) Abort(context.Context) error { return nil }
