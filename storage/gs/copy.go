package gs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// rewrite is a copy of an object. Google copies within a request, or some of a large object, and then gives a token to go on with.
type rewrite struct {
	c      *client
	from   object.Original
	key    string
	token  string // of the writer
	cond   object.Condition
	resume string // token to go on with
}

// BeginCopy implements [object.Copier]. It sends no request.
func (c *client) BeginCopy(_ context.Context, from object.Original, key, token string, cond object.Condition) (object.Copy, error) {
	return &rewrite{c: c, from: from, key: key, token: token, cond: cond}, nil
}

func (r *rewrite) Parts() (n int, size int64) { return 0, r.from.Size }

func (r *rewrite) Part(context.Context, int, []byte) error { return errors.New("a copy has no parts") }

// Complete implements [object.Upload]. An attempt goes on where the one before ended.
func (r *rewrite) Complete(ctx context.Context, _ int) error {
	meta, err := json.Marshal(resource{Metadata: map[string]string{tokenName: r.token}})
	if err != nil {
		return err
	}
	for {
		q := condition(url.Values{"sourceGeneration": {string(r.from.Version)}, "fields": {"done,rewriteToken"}}, r.cond)
		if r.resume != "" {
			q.Set("rewriteToken", r.resume)
		}
		source := client{bucket: r.from.Bucket, endpoint: r.c.endpoint}
		to := "/rewriteTo/b/" + url.PathEscape(r.c.bucket) + "/o/" + url.PathEscape(r.key)
		var answer struct {
			Done         bool   `json:"done"`
			RewriteToken string `json:"rewriteToken"`
		}
		header := http.Header{"Content-Type": {"application/json; charset=UTF-8"}}
		if err := r.c.answer(ctx, http.MethodPost, source.url("", r.from.Key, nil)+to+"?"+q.Encode(), header, bytes.NewReader(meta), len(meta), &answer); err != nil {
			return err
		}
		if answer.Done {
			return nil
		}
		if r.resume = answer.RewriteToken; r.resume == "" {
			return errors.New("the server does not complete the copy")
		}
	}
}

func (r *rewrite) Abort(context.Context) error { return nil }
