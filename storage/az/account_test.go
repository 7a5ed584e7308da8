package az

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// clearEnvironment keeps credentials of the machine away from a test.
func clearEnvironment(t *testing.T) {
	for _, name := range []string{
		"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_ANON", "AZURE_STORAGE_ENDPOINT",
		"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST",
		"AZURE_TOKEN_CREDENTIALS", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT", "IMDS_ENDPOINT",
	} {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
}

func TestConnect(t *testing.T) {
	for text, want := range map[string]account{
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;EndpointSuffix=core.windows.net": {
			name: "a", endpoint: "https://a.blob.core.windows.net", key: "a2V5",
		},
		"AccountName=a;AccountKey=a2V5;BlobEndpoint=http://localhost:1/a/;":    {name: "a", endpoint: "http://localhost:1/a", key: "a2V5"},
		"BlobEndpoint=https://a.example.org;SharedAccessSignature=?sv=1&sig=2": {endpoint: "https://a.example.org", sas: "sv=1&sig=2"},
	} {
		var got account
		require.NoError(t, got.connect(text))
		require.Equal(t, want, got)
	}
	for _, text := range []string{"nonsense", "AccountKey=a2V5", ""} {
		require.Error(t, new(account).connect(text), text)
	}
	var a account
	require.NoError(t, a.connect("UseDevelopmentStorage=true"))
	require.Equal(t, "http://127.0.0.1:10000/devstoreaccount1", a.endpoint)
	_, err := account{name: "a", endpoint: "https://a.example.org", key: "!"}.container("c")
	require.EqualError(t, err, "the key of the storage account is not base64")
}

// found is the account that a host gets, with the word tokens for those of the chain.
func found(t *testing.T, o Options, host string) (account, bool) {
	t.Helper()
	a, err := findAccount(o, host)
	require.NoError(t, err)
	tokens := a.tokens != nil
	a.tokens = nil
	return a, tokens
}

func TestFindAccount(t *testing.T) {
	clearEnvironment(t)
	_, err := findAccount(Options{}, "")
	var f object.Failure
	require.ErrorAs(t, err, &f)
	require.Contains(t, f.Hint(), "AZURE_STORAGE_ACCOUNT")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "own")
	t.Setenv("AZURE_STORAGE_KEY", "a2V5")
	own := account{name: "own", endpoint: "https://own.blob.core.windows.net", key: "a2V5"}
	a, tokens := found(t, Options{}, "")
	require.Equal(t, own, a)
	require.False(t, tokens)
	a, _ = found(t, Options{}, "own.blob.core.windows.net")
	require.Equal(t, own, a)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=third;SharedAccessSignature=sig=1")
	a, _ = found(t, Options{}, "")
	require.Equal(t, account{name: "third", endpoint: "https://third.blob.core.windows.net", sas: "sig=1"}, a)
	t.Setenv("AZURE_STORAGE_ANON", "true")
	a, tokens = found(t, Options{}, "")
	require.Equal(t, account{name: "third", endpoint: "https://third.blob.core.windows.net"}, a)
	require.False(t, tokens)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "nonsense")
	_, err = findAccount(Options{}, "")
	require.ErrorAs(t, err, &f)
}

// Which host gets which credentials: the lines of SECURITY.md.
func TestCredentialsOfHosts(t *testing.T) {
	type got struct{ key, sas, tokens bool }
	for _, test := range []struct {
		name string
		env  map[string]string
		o    Options
		host string
		want got
	}{
		{"a foreign host", nil, Options{}, "example.org", got{}},
		{"a foreign host with a port", nil, Options{}, "example.org:444", got{}},
		{"a foreign host by a name like Azure's", nil, Options{}, "own.blob.core.windows.net.example.org", got{}},
		{"a foreign host by a name that ends like Azure's", nil, Options{}, "own-blob.core.windows.net", got{}},
		{"a port of Azure's host", nil, Options{}, "own.blob.core.windows.net:444", got{}},
		{"a foreign host by a credential of the program", nil, Options{Credential: constant("x")}, "example.org", got{}},
		{"another account", nil, Options{}, "other.blob.core.windows.net", got{tokens: true}},
		{"another cloud", nil, Options{}, "other.blob.core.chinacloudapi.cn", got{tokens: true}},
		{"a zone", nil, Options{}, "own.z01.blob.storage.azure.net", got{key: true}},
		{"the account", nil, Options{}, "own.blob.core.windows.net", got{key: true}},
		{"the account, in capitals", nil, Options{}, "OWN.blob.Core.windows.net", got{key: true}},
		{"no key", map[string]string{"AZURE_STORAGE_KEY": ""}, Options{}, "own.blob.core.windows.net", got{sas: true}},
		{"no account", map[string]string{"AZURE_STORAGE_ACCOUNT": ""}, Options{}, "own.blob.core.windows.net", got{tokens: true}},
		{"the endpoint of the environment", map[string]string{"AZURE_STORAGE_ENDPOINT": "https://example.org/own"}, Options{}, "example.org", got{key: true}},
		{"the endpoint of the program", nil, Options{Endpoint: "https://example.org", Credential: constant("x")}, "example.org", got{tokens: true}},
		{
			"the endpoint of the connection string", map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "BlobEndpoint=https://example.org;SharedAccessSignature=sig=1"},
			Options{}, "example.org", got{sas: true},
		},
		{
			"the old host beside another endpoint", map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "BlobEndpoint=https://example.org;SharedAccessSignature=sig=1"},
			Options{}, "own.blob.core.windows.net", got{tokens: true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			clearEnvironment(t)
			t.Setenv("AZURE_STORAGE_ACCOUNT", "own")
			t.Setenv("AZURE_STORAGE_KEY", "a2V5")
			t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sig=1")
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			a, err := findAccount(test.o, test.host)
			require.NoError(t, err)
			require.Equal(t, test.want, got{a.key != "", a.sas != "", a.tokens != nil})
		})
	}
	for _, host := range []string{"example.org@own.blob.core.windows.net", `example.org\.blob.core.windows.net`, "example.org%2F.blob.core.windows.net", "a b.blob.core.windows.net"} {
		_, err := findAccount(Options{}, host)
		require.ErrorContains(t, err, "is not the name of a host", host)
	}
}

// constant is a credential of one token.
type constant string

func (c constant) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// sender answers requests by a function.
type sender func(r *http.Request) (int, string)

func (s sender) Do(r *http.Request) (*http.Response, error) {
	status, text := s(r)
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

// token asks a new chain for a token, whose requests a function answers.
func token(t *testing.T, answer sender) (string, error) {
	got, err := newChain(policy.ClientOptions{Transport: answer}).GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}})
	return got.Token, err
}

// signIn puts an Azure CLI into the path that is signed in.
func signIn(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho '{\"accessToken\": \"of the CLI\", \"expires_on\": 4070908800}'\n"
	require.NoError(t, os.WriteFile(dir+"/az", []byte(script), 0o700))
	t.Setenv("PATH", dir+":/bin:/usr/bin")
}

// A metadata server that is not Azure's, or gives this machine no identity, does not end the chain.
func TestMetadataServerThatRefuses(t *testing.T) {
	clearEnvironment(t)
	signIn(t)
	for _, status := range []int{400, 401, 403, 404, 410, 500} {
		for _, id := range []string{"", "of the environment"} {
			t.Setenv("AZURE_CLIENT_ID", id)
			got, err := token(t, func(*http.Request) (int, string) { return status, `{"error": "no"}` })
			require.NoError(t, err, "status %d", status)
			require.Equal(t, "of the CLI", got)
		}
	}
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
	_, err := token(t, func(*http.Request) (int, string) { return 401, "{}" })
	require.EqualError(t, err, "no Azure credentials", "the user wants no other one")
}

func TestMachine(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("AZURE_CLIENT_ID", "of the machine") // the SDK keeps its token for all clients of the process
	signIn(t)
	got, err := token(t, func(r *http.Request) (int, string) {
		if r.Header.Get("Metadata") == "" {
			return 400, "{}"
		}
		return 200, `{"access_token": "of the machine", "expires_on": "4070908800", "expires_in": "3600", "resource": "x", "token_type": "Bearer"}`
	})
	require.NoError(t, err)
	require.Equal(t, "of the machine", got)
}

func TestNoTokens(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("PATH", t.TempDir()+":/bin") // no Azure CLI
	_, err := token(t, func(*http.Request) (int, string) { return 404, "" })
	require.EqualError(t, err, "no Azure credentials")
	require.ErrorIs(t, err, fs.ErrPermission)
	for name, value := range map[string]string{"AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "id", "AZURE_CLIENT_SECRET": "password"} {
		t.Setenv(name, value)
	}
	status := 401
	answer := func(r *http.Request) (int, string) {
		host := "https://" + r.URL.Host + "/tenant"
		switch {
		case strings.HasSuffix(r.URL.Path, "/token"):
			return status, `{"error": "invalid_client", "error_description": "long"}`
		case strings.Contains(r.URL.Path, "openid-configuration"):
			return 200, `{"authorization_endpoint": "` + host + `/authorize", "token_endpoint": "` + host + `/token", "issuer": "` + host + `/v2.0"}`
		}
		return 200, `{"tenant_discovery_endpoint": "` + host + `/v2.0/.well-known/openid-configuration", "metadata": []}`
	}
	_, err = token(t, answer)
	require.EqualError(t, err, "no token of Azure: the server of tokens answers with status 401: invalid_client")
	status = 503
	_, err = token(t, answer)
	require.True(t, object.IsTransient(err), "%v", err)
}

func TestListOfOtherNames(t *testing.T) {
	c := fake(t, account{endpoint: "https://a.blob.core.windows.net", sas: "sig=1"}, func(r *http.Request) (int, string) {
		require.NotEmpty(t, r.URL.Query().Get("sig"))
		return 200, `<EnumerationResults><Blobs>
			<Blob><Name>folder</Name><Properties><Content-Length>0</Content-Length><Etag>0x1</Etag><ResourceType>directory</ResourceType></Properties></Blob>
			<Blob><Name Encoded="true">a%EF%BF%BE</Name><Properties><Content-Length>5</Content-Length><Etag>0x2</Etag></Properties></Blob>
			</Blobs><NextMarker/></EnumerationResults>`
	})
	all, next, err := c.List(t.Context(), "", "")
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []object.Entry{{Key: "a\ufffe", Size: 5, Version: `"0x2"`}}, all)
}

// fake is a client of a container whose requests a function answers.
func fake(t *testing.T, a account, answer sender) *client {
	requests, err := a.containerBy("c", answer)
	require.NoError(t, err)
	return &client{name: "c", account: a, requests: requests}
}

// No answer of a server takes more memory than is allowed, or ends in a panic.
func TestHostileAnswers(t *testing.T) {
	for _, text := range []string{"", "<", "<EnumerationResults/>", "<EnumerationResults><Blobs><Blob/></Blobs></EnumerationResults>", "<EnumerationResults><Blobs><Blob><Name>a</Name></Blob></Blobs></EnumerationResults>", "{}"} {
		for _, status := range []int{200, 206, 304, 401, 404, 503} {
			c := fake(t, account{endpoint: "https://a.blob.core.windows.net"}, func(*http.Request) (int, string) { return status, text })
			_, _, err := c.List(t.Context(), "", "")
			if err == nil {
				require.Contains(t, text, "EnumerationResults")
			}
			_, err = c.Get(t.Context(), "a", 0, 5, "")
			require.Error(t, err)
			_, err = c.Head(t.Context(), "a")
			require.Error(t, err)
			_ = c.Put(t.Context(), "a", nil, "token", object.Condition{})
		}
	}
	b := bounded{&http.Client{Transport: endless{}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org", nil)
	require.NoError(t, err)
	resp, err := b.Do(r)
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, resp.Body)
	require.Error(t, err)
	require.EqualValues(t, maxAnswer, n)
}

// endless answers without an end.
type endless struct{}

func (endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 403, Header: http.Header{}, Request: r, Body: io.NopCloser(&repeat{})}, nil
}

type repeat struct{}

func (*repeat) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}
