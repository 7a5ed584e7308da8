// Package az reads and writes artifacts at az:// locations, in Azure Blob Storage. Importing it registers a [Store] with
// package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/az"
//
// Requests and credentials are those of the Azure SDK. docs/stores.md says which requests are sent, SECURITY.md which host sees
// which credentials.
package az

import (
	"context"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// Credential gives tokens, such as a credential of package azidentity of the Azure SDK. By default credentials are found
	// where Azure's tools find them: in AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, else as
	// azidentity.DefaultAzureCredential does. With AZURE_STORAGE_ANON=true requests are anonymous.
	Credential azcore.TokenCredential
	// Account is the storage account of locations that name none. By default it is that of AZURE_STORAGE_CONNECTION_STRING, or
	// AZURE_STORAGE_ACCOUNT.
	Account string
	// Endpoint is the URL of the account's blob service, by default that of AZURE_STORAGE_CONNECTION_STRING, or
	// AZURE_STORAGE_ENDPOINT, or https://ACCOUNT.blob.core.windows.net. Credentials are only sent to this host and to those of
	// Azure: requests to another one that a location names are anonymous.
	Endpoint string
	// Attempts is the largest number of times that a request is sent, by default 4, and more within 5 minutes if the
	// server is overloaded (status 429 or 503). Broken connections, other statuses of servers that fail, and half a minute without a byte are retried, too.
	Attempts int
	// Backoff is the delay before the second attempt, by default 100 ms, and a second if the server is overloaded. It doubles
	// with each further attempt, up to 5 s. The actual delay is random, between half of it and all of it, and never shorter
	// than the server asks for.
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
type Store struct {
	storage.Store
	storage.Copier
	storage.VersionRemover
}

// New returns a store. It looks for credentials when it is first used.
func New(o Options) *Store {
	s := object.New(object.Options{
		Scheme: "az", Bucket: split, PartBytes: o.PartBytes, Parallel: o.Parallel,
		Retry: object.Retry{Attempts: o.Attempts, Backoff: o.Backoff},
		Dial:  func(_ context.Context, bucket string) (object.Client, error) { return dial(o, bucket) },
	})
	return &Store{s, s, s}
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

// dial returns the client of a container. It sends no request.
func dial(o Options, bucket string) (*client, error) {
	host, name, named := strings.Cut(bucket, "/")
	if !named {
		host, name = "", bucket
	}
	if named && name == "" {
		return nil, object.Failure{Text: "there is no container in the location", Advice: "write az://ACCOUNT.blob.core.windows.net/CONTAINER/NAME"}
	}
	a, err := findAccount(o, host)
	if err != nil {
		return nil, err
	}
	requests, err := a.container(name)
	if err != nil {
		return nil, err
	}
	return &client{name: name, account: a, requests: requests}, nil
}
