// Package az reads and writes artifacts at az:// locations, in Azure Blob Storage. Importing it registers a [Store] with
// package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/az"
//
// It sends and signs the requests itself. docs/stores.md says why, and which requests these are.
package az

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
	"github.com/amudai/amudai-go/storage/internal/rest"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// Token returns a token for https://storage.azure.com/ and the time when it ends, such as one of the Azure SDK for Go:
	//
	//	func(ctx context.Context) (string, time.Time, error) {
	//		t, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}})
	//		return t.Token, t.ExpiresOn, err
	//	}
	//
	// By default credentials are found where Azure's tools find them: in AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or
	// AZURE_STORAGE_SAS_TOKEN, else by AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE,
	// from the managed identity of a machine of Azure, or from the Azure CLI. With AZURE_STORAGE_ANON=true requests are anonymous.
	Token func(ctx context.Context) (token string, until time.Time, err error)
	// Account is the storage account of locations that name none. By default it is that of AZURE_STORAGE_CONNECTION_STRING, or
	// AZURE_STORAGE_ACCOUNT.
	Account string
	// Attempts is the largest number of times that a request is sent, by default 4. Broken connections, statuses such as
	// 429 and 503, and half a minute without a byte are retried.
	Attempts int
	// Backoff is the delay before the second attempt, by default 100 ms. It doubles with
	// each further attempt, up to 5 s. The actual delay is random, between half of it and
	// all of it.
	Backoff time.Duration
	// PartBytes is the size of the blocks of a blob that is written, by default 16 MiB. Smaller blobs are one request. From 5000
	// blocks on it doubles with every thousand.
	PartBytes int
	// Parallel is the number of blocks that are sent at a time, by default 4. A writer holds at most one block more in memory,
	// and writes no file.
	Parallel int
}

// Store holds the blobs at az://CONTAINER/KEY, or az://ACCOUNT.blob.core.windows.net/CONTAINER/KEY, where special characters of
// the key are percent-encoded. Its versions are entity tags. A [storage.Reader] only returns bytes of the version of its first
// answer. A [storage.Writer] publishes with If-None-Match or If-Match: of several writers one succeeds.
type Store struct{ storage.Store }

// New returns a store. It looks for credentials when it is first used.
func New(o Options) *Store {
	return &Store{object.New(object.Options{
		Scheme: "az", Bucket: split, PartBytes: o.PartBytes, Parallel: o.Parallel,
		Retry: object.Retry{Attempts: o.Attempts, Backoff: o.Backoff},
		Dial:  func(ctx context.Context, bucket string) (object.Client, error) { return dial(ctx, o, bucket) },
	})}
}

func init() { storage.Register("az", New(Options{})) }

// split divides a location into the container, with its account if that is named, and the key. Names of containers have no dots.
func split(rest string) (bucket, key string) {
	bucket, key, _ = strings.Cut(rest, "/")
	if strings.Contains(bucket, ".") {
		container, rest, _ := strings.Cut(key, "/")
		bucket, key = bucket+"/"+container, rest
	}
	return bucket, key
}

// client is the [object.Client] of a container.
type client struct {
	container string
	account   account
	http      *http.Client
}

// dial returns the client of a container. It sends no request.
func dial(_ context.Context, o Options, bucket string) (*client, error) {
	host, container, named := strings.Cut(bucket, "/")
	if !named {
		host, container = "", bucket
	}
	if named && container == "" {
		return nil, object.Failure{Text: "there is no container in the location", Advice: "write az://ACCOUNT.blob.core.windows.net/CONTAINER/NAME"}
	}
	a, err := findAccount(o, host)
	if err != nil {
		return nil, err
	}
	return &client{container: container, account: a, http: rest.NewClient(rest.NewTransport())}, nil
}
