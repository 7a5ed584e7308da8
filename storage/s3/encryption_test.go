package s3_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/storage/storetest"
)

// A server with TLS that holds objects by a key of the customer's refuses requests for their bytes without it, as Amazon does, and gets it with no
// other request.
func TestCustomerKey(t *testing.T) {
	server := fakes3.New(t)
	to, err := url.Parse(server.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	key := bytes.Repeat([]byte{0xfb}, 32)
	sum := md5.Sum(key)
	secret := base64.StdEncoding.EncodeToString(key)
	has := func(r *http.Request, prefix string) bool {
		prefix += "-Server-Side-Encryption-Customer-"
		return r.Header.Get(prefix+"Algorithm") == "AES256" && r.Header.Get(prefix+"Key") == secret &&
			r.Header.Get(prefix+"Key-Md5") == base64.StdEncoding.EncodeToString(sum[:]) &&
			strings.Contains(r.Header.Get("Authorization"), strings.ToLower(prefix)+"key;")
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, object, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		bytes := object != "" && r.Method != "DELETE"
		if has(r, "X-Amz") != bytes || has(r, "X-Amz-Copy-Source") != (r.Header.Get("X-Amz-Copy-Source") != "") {
			t.Errorf("%s %s has the key: %t", r.Method, r.URL, !bytes)
			fakes3.Fail(w, 400, "InvalidRequest")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	t.Setenv("AWS_CA_BUNDLE", ca)
	t.Setenv("AWS_ENDPOINT_URL", secure.URL)
	t.Setenv("AWS_SSE_CUSTOMER_KEY_BASE64", secret)
	for _, method := range []string{"", "sse-c"} {
		t.Setenv("AWS_SERVER_SIDE_ENCRYPTION", method)
		storetest.TestStore(t, store(), "s3://bucket/"+method)
		require.NoError(t, storetest.Write(t.Context(), store(), "s3://bucket/large", content, storage.CreateOptions{Overwrite: true}))
		storetest.TestReader(t, store(), "s3://bucket/large", content)
	}

	open := func(name, value string) error {
		t.Setenv(name, value)
		r, err := s3.New(s3.Options{}).Open(t.Context(), "s3://bucket/large")
		if err == nil {
			_, _, err = r.ReadSuffix(t.Context(), 5)
		}
		require.NotContains(t, err.Error(), secret)
		return err
	}
	server.Requests()
	require.ErrorContains(t, open("AWS_ENDPOINT_URL", server.URL), "not sent without TLS")
	require.ErrorContains(t, open("AWS_SSE_KMS_KEY_ID", "key"), "beside another encryption")
	require.ErrorContains(t, open("AWS_SERVER_SIDE_ENCRYPTION", "AES256"), "beside another encryption")
	require.ErrorContains(t, open("AWS_SERVER_SIDE_ENCRYPTION", ""), "beside another encryption")
	t.Setenv("AWS_SSE_KMS_KEY_ID", "")
	require.ErrorContains(t, open("AWS_SSE_CUSTOMER_KEY_BASE64", secret[:40]), "no key of 256 bits")
	require.ErrorContains(t, open("AWS_SSE_CUSTOMER_KEY_BASE64", "#"+secret), "no key of 256 bits")
	t.Setenv("AWS_SERVER_SIDE_ENCRYPTION", "sse-c")
	require.ErrorContains(t, open("AWS_SSE_CUSTOMER_KEY_BASE64", ""), "no key of 256 bits")
	require.Empty(t, server.Requests())
}
