package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// status returns the status of an answer that is an error, or 0.
func status(err error) int {
	var r *awshttp.ResponseError
	if errors.As(err, &r) {
		return r.HTTPStatusCode()
	}
	return 0
}

// code returns the code that S3 gives an error, such as NoSuchKey, or "".
func code(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

// failure translates an error of the SDK into one of [object.Client].
func (c *client) failure(err error) error {
	var r *awshttp.ResponseError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &r) || r.HTTPStatusCode() == 0:
		if sent := new(smithyhttp.RequestSendError); !errors.As(err, &sent) { // of the SDK, before it sends anything
			return err
		}
		return object.Unanswered(err, "check AWS_REGION and AWS_ENDPOINT_URL")
	case c.elsewhere(r):
		return object.Transient(errElsewhere)
	}
	if f, ok := c.known(code(err)); ok {
		f.Err = errors.Join(f.Err, err)
		return f
	}
	switch s := r.HTTPStatusCode(); {
	case code(err) == "NoSuchUpload":
		return short(err)
	case s == 200, code(err) == "RequestTimeout": // 200: the answer breaks off, or holds an error
		return object.Busy(short(err), s, r.Response.Header)
	default:
		return object.OfStatus(s, r.Response.Header, short(err), "the credentials do not allow this: check AWS_PROFILE, and the policy of the bucket "+c.bucket)
	}
}

// known returns the error for people of a code.
func (c *client) known(code string) (f object.Failure, ok bool) {
	switch code {
	case "NoSuchBucket":
		f = object.Failure{Text: "there is no bucket " + c.bucket, Advice: "check its name, and AWS_ENDPOINT_URL if it is not Amazon's"}
	case "InvalidAccessKeyId", "InvalidToken":
		f = object.Failure{Text: "the server does not know these credentials", Advice: "check AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL", Err: fs.ErrPermission}
	case "SignatureDoesNotMatch":
		f = object.Failure{Text: "the secret key is wrong", Advice: "check AWS_SECRET_ACCESS_KEY or the profile", Err: fs.ErrPermission}
	case "ExpiredToken", "TokenRefreshRequired":
		f = object.Failure{Text: "the credentials have expired", Advice: "renew them, for example with aws sso login", Err: fs.ErrPermission}
	case "RequestTimeTooSkewed":
		f = object.Failure{Text: "the clock of this machine is wrong", Advice: "set it: signatures are valid for minutes"}
	case "AuthorizationHeaderMalformed", "PermanentRedirect":
		f = object.Failure{Text: "the bucket " + c.bucket + " is in another region", Advice: "set AWS_REGION"}
	}
	return f, f.Text != ""
}

// elsewhere reports whether an answer names another region for the bucket, which is used from then on.
func (c *client) elsewhere(r *awshttp.ResponseError) bool {
	region := r.Response.Header.Get("X-Amz-Bucket-Region")
	if s := r.HTTPStatusCode(); region == "" || s != 301 && s != 307 && s != 400 || region == *c.region.Load() {
		return false
	}
	c.region.Store(&region)
	return true
}

// schedule are the attempts and delays of the AWS configuration.
type schedule struct{ aws.Retryer }

func (s schedule) RetryDelay(attempt int, err error) (time.Duration, error) {
	if errors.Is(err, errElsewhere) {
		return 0, nil
	}
	return s.Retryer.RetryDelay(attempt, err)
}

// errElsewhere means that the bucket is in a region that was not known.
var errElsewhere = errors.New("the bucket is in another region")

// answer is an error of the SDK without the numbers of its text.
type answer struct {
	text string
	err  error
}

func (a answer) Error() string { return a.text }
func (a answer) Unwrap() error { return a.err }

// short is an error without the numbers of the SDK's text.
func short(err error) error {
	var e smithy.APIError
	if errors.As(err, &e) && e.ErrorMessage() != "" {
		return answer{fmt.Sprintf("the server answers %s: %s (status %d)", e.ErrorCode(), e.ErrorMessage(), status(err)), err}
	}
	return answer{fmt.Sprintf("the server answers with status %d", status(err)), err}
}
