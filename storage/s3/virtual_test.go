package s3

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/fakes3"
)

type asked func(*http.Request)

func (a asked) Do(r *http.Request) (*http.Response, error) {
	a(r)
	return nil, errors.New("no answer")
}

// The variable is that of object_store. A test with a server would need a name server.
func TestVirtualHosts(t *testing.T) {
	fakes3.Environment(t, "http://store.example")
	for variable, host := range map[string]string{"": "store.example", "true": "bucket.store.example", "false": "store.example"} {
		t.Setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", variable)
		c, err := dial(t.Context(), Options{}, "bucket")
		require.NoError(t, err)
		var got string
		_, err = c.requests.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &c.bucket, Key: &c.bucket}, func(o *s3.Options) {
			o.HTTPClient = asked(func(r *http.Request) { got = r.URL.Host })
		})
		require.Error(t, err)
		require.Equal(t, host, got)
	}
}
