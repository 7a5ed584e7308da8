package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"

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
		return connection(err)
	case c.elsewhere(r):
		return object.Transient(short(err))
	}
	if f, ok := c.known(code(err)); ok {
		f.Err = errors.Join(f.Err, err)
		return f
	}
	switch s := r.HTTPStatusCode(); {
	case code(err) == "NoSuchUpload":
		return short(err)
	case s == 404:
		return fs.ErrNotExist
	case s == 403, s == 401:
		return object.Failure{
			Text:   "access denied",
			Advice: "the credentials do not allow this: check AWS_PROFILE, and the policy of the bucket " + c.bucket,
			Err:    fs.ErrPermission,
		}
	case s == 412:
		return object.ErrCondition
	case s == 416:
		return object.ErrRange
	case s == 200, object.TransientStatus(s), code(err) == "RequestTimeout": // 200: the answer breaks off, or holds an error
		return object.Transient(short(err))
	}
	return short(err)
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

// connection is the error of a request without an answer.
func connection(err error) error {
	var sent *smithyhttp.RequestSendError
	if !errors.As(err, &sent) { // of the SDK, before it sends anything
		return err
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return object.Failure{Text: "there is no host " + dns.Name, Advice: "check AWS_REGION and AWS_ENDPOINT_URL", Err: err}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = fmt.Errorf("%s: %w", u.Op, u.Err) // without the URL
	}
	return object.Transient(err)
}

// short is an error without the numbers of the SDK's text.
func short(err error) error {
	var e smithy.APIError
	if errors.As(err, &e) && e.ErrorMessage() != "" {
		return fmt.Errorf("the server answers %s: %s (status %d)", e.ErrorCode(), e.ErrorMessage(), status(err))
	}
	return fmt.Errorf("the server answers with status %d", status(err))
}
