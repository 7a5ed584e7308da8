package az

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// copyBlock is the size of the blocks of a copy, the most that all versions of the service copy in a request.
const copyBlock = 100 << 20

// signedFor is how long a signature for the blocks of a copy is valid. It is made anew for each.
const signedFor = time.Hour

// copying is an upload whose blocks are ranges of another blob.
type copying struct {
	upload
	from   object.Original
	source *client
}

// BeginCopy implements [object.Copier]. It sends no request. The right to read the original is not for a host that gets no credentials.
func (c *client) BeginCopy(_ context.Context, from object.Original, key, token string, cond object.Condition) (object.Copy, error) {
	if c.account.foreign {
		return nil, fmt.Errorf("a copy by a host that gets no credentials: %w", errors.ErrUnsupported)
	}
	return &copying{upload{c, key, token, cond}, from, from.Client.(*client)}, nil
}

func (u *copying) Parts() (n int, size int64) {
	return int((u.from.Size + copyBlock - 1) / copyBlock), min(copyBlock, u.from.Size)
}

func (u *copying) Part(ctx context.Context, i int, _ []byte) error {
	start := int64(i) * copyBlock
	tag := azcore.ETag(u.from.Version)
	o := &blockblob.StageBlockFromURLOptions{
		Range:                          blob.HTTPRange{Offset: start, Count: min(copyBlock, u.from.Size-start)},
		SourceModifiedAccessConditions: &blob.SourceModifiedAccessConditions{SourceIfMatch: &tag},
	}
	at, err := u.readable(ctx, o)
	if err != nil {
		return err
	}
	_, err = u.c.blob(u.key).StageBlockFromURL(ctx, u.id(i), at, o)
	var e *azcore.ResponseError
	switch {
	case !errors.As(err, &e):
	case e.StatusCode == 412, e.ErrorCode == "SourceConditionNotMet", e.ErrorCode == "CannotVerifyCopySource" && e.StatusCode == 404:
		return storage.ErrChanged
	case e.StatusCode == 501:
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, u.c.failure(err))
	}
	return u.c.failure(err)
}

// readable is the URL at which the service reads the original, with the right to do so: a signature for this blob alone, the one that
// the account has, or a token.
func (u *copying) readable(ctx context.Context, o *blockblob.StageBlockFromURLOptions) (string, error) {
	from, a := u.source.blob(u.from.Key), u.source.account
	switch {
	case a.key != "":
		return from.BlobClient().GetSASURL(sas.BlobPermissions{Read: true}, time.Now().Add(signedFor), nil)
	case a.tokens != nil:
		token, err := a.tokens.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}})
		if err != nil {
			return "", u.source.failure(err)
		}
		authorization := "Bearer " + token.Token
		o.CopySourceAuthorization = &authorization
	}
	return from.URL(), nil // which has the signature of the account
}
