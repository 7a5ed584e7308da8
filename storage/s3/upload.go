package s3

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// headers returns the values of If-None-Match and If-Match.
func headers(c object.Condition) (none, match *string) {
	switch {
	case c.Absent:
		none = aws.String("*")
	case c.IfMatch != "":
		match = aws.String(string(c.IfMatch))
	}
	return none, match
}

func (c *client) Put(ctx context.Context, key string, body []byte, token string, cond object.Condition) error {
	in := &s3.PutObjectInput{Bucket: &c.bucket, Key: &key, Body: bytes.NewReader(body), Metadata: map[string]string{tokenName: token},
		ServerSideEncryption: c.method, SSEKMSKeyId: c.kms, ChecksumAlgorithm: c.checksum}
	in.IfNoneMatch, in.IfMatch = headers(cond)
	_, err := c.requests.PutObject(ctx, in, c.inRegion, c.keyed)
	if status(err) == 409 { // another conditional write is not decided yet
		return object.Transient(c.failure(err))
	}
	return c.failure(err)
}

// upload is a multipart upload.
type upload struct {
	c    *client
	key  string
	id   string
	cond object.Condition

	mu    sync.Mutex
	parts map[int]types.CompletedPart
}

func (c *client) Begin(ctx context.Context, key, token string, cond object.Condition) (object.Upload, error) {
	u, err := c.begin(ctx, key, token, cond)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (c *client) begin(ctx context.Context, key, token string, cond object.Condition) (*upload, error) {
	in := &s3.CreateMultipartUploadInput{
		Bucket: &c.bucket, Key: &key, Metadata: map[string]string{tokenName: token}, ServerSideEncryption: c.method, SSEKMSKeyId: c.kms,
		ChecksumAlgorithm: c.checksum,
	}
	if c.checksum != "" {
		in.ChecksumType = types.ChecksumTypeFullObject
	}
	out, err := c.requests.CreateMultipartUpload(ctx, in, c.inRegion, c.keyed)
	if err != nil {
		return nil, c.failure(err)
	}
	return &upload{c: c, key: key, id: aws.ToString(out.UploadId), cond: cond, parts: map[int]types.CompletedPart{}}, nil
}

func (u *upload) Part(ctx context.Context, i int, body []byte) error {
	number := partNumber(i)
	out, err := u.c.requests.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &u.c.bucket, Key: &u.key, UploadId: &u.id, PartNumber: number, Body: bytes.NewReader(body), ChecksumAlgorithm: u.c.checksum,
	}, u.c.inRegion, u.c.keyed)
	if err != nil {
		return u.c.failure(err)
	}
	u.sent(i, out.ETag)
	return nil
}

func partNumber(i int) *int32 { return aws.Int32(int32(i + 1)) }

// sent remembers the tag of a part.
func (u *upload) sent(i int, tag *string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[i] = types.CompletedPart{PartNumber: partNumber(i), ETag: tag}
}

func (u *upload) Complete(ctx context.Context, n int) error {
	in := &s3.CompleteMultipartUploadInput{Bucket: &u.c.bucket, Key: &u.key, UploadId: &u.id, MultipartUpload: &types.CompletedMultipartUpload{}}
	in.IfNoneMatch, in.IfMatch = headers(u.cond)
	for i := range n {
		in.MultipartUpload.Parts = append(in.MultipartUpload.Parts, u.parts[i])
	}
	_, err := u.c.requests.CompleteMultipartUpload(ctx, in, u.c.inRegion, u.c.keyed)
	if status(err) == 409 { // another conditional write came first; parts would have to be sent again
		return fmt.Errorf("%w: %w", object.ErrCondition, u.c.failure(err))
	}
	return u.c.failure(err)
}

func (u *upload) Abort(ctx context.Context) error {
	_, err := u.c.requests.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.c.bucket, Key: &u.key, UploadId: &u.id}, u.c.inRegion)
	if code(err) == "NoSuchUpload" {
		return nil
	}
	return u.c.failure(err)
}

// DropLost implements [object.LostDropper]: uploads of this key that were begun shortly before this one, and have no parts.
func (u *upload) DropLost(ctx context.Context, within time.Duration) error {
	out, err := u.c.requests.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &u.c.bucket, Prefix: &u.key}, u.c.inRegion)
	if err != nil {
		return u.c.failure(err)
	}
	var begun time.Time
	for _, o := range out.Uploads {
		if aws.ToString(o.UploadId) == u.id {
			begun = aws.ToTime(o.Initiated)
		}
	}
	for _, o := range out.Uploads {
		lost := upload{c: u.c, key: u.key, id: aws.ToString(o.UploadId)}
		before := begun.Sub(aws.ToTime(o.Initiated))
		if aws.ToString(o.Key) != u.key || lost.id == u.id || before < 0 || before > within {
			continue
		}
		parts, err := u.c.requests.ListParts(ctx, &s3.ListPartsInput{Bucket: &u.c.bucket, Key: &u.key, UploadId: &lost.id}, u.c.inRegion, u.c.keyed)
		if err == nil && len(parts.Parts) == 0 {
			err = lost.Abort(ctx)
		}
		if err != nil {
			return u.c.failure(err)
		}
	}
	return nil
}
