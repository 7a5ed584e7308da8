package az

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage/internal/object"
	"github.com/amudai/amudai-go/storage/internal/rest"
)

// clearEnvironment keeps credentials of the machine away from a test.
func clearEnvironment(t *testing.T) {
	for _, name := range []string{
		"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_ANON",
		"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST",
		"IDENTITY_ENDPOINT", "IDENTITY_HEADER",
	} {
		t.Setenv(name, "")
	}
}

func TestParseConnection(t *testing.T) {
	for text, want := range map[string]account{
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;EndpointSuffix=core.windows.net": {
			name: "a", endpoint: "https://a.blob.core.windows.net", key: []byte("key"),
		},
		"AccountName=a;AccountKey=a2V5;BlobEndpoint=http://localhost:1/a/;":    {name: "a", endpoint: "http://localhost:1/a", key: []byte("key")},
		"BlobEndpoint=https://a.example.org;SharedAccessSignature=?sv=1&sig=2": {endpoint: "https://a.example.org", sas: "sv=1&sig=2"},
	} {
		got, err := parseConnection(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"nonsense", "AccountKey=a2V5", "AccountName=a;AccountKey=!", ""} {
		_, err := parseConnection(text)
		require.Error(t, err, text)
	}
	a, err := parseConnection("UseDevelopmentStorage=true")
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:10000/devstoreaccount1", a.endpoint)
}

func TestFindAccount(t *testing.T) {
	clearEnvironment(t)
	_, err := findAccount(Options{}, "")
	var f object.Failure
	require.ErrorAs(t, err, &f)
	require.Contains(t, f.Hint(), "AZURE_STORAGE_ACCOUNT")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "own")
	t.Setenv("AZURE_STORAGE_KEY", "a2V5")
	a, err := findAccount(Options{}, "")
	require.NoError(t, err)
	require.Equal(t, account{name: "own", endpoint: "https://own.blob.core.windows.net", key: []byte("key")}, a)
	a, err = findAccount(Options{}, "other.blob.core.windows.net")
	require.NoError(t, err)
	require.Nil(t, a.key, "the key is that of another account")
	require.Equal(t, "https://other.blob.core.windows.net", a.endpoint)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=third;SharedAccessSignature=sig=1")
	a, err = findAccount(Options{}, "")
	require.NoError(t, err)
	require.Equal(t, account{name: "third", endpoint: "https://third.blob.core.windows.net", sas: "sig=1"}, a)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "nonsense")
	_, err = findAccount(Options{}, "")
	require.ErrorAs(t, err, &f)
}

// The text that is signed is that of the example in the documentation of the service, but for its version.
func TestSigned(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://myaccount.blob.core.windows.net/mycontainer?restype=container&comp=metadata&timeout=20", nil)
	require.NoError(t, err)
	r.Header.Set("X-Ms-Date", "Fri, 26 Jun 2015 23:39:12 GMT")
	r.Header.Set("X-Ms-Version", "2015-02-21")
	a := account{name: "myaccount"}
	require.Equal(t, "GET"+strings.Repeat("\n", 12)+"x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n"+
		"/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20", a.signed(r))
}

func TestTokens(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("PATH", t.TempDir()) // no Azure CLI
	status, requests := 200, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.WriteHeader(status)
		switch {
		case status != 200:
			_, _ = w.Write([]byte(`{"error": "invalid_client"}`))
		case r.Header.Get("X-Identity-Header") == "secret" && r.URL.Query().Get("resource") == resource:
			_, _ = w.Write([]byte(`{"access_token": "of the machine", "expires_on": "4070908800"}`))
		case r.URL.Path == "/tenant/oauth2/v2.0/token" && r.PostFormValue("client_secret") == "password":
			_, _ = w.Write([]byte(`{"access_token": "of the secret", "expires_in": 3600}`))
		case r.URL.Path == "/tenant/oauth2/v2.0/token" && r.PostFormValue("client_assertion") == "assertion":
			_, _ = w.Write([]byte(`{"access_token": "of the file", "expires_in": 1}`))
		}
	}))
	defer server.Close()
	get := func(want string) {
		t.Helper()
		token, err := newTokens().get(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, token)
	}
	t.Setenv("IDENTITY_ENDPOINT", server.URL)
	t.Setenv("IDENTITY_HEADER", "secret")
	get("of the machine")
	for name, value := range map[string]string{"AZURE_AUTHORITY_HOST": server.URL, "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "id"} {
		t.Setenv(name, value)
	}
	file := t.TempDir() + "/token"
	require.NoError(t, os.WriteFile(file, []byte("assertion\n"), 0o600))
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", file)
	get("of the file")
	t.Setenv("AZURE_CLIENT_SECRET", "password")
	get("of the secret")

	tokens := newTokens()
	requests = 0
	for range 3 {
		_, err := tokens.get(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, 1, requests, "the token is kept")

	status = 401
	_, err := newTokens().get(t.Context())
	require.EqualError(t, err, "no token from AZURE_CLIENT_SECRET: invalid_client: the server answers with status 401")
	status = 503
	_, err = newTokens().get(t.Context())
	require.True(t, object.IsTransient(err))
}

func TestNoTokens(t *testing.T) {
	none := func(context.Context) (string, time.Time, error) { return "", time.Time{}, errNotThere }
	for range 2 {
		_, err := (&tokens{sources: []source{{"a", none}, {"b", none}}}).get(t.Context())
		require.EqualError(t, err, "no Azure credentials")
	}
	_, err := (&tokens{sources: []source{{"a", func(context.Context) (string, time.Time, error) {
		return "", time.Time{}, errors.New("broken")
	}}}}).get(t.Context())
	require.EqualError(t, err, "no token from a: broken")
}

func TestParseToken(t *testing.T) {
	token, until, err := parseToken([]byte(`{"accessToken": "of the CLI", "expires_on": 4070908800, "expiresOn": "2099-01-01 00:00:00"}`))
	require.NoError(t, err)
	require.Equal(t, "of the CLI", token)
	require.Equal(t, 2099, until.UTC().Year())
	for _, text := range []string{"", "{}", "[]", `{"access_token": 5}`} {
		_, _, err := parseToken([]byte(text))
		require.Error(t, err)
	}
}

func TestListOfOtherNames(t *testing.T) {
	clearEnvironment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.NotEmpty(t, r.URL.Query().Get("sig"))
		_, _ = w.Write([]byte(`<EnumerationResults><Blobs>
			<Blob><Name>folder</Name><Properties><Content-Length>0</Content-Length><Etag>0x1</Etag><ResourceType>directory</ResourceType></Properties></Blob>
			<Blob><Name Encoded="true">a%EF%BF%BE</Name><Properties><Content-Length>5</Content-Length><Etag>0x2</Etag></Properties></Blob>
			</Blobs><NextMarker/></EnumerationResults>`))
	}))
	defer server.Close()
	c := client{container: "c", account: account{endpoint: server.URL, sas: "sig=1"}, http: rest.NewClient(rest.NewTransport())}
	all, next, err := c.List(t.Context(), "", "")
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []object.Entry{{Key: "a\ufffe", Size: 5, Version: `"0x2"`}}, all)
}
