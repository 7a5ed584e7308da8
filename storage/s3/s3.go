// Package s3 reads and writes artifacts at s3:// locations, in Amazon S3 and in everything
// that speaks its protocol. Importing it registers a [Store] with package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/s3"
//
// Programs that do not import it do not link the AWS SDK. docs/stores.md says why this
// client was chosen, and which requests are sent.
package s3

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// Config is the configuration of the AWS SDK. By default the SDK finds it where the AWS tools do: the environment
	// (AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 …), the files in ~/.aws with
	// their profiles, roles and single sign-on, web identity, metadata of containers and instances. With
	// AWS_NO_SIGN_REQUEST=1 in the environment requests are anonymous.
	// AWS_REQUEST_PAYER=requester pays for them. AWS_SERVER_SIDE_ENCRYPTION and AWS_SSE_KMS_KEY_ID are the encryption of new objects;
	// AWS_SSE_CUSTOMER_KEY_BASE64 is that of all, by the customer's own key, which needs TLS.
	// Uploads have a CRC64NVME if the server is Amazon's; AWS_REQUEST_CHECKSUM_CALCULATION and the profile may say when_supported for other servers,
	// or when_required.
	Config *aws.Config
	// VirtualHosted puts the bucket into the host name of an endpoint that is configured, as AWS_VIRTUAL_HOSTED_STYLE_REQUEST=true does without a
	// Config. By default it is in the path there, and in the host name only for Amazon.
	VirtualHosted bool
	// Attempts is the largest number of times that a request is sent, and Backoff the delay before the second attempt, which
	// doubles with each further one, up to 5 s. Without both, they are those of the AWS configuration: AWS_MAX_ATTEMPTS and
	// AWS_RETRY_MODE, or the profile, else 3 attempts with up to 2 and 4 s between them, and more of them within 5 minutes if the server is overloaded
	// (status 429 or 503). Broken connections, other statuses of servers that fail, and half a minute without a byte are retried, too, never sooner than
	// the server asks for by Retry-After.
	Attempts int
	Backoff  time.Duration
	// PartBytes is the size of the parts of an object that is written, by default 16 MiB; S3 requires 5 MiB. Smaller objects
	// are one request. From 5000 parts on it doubles with every thousand.
	PartBytes int
	// Parallel is the number of parts that are sent at a time, by default 4. A writer holds at most one part more in memory,
	// and writes no file.
	Parallel int
}

// Store holds the objects at s3://BUCKET/KEY, where special characters of the key are
// percent-encoded. Its versions are entity tags. A [storage.Reader] only returns bytes of
// the version of its first answer. A [storage.Writer] publishes with If-None-Match or
// If-Match: of several writers one succeeds.
type Store struct {
	storage.Store
	storage.Copier
	storage.VersionRemover
}

// New returns a store. It looks for credentials when it is first used.
func New(o Options) *Store {
	s := object.New(object.Options{
		Scheme: "s3", PartBytes: o.PartBytes, Parallel: o.Parallel,
		Retry: object.Retry{Attempts: o.Attempts, Backoff: o.Backoff},
		Dial:  func(ctx context.Context, bucket string) (object.Client, error) { return dial(ctx, o, bucket) },
	})
	return &Store{s, s, s}
}

func init() { storage.Register("s3", New(Options{})) }

// dial returns the client of a bucket. It sends requests only to those who give credentials.
func dial(ctx context.Context, o Options, bucket string) (*client, error) {
	var cfg aws.Config
	if o.Config != nil {
		cfg = o.Config.Copy()
	} else {
		var err error
		if cfg, err = config.LoadDefaultConfig(ctx); err != nil {
			return nil, object.Failure{
				Text:   "the AWS configuration cannot be read: " + err.Error(),
				Advice: "check AWS_PROFILE and the files in ~/.aws", Err: err,
			}
		}
	}
	set := func(name string) bool {
		is, _ := strconv.ParseBool(os.Getenv(name))
		return is && o.Config == nil
	}
	if set("AWS_NO_SIGN_REQUEST") {
		cfg.Credentials = aws.AnonymousCredentials{}
	} else if err := checkCredentials(ctx, cfg); err != nil {
		return nil, err
	}
	c := &client{bucket: bucket}
	var err error
	c.requests = s3.NewFromConfig(cfg, func(so *s3.Options) {
		if o.Attempts <= 0 && o.Backoff <= 0 {
			c.schedule, c.final = schedule{so.Retryer}, cfg.RetryMaxAttempts > 0
		}
		if o.Config == nil {
			if payer := os.Getenv("AWS_REQUEST_PAYER"); payer != "" {
				so.APIOptions = append(so.APIOptions, smithyhttp.AddHeaderValue("X-Amz-Request-Payer", payer))
			}
			c.encryption, err = environment(so.BaseEndpoint)
			so.Logger = logging.Nop{} // it warns on stderr of what is no fault, such as answers that are left because another request has failed
		}
		so.Retryer = aws.NopRetryer{} // package object retries
		if b, ok := so.HTTPClient.(*awshttp.BuildableClient); ok {
			so.HTTPClient = object.NewClient(b.GetTransport())
		}
		so.UsePathStyle = so.BaseEndpoint != nil && !o.VirtualHosted && !set("AWS_VIRTUAL_HOSTED_STYLE_REQUEST")
		c.checksum = checksum(cfg, so.BaseEndpoint == nil)
		so.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired // others than that one
		// There are none of ranges, and nothing else is read.
		so.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	if err != nil {
		return nil, err
	}
	region := cmp.Or(cfg.Region, "us-east-1") // Amazon's answer names the right one; other servers mostly do not care
	c.region.Store(&region)
	return c, nil
}

// checksum is that of what is sent, if any: of the same kind as Amazon keeps of each object. Other servers may not know it, so that they get it
// only if the configuration says so. Signatures cover what is sent without it.
func checksum(cfg aws.Config, amazon bool) types.ChecksumAlgorithm {
	asked := len(cfg.ConfigSources) == 0 && cfg.RequestChecksumCalculation != 0 || slices.ContainsFunc(cfg.ConfigSources, asksForChecksums)
	if cfg.RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired || !amazon && !asked {
		return ""
	}
	return types.ChecksumAlgorithmCrc64nvme
}

// asksForChecksums reports whether a part of the configuration has the setting, which is when_supported if none has.
func asksForChecksums(source any) bool {
	switch c := source.(type) {
	case config.LoadOptions:
		return c.RequestChecksumCalculation != 0
	case config.EnvConfig:
		return c.RequestChecksumCalculation != 0
	case config.SharedConfig:
		return c.RequestChecksumCalculation != 0
	}
	return false
}

func checkCredentials(ctx context.Context, cfg aws.Config) error {
	if cfg.Credentials == nil || aws.IsCredentialsProvider(cfg.Credentials, aws.AnonymousCredentials{}) {
		return nil
	}
	_, err := cfg.Credentials.Retrieve(ctx)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return object.Failure{
		Text:   "no AWS credentials",
		Advice: "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with aws sso login; AWS_NO_SIGN_REQUEST=1 reads public buckets",
		Err:    err,
	}
}

// client is the [object.Client] of a bucket.
type client struct {
	bucket   string
	requests *s3.Client
	region   atomic.Pointer[string] // learnt from Amazon's answers
	schedule object.Schedule        // nil: that of the options
	final    bool                   // the user has set its attempts

	encryption
	checksum types.ChecksumAlgorithm // of what is sent, or none
}

func (c *client) Schedule() (s object.Schedule, final bool) { return c.schedule, c.final }

// inRegion sets the region of a request.
func (c *client) inRegion(o *s3.Options) { o.Region = *c.region.Load() }

// tokenName is the name of the metadata that hold the token of a writer.
const tokenName = "amudai-write"

func (c *client) Get(ctx context.Context, key string, off, n int64, v storage.Version) (object.Content, error) {
	in := &s3.GetObjectInput{Bucket: &c.bucket, Key: &key, Range: aws.String(object.Range(off, n))}
	if v != "" {
		in.IfMatch = aws.String(string(v))
	}
	out, err := c.requests.GetObject(ctx, in, c.inRegion, c.keyed)
	if err != nil {
		return object.Content{}, c.failure(err)
	}
	content := object.Content{Body: out.Body}
	var size int64
	if content.Offset, size, err = object.RangeOf(aws.ToString(out.ContentRange), aws.ToInt64(out.ContentLength)); err == nil {
		content.Properties, err = properties(size, out.ETag)
	}
	if err != nil {
		return object.Content{}, errors.Join(err, out.Body.Close())
	}
	return content, nil
}

func properties(size int64, tag *string) (object.Properties, error) {
	if aws.ToString(tag) == "" || size < 0 {
		return object.Properties{}, errors.New("the server sends no entity tag or no size")
	}
	return object.Properties{Size: size, Version: storage.Version(*tag)}, nil
}

func (c *client) Head(ctx context.Context, key string) (object.Properties, error) {
	out, err := c.requests.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.bucket, Key: &key}, c.inRegion, c.keyed)
	if err != nil {
		return object.Properties{}, c.failure(err)
	}
	p, err := properties(aws.ToInt64(out.ContentLength), out.ETag)
	p.Token = out.Metadata[tokenName]
	return p, err
}

// Delete implements [object.Client]. S3 does not say whether there was an object.
func (c *client) Delete(ctx context.Context, key string, v storage.Version) error {
	if _, err := c.Head(ctx, key); err != nil {
		return err
	}
	in := &s3.DeleteObjectInput{Bucket: &c.bucket, Key: &key}
	_, in.IfMatch = headers(object.Condition{IfMatch: v})
	_, err := c.requests.DeleteObject(ctx, in, c.inRegion)
	if v != "" && status(err) == 501 {
		in.IfMatch = nil
		_, err = c.requests.DeleteObject(ctx, in, c.inRegion)
	}
	return c.failure(err)
}

func (c *client) List(ctx context.Context, prefix, page string) ([]object.Entry, string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &c.bucket, Prefix: &prefix}
	if page != "" {
		in.ContinuationToken = &page
	}
	out, err := c.requests.ListObjectsV2(ctx, in, c.inRegion)
	if err != nil {
		return nil, "", c.failure(err)
	}
	all := make([]object.Entry, len(out.Contents))
	for i, o := range out.Contents {
		all[i] = object.Entry{Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size), Version: storage.Version(aws.ToString(o.ETag)), Modified: aws.ToTime(o.LastModified)}
	}
	return all, aws.ToString(out.NextContinuationToken), nil
}
