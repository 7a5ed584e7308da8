package az

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// tokenName is the name of the metadata that hold the token of a writer.
const tokenName = "amudaiwrite"

// client is the [object.Client] of a container.
type client struct {
	name     string
	account  account
	requests *container.Client
}

func (c *client) blob(key string) *blockblob.Client { return c.requests.NewBlockBlobClient(key) }

// maxAnswer is the most that is read of an answer that is no blob: the SDK keeps it in memory.
const maxAnswer = 64 << 20

// bounded sends requests, and limits answers that are no blobs.
type bounded struct{ *http.Client }

func (b bounded) Do(r *http.Request) (*http.Response, error) {
	resp, err := b.Client.Do(r)
	if err == nil && (resp.StatusCode >= 300 || r.Header.Get("X-Ms-Range") == "") {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}

// failure translates an error of the SDK into one of [object.Client].
func (c *client) failure(err error) error {
	var f object.Failure
	var e *azcore.ResponseError
	var final interface{ NonRetriable() }
	switch {
	case err == nil, errors.As(err, &f), object.IsTransient(err):
		return err
	case errors.As(err, &final): // of the SDK, before it sends anything
		return err
	case !errors.As(err, &e):
		return object.Unanswered(err, "check the name of the account, and the endpoint in the environment")
	}
	switch e.ErrorCode {
	case "ContainerNotFound":
		return object.Failure{Text: "there is no container " + c.name, Advice: "check its name, and that of the account " + c.account.name}
	case "BlobAlreadyExists", "ConditionNotMet", "TargetConditionNotMet":
		return object.ErrCondition
	case "AuthenticationFailed", "InvalidAuthenticationInfo":
		return object.Failure{
			Text: "the server does not accept these credentials", Advice: "check AZURE_STORAGE_KEY, the signature, its time of validity, or az login", Err: fs.ErrPermission,
		}
	case "InvalidBlockList":
		return errors.New("another writer has replaced the blob meanwhile")
	}
	s, header, advice := e.StatusCode, http.Header(nil), "check the role of the account of the credentials (Storage Blob Data Reader or Contributor), or the rights of the signature"
	if e.RawResponse != nil {
		header = e.RawResponse.Header
	}
	if c.account.foreign {
		advice = "the host is none of Azure's, so that it gets no credentials: AZURE_STORAGE_ENDPOINT=" + c.account.endpoint + " allows it"
	}
	err = fmt.Errorf("the server answers with status %d", s)
	if e.ErrorCode != "" && !object.TransientStatus(s) {
		err = fmt.Errorf("the server answers %s (status %d)", e.ErrorCode, s)
	}
	return object.OfStatus(s, header, err, advice)
}

// conditions are those of a request.
func conditions(c object.Condition) *blob.AccessConditions {
	m := &blob.ModifiedAccessConditions{}
	if any := azcore.ETagAny; c.Absent {
		m.IfNoneMatch = &any
	}
	if tag := azcore.ETag(c.IfMatch); c.IfMatch != "" {
		m.IfMatch = &tag
	}
	return &blob.AccessConditions{ModifiedAccessConditions: m}
}

// tag is an entity tag, which lists show without quotes.
func tag(t *azcore.ETag) (storage.Version, error) {
	if t == nil || *t == "" {
		return "", errors.New("the server sends no entity tag")
	}
	return storage.Version(`"` + strings.Trim(string(*t), `"`) + `"`), nil
}

// Get implements [object.Client]. Azure knows no ranges at the end.
func (c *client) Get(ctx context.Context, key string, off, n int64, v storage.Version) (object.Content, error) {
	if off < 0 {
		return object.Content{}, errors.ErrUnsupported
	}
	resp, err := c.blob(key).DownloadStream(ctx, &blob.DownloadStreamOptions{
		Range: blob.HTTPRange{Offset: off, Count: n}, AccessConditions: conditions(object.Condition{IfMatch: v}),
	})
	if err != nil {
		return object.Content{}, c.failure(err)
	}
	if resp.Body == nil { // of an answer with status 304
		return object.Content{}, errors.New("the server answers without a body")
	}
	content := object.Content{Body: resp.Body}
	content.Offset, content.Size, err = object.RangeOf(deref(resp.ContentRange), deref(resp.ContentLength))
	if err == nil {
		content.Version, err = tag(resp.ETag)
	}
	if err != nil {
		return object.Content{}, errors.Join(err, resp.Body.Close())
	}
	return content, nil
}

// deref is the value at p, or zero.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (c *client) Head(ctx context.Context, key string) (object.Properties, error) {
	resp, err := c.blob(key).GetProperties(ctx, nil)
	if err != nil {
		return object.Properties{}, c.failure(err)
	}
	if resp.ContentLength == nil || *resp.ContentLength < 0 {
		return object.Properties{}, errors.New("the server sends no size")
	}
	p := object.Properties{Size: *resp.ContentLength}
	for name, value := range resp.Metadata {
		if strings.EqualFold(name, tokenName) {
			p.Token = deref(value)
		}
	}
	p.Version, err = tag(resp.ETag)
	return p, err
}

func (c *client) Delete(ctx context.Context, key string, v storage.Version) error {
	_, err := c.blob(key).Delete(ctx, &blob.DeleteOptions{AccessConditions: conditions(object.Condition{IfMatch: v})})
	return c.failure(err)
}

func (c *client) List(ctx context.Context, prefix, page string) ([]object.Entry, string, error) {
	o := &container.ListBlobsFlatOptions{Prefix: &prefix, ResponseFormat: container.StorageResponseFormatXML}
	if page != "" {
		o.Marker = &page
	}
	resp, err := c.requests.NewListBlobsFlatPager(o).NextPage(ctx)
	if err != nil {
		return nil, "", c.failure(err)
	}
	var all []object.Entry
	if resp.Segment == nil {
		return nil, "", errors.New("the server sends no list")
	}
	for _, b := range resp.Segment.BlobItems {
		if b == nil || b.Name == nil || b.Properties == nil {
			return nil, "", errors.New("the list of the server lacks names or properties")
		}
		e := object.Entry{Key: *b.Name, Size: deref(b.Properties.ContentLength), Modified: deref(b.Properties.LastModified)}
		if e.Version, err = tag(b.Properties.ETag); err != nil {
			return nil, "", err
		}
		if deref(b.Properties.ResourceType) != "directory" { // of accounts with folders
			all = append(all, e)
		}
	}
	return all, deref(resp.NextMarker), nil
}

func (c *client) Put(ctx context.Context, key string, body []byte, token string, cond object.Condition) error {
	_, err := c.blob(key).Upload(ctx, streaming.NopCloser(bytes.NewReader(body)), &blockblob.UploadOptions{
		Metadata: map[string]*string{tokenName: &token}, AccessConditions: conditions(cond), TransactionalValidation: checked(body),
	})
	return c.failure(err)
}

// checked is the checksum of bytes that are sent: the service refuses others. Its CRC64 is shorter, but other servers do not know it.
func checked(body []byte) blob.TransferValidationType {
	sum := md5.Sum(body)
	return blob.TransferValidationTypeMD5(sum[:])
}

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

func (u *upload) Part(ctx context.Context, i int, body []byte) error {
	_, err := u.c.blob(u.key).StageBlock(ctx, u.id(i), streaming.NopCloser(bytes.NewReader(body)), &blockblob.StageBlockOptions{
		TransactionalValidation: checked(body),
	})
	return u.c.failure(err)
}

func (u *upload) Complete(ctx context.Context, n int) error {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = u.id(i)
	}
	_, err := u.c.blob(u.key).CommitBlockList(ctx, ids, &blockblob.CommitBlockListOptions{
		Metadata: map[string]*string{tokenName: &u.token}, AccessConditions: conditions(u.cond),
	})
	return u.c.failure(err)
}

func (u *upload) Abort(context.Context) error { return nil }
