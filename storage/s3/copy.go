package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// copyPart is the size of the parts of a copy. S3 allows 10,000 parts of an object, and 5 GiB of each.
const copyPart = 512 << 20

// copying is an upload whose parts are ranges of another object. An object of one part is copied so, too: servers that check
// the condition of a completed upload may ignore that of CopyObject, which is newer.
type copying struct {
	*upload
	from object.Original
}

// BeginCopy implements [object.Copier].
func (c *client) BeginCopy(ctx context.Context, from object.Original, key, token string, cond object.Condition) (object.Copy, error) {
	u, err := c.begin(ctx, key, token, cond)
	if err != nil {
		return nil, err
	}
	return copying{u, from}, nil
}

func (u copying) Parts() (n int, size int64) {
	return int((u.from.Size + copyPart - 1) / copyPart), min(copyPart, u.from.Size)
}

func (u copying) Part(ctx context.Context, i int, _ []byte) error {
	source := u.from.Bucket + "/" + strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(u.from.Key))
	start := int64(i) * copyPart
	last := min(start+copyPart, u.from.Size) - 1
	out, err := u.c.requests.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
		Bucket: &u.c.bucket, Key: &u.key, UploadId: &u.id, PartNumber: partNumber(i), CopySource: &source,
		CopySourceIfMatch: aws.String(string(u.from.Version)), CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", start, last)),
	}, u.c.inRegion, u.c.keyedCopy)
	switch status(err) {
	case 412:
		return storage.ErrChanged
	case 404:
		if code(err) == "NoSuchKey" {
			return storage.ErrChanged
		}
	case 501:
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, u.c.failure(err))
	}
	if err != nil {
		return u.c.failure(err)
	}
	if out.CopyPartResult == nil || aws.ToString(out.CopyPartResult.ETag) == "" {
		return errors.New("the server sends no entity tag")
	}
	u.sent(i, out.CopyPartResult.ETag)
	return nil
}
