// Package gs reads and writes artifacts at gs:// locations, in Google Cloud Storage. Importing it registers a [Store] with
// package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/gs"
//
// It sends requests of the JSON API itself, with the credentials that golang.org/x/oauth2/google finds. docs/stores.md says
// why, and which requests these are.
package gs

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// Client sends the requests, with credentials of its own. By default the credentials are found where Google's tools
	// find them: the file of GOOGLE_APPLICATION_CREDENTIALS, that of gcloud auth application-default login, and the
	// metadata of Google's machines. With CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true in the environment requests are anonymous,
	// and so they are to the emulator that STORAGE_EMULATOR_HOST names.
	Client *http.Client
	// Endpoint is the server, by default that of STORAGE_EMULATOR_HOST, or Google's.
	Endpoint string
	// Attempts is the largest number of times that a request is sent, by default 4, and more within 5 minutes if the
	// server is overloaded (status 429 or 503). Broken connections, other statuses of servers that fail, and half a minute without a byte are retried, too.
	Attempts int
	// Backoff is the delay before the second attempt, by default 100 ms, and a second if the server is overloaded. It doubles
	// with each further attempt, up to 5 s. The actual delay is random, between half of it and all of it, and never shorter
	// than the server asks for.
	Backoff time.Duration
	// PartBytes is the size of the requests that send a large object, by default 16 MiB, rounded up to 256 KiB. Smaller objects
	// are one request. A writer holds two parts in memory, and writes no file.
	PartBytes int
}

// Store holds the objects at gs://BUCKET/KEY, where special characters of the key are percent-encoded. Its versions are
// generations. A [storage.Reader] only returns bytes of the version of its first answer. A [storage.Writer] publishes with
// ifGenerationMatch: of several writers one succeeds.
type Store struct {
	storage.Store
	storage.Copier
	storage.VersionRemover
}

// chunk is what the requests of an upload are a multiple of.
const chunk = 256 << 10

// New returns a store. It looks for credentials when it is first used.
func New(o Options) *Store {
	s := object.New(object.Options{
		Scheme: "gs", PartBytes: (o.PartBytes + chunk - 1) / chunk * chunk, Parallel: 1, // an upload is one stream
		Retry: object.Retry{Attempts: o.Attempts, Backoff: o.Backoff},
		Dial:  func(ctx context.Context, bucket string) (object.Client, error) { return dial(ctx, o, bucket) },
	})
	return &Store{s, s, s}
}

func init() { storage.Register("gs", New(Options{})) }

// client is the [object.Client] of a bucket.
type client struct {
	bucket   string
	endpoint string
	http     *http.Client
	project  string // that pays for requests, or ""
}

// scope is the right that credentials are asked for.
const scope = "https://www.googleapis.com/auth/devstorage.read_write"

// dial returns the client of a bucket. It sends requests only to those who give credentials.
func dial(ctx context.Context, o Options, bucket string) (*client, error) {
	c := &client{bucket: bucket, endpoint: o.Endpoint, http: o.Client, project: os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT")}
	emulator := os.Getenv("STORAGE_EMULATOR_HOST")
	if c.endpoint == "" && emulator != "" {
		if c.endpoint = emulator; !strings.Contains(emulator, "://") {
			c.endpoint = "http://" + emulator
		}
	}
	anonymous, _ := strconv.ParseBool(os.Getenv("CLOUDSDK_AUTH_DISABLE_CREDENTIALS"))
	switch {
	case c.http != nil:
	case anonymous, emulator != "":
		c.http = object.NewClient(object.NewTransport())
	default:
		var err error
		if c.http, err = signedIn(ctx); err != nil {
			return nil, err
		}
	}
	c.endpoint = cmp.Or(c.endpoint, "https://storage.googleapis.com")
	c.endpoint = strings.TrimSuffix(c.endpoint, "/")
	return c, nil
}

// signedIn returns a client that adds tokens to requests, and fetches new ones in time.
func signedIn(ctx context.Context) (*http.Client, error) {
	// Tokens are fetched during later calls, too.
	requests := object.NewClient(object.NewTransport())
	requests.Timeout = 30 * time.Second
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, requests)
	found, err := google.FindDefaultCredentials(ctx, scope)
	if err != nil {
		return nil, object.Failure{
			Text:   "no Google credentials",
			Advice: "sign in with gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS; CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true reads public buckets",
			Err:    err,
		}
	}
	return object.NewClient(&oauth2.Transport{Source: tokens{found.TokenSource}, Base: object.NewTransport()}), nil
}

// tokens makes errors of a source errors for people.
type tokens struct{ oauth2.TokenSource }

func (t tokens) Token() (*oauth2.Token, error) {
	token, err := t.TokenSource.Token()
	var answer *oauth2.RetrieveError
	switch {
	case err == nil:
		return token, nil
	case errors.As(err, &answer) && answer.Response != nil && !object.TransientStatus(answer.Response.StatusCode):
		return nil, object.Failure{
			Text: "the Google credentials are refused", Advice: "renew them with gcloud auth application-default login", Err: err,
		}
	}
	return nil, err
}
