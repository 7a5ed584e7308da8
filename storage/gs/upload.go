package gs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// upload is a resumable upload: one stream of bytes, sent in requests whose sizes are multiples of chunk, but for the last.
//
//	Part      |chunk|chunk|chunk|chunk|        Content-Range: bytes 0-1048575/*
//	Complete                           rest    Content-Range: bytes 1048576-1050000/1050001, X-Goog-Hash of all
//
// Its address is a secret of its own, which takes no credentials. Google forgets an upload that is not completed within a week.
type upload struct {
	c       *client
	key     string
	address string

	starts []int64 // of the parts that were sent, whole or not
	end    int64   // of the bytes that the server has
	rest   []byte  // at the end of all
	from   int64   // offset of rest
	asked  bool    // to complete
	sum    uint32  // of the bytes before rest
}

// statusIncomplete is the status of an upload that goes on.
const statusIncomplete = 308

func (c *client) Begin(ctx context.Context, key, token string, cond object.Condition) (object.Upload, error) {
	meta, err := described(key, token, "")
	if err != nil {
		return nil, err
	}
	q := condition(url.Values{"uploadType": {"resumable"}, "fields": {"generation"}}, cond)
	header := http.Header{"Content-Type": {"application/json; charset=UTF-8"}, "X-Upload-Content-Type": {"application/octet-stream"}}
	resp, err := c.send(ctx, http.MethodPost, c.url("/upload", "", q), header, bytes.NewReader(meta), len(meta))
	if err != nil {
		return nil, err
	}
	u := &upload{c: c, key: key, address: resp.Header.Get("Location")}
	if _, err := readAll(ctx, resp); err != nil {
		return nil, err
	}
	if u.address == "" {
		return nil, errors.New("the server names no address for the upload")
	}
	return u, nil
}

// Part implements [object.Upload]. Parts come one after another.
func (u *upload) Part(ctx context.Context, i int, body []byte) error {
	again := i < len(u.starts)
	whole := len(body) / chunk * chunk
	if !again {
		u.starts = append(u.starts, u.end)
		u.sum = crc32.Update(u.sum, castagnoli, body[:whole])
	}
	start := u.starts[i]
	if again {
		if done, err := u.resume(ctx, "*"); done || err != nil {
			return u.early(done, err)
		}
	}
	for u.end < start+int64(whole) {
		if u.end < start {
			return fmt.Errorf("the server has %d bytes instead of %d", u.end, start)
		}
		before := u.end
		done, err := u.put(ctx, body[u.end-start:whole], "*")
		if done || err != nil {
			return u.early(done, err)
		}
		if u.end <= before {
			return object.Transient(errors.New("the server keeps nothing of what it is sent"))
		}
	}
	u.rest, u.from = bytes.Clone(body[whole:]), start+int64(whole)
	return nil
}

func (u *upload) early(done bool, err error) error {
	if done {
		err = errors.New("the upload is complete before its end")
	}
	return err
}

// put sends bytes behind those that the server has. done means that the object is complete.
func (u *upload) put(ctx context.Context, body []byte, total string) (done bool, err error) {
	place := "*"
	if len(body) > 0 {
		place = fmt.Sprintf("%d-%d", u.end, u.end+int64(len(body))-1)
	}
	header := http.Header{"Content-Range": {"bytes " + place + "/" + total}}
	if total != "*" {
		header.Set("X-Goog-Hash", "crc32c="+encoded(crc32.Update(u.sum, castagnoli, u.rest)))
	}
	resp, err := u.c.send(ctx, http.MethodPut, u.address, header, bytes.NewReader(body), len(body), statusIncomplete)
	if errors.Is(err, fs.ErrNotExist) {
		return false, errors.New("the server does not know the upload any more")
	}
	if err != nil {
		return false, err
	}
	if _, err := readAll(ctx, resp); err != nil {
		return false, err
	}
	if resp.StatusCode != statusIncomplete {
		return true, nil
	}
	u.end = 0
	if kept := resp.Header.Get("Range"); kept != "" {
		var last int64
		if _, err := fmt.Sscanf(kept, "bytes=0-%d", &last); err != nil || last < 0 {
			return false, fmt.Errorf("bad Range %q", kept)
		}
		u.end = last + 1
	}
	return false, nil
}

// resume asks how many bytes the server has.
func (u *upload) resume(ctx context.Context, total string) (done bool, err error) {
	return u.put(ctx, nil, total)
}

func (u *upload) Complete(ctx context.Context, _ int) (err error) {
	if u.rest == nil {
		return errors.New("a part is missing")
	}
	size := u.from + int64(len(u.rest))
	total := strconv.FormatInt(size, 10)
	done := false
	if u.asked { // and the answer was lost, or the server has a part of the rest
		done, err = u.resume(ctx, total)
	}
	u.asked = true
	if done || err != nil {
		return err
	}
	if u.end < u.from || u.end > size {
		return fmt.Errorf("the server has %d bytes of %d", u.end, size)
	}
	if done, err = u.put(ctx, u.rest[u.end-u.from:], total); err == nil && !done {
		err = object.Transient(errors.New("the server does not complete the upload"))
	}
	return err
}

// Abort implements [object.Upload]. The answer to it is 499, "client closed request".
func (u *upload) Abort(ctx context.Context) error {
	resp, err := u.c.send(ctx, http.MethodDelete, u.address, nil, nil, 0, 499)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = readAll(ctx, resp)
	return err
}
