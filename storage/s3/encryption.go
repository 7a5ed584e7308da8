package s3

import (
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// encryption is that of objects at the server.
type encryption struct {
	method types.ServerSideEncryption // of new objects; empty: that of the bucket, or customer
	kms    *string                    // the name of the key of the method, or nil
	// customer is the customer's own key (SSE-C) in base64, or empty. The server does not keep it: each request for the bytes of an object has it.
	customer, sum string
}

// customerMethod is object_store's name of encryption by the customer's key. Amazon has none for it.
const customerMethod = "sse-c"

// environment is the encryption that the variables ask for, of requests to an endpoint that is configured, or to Amazon (nil).
func environment(endpoint *string) (e encryption, err error) {
	e.method = types.ServerSideEncryption(os.Getenv("AWS_SERVER_SIDE_ENCRYPTION"))
	if key := os.Getenv("AWS_SSE_KMS_KEY_ID"); key != "" {
		e.method, e.kms = cmp.Or(e.method, types.ServerSideEncryptionAwsKms), &key
	}
	e.customer = os.Getenv("AWS_SSE_CUSTOMER_KEY_BASE64")
	if e.customer == "" && e.method != customerMethod {
		return e, nil
	}
	key, err := base64.StdEncoding.DecodeString(e.customer) // its error has bytes of the key
	switch {
	case cmp.Or(e.method, customerMethod) != customerMethod || e.kms != nil:
		return e, object.Failure{Text: "AWS_SSE_CUSTOMER_KEY_BASE64 is set beside another encryption", Advice: "set AWS_SERVER_SIDE_ENCRYPTION to sse-c, and no AWS_SSE_KMS_KEY_ID"}
	case err != nil || len(key) != 32:
		return e, object.Failure{Text: "AWS_SSE_CUSTOMER_KEY_BASE64 is no key of 256 bits", Advice: "it is the base64 of 32 bytes"}
	case endpoint != nil && !strings.HasPrefix(strings.ToLower(*endpoint), "https://"):
		return e, object.Failure{Text: "the key of AWS_SSE_CUSTOMER_KEY_BASE64 is not sent without TLS", Advice: "set AWS_ENDPOINT_URL to an https:// server"}
	}
	sum := md5.Sum(key)
	e.method, e.sum = "", base64.StdEncoding.EncodeToString(sum[:])
	return e, nil
}

// keyed adds the customer's key to a request.
func (c *client) keyed(o *s3.Options) { c.addKey(o, "X-Amz-") }

// keyedCopy adds it for the object that is copied, too.
func (c *client) keyedCopy(o *s3.Options) { c.addKey(o, "X-Amz-", "X-Amz-Copy-Source-") }

func (c *client) addKey(o *s3.Options, prefixes ...string) {
	if c.customer == "" {
		return
	}
	for _, prefix := range prefixes {
		prefix += "Server-Side-Encryption-Customer-"
		o.APIOptions = append(o.APIOptions, smithyhttp.AddHeaderValue(prefix+"Algorithm", "AES256"),
			smithyhttp.AddHeaderValue(prefix+"Key", c.customer), smithyhttp.AddHeaderValue(prefix+"Key-Md5", c.sum))
	}
}
