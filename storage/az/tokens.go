package az

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amudai/amudai-go/storage/internal/object"
	"github.com/amudai/amudai-go/storage/internal/rest"
)

// resource is what tokens are for.
const resource = "https://storage.azure.com"

// errNotThere means that a source of tokens is not set up, and that the next one is to be asked.
var errNotThere = errors.New("not set up")

// source is where tokens come from.
type source struct {
	name string
	get  func(ctx context.Context) (token string, until time.Time, err error)
}

// tokens are those of the first source that gives one, for as long as they are valid.
type tokens struct {
	sources []source

	mu    sync.Mutex
	token string
	until time.Time
}

// newTokens returns the sources of the Azure SDKs, in their order.
func newTokens() *tokens {
	f := fetcher{rest.NewClient(rest.NewTransport())}
	return &tokens{sources: []source{
		{"AZURE_CLIENT_SECRET", f.secret}, {"AZURE_FEDERATED_TOKEN_FILE", f.federated},
		{"the managed identity", f.managed}, {"the Azure CLI", azureCLI},
	}}
}

// spare is how long a token must be valid still.
const spare = 5 * time.Minute

func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Until(t.until) > spare {
		return t.token, nil
	}
	for len(t.sources) > 0 {
		token, until, err := t.sources[0].get(ctx)
		switch {
		case err == nil:
			t.sources = t.sources[:1]
			t.token, t.until = token, until
			return token, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case object.IsTransient(err):
			return "", err
		case !errors.Is(err, errNotThere):
			return "", object.Failure{
				Text: "no token from " + t.sources[0].name + ": " + err.Error(), Advice: "check AZURE_TENANT_ID and AZURE_CLIENT_ID, or sign in with az login",
				Err: errors.Join(err, fs.ErrPermission),
			}
		case len(t.sources) == 1:
			return "", noCredentials()
		}
		t.sources = t.sources[1:]
	}
	return "", noCredentials()
}

func noCredentials() error {
	return object.Failure{
		Text:   "no Azure credentials",
		Advice: "sign in with az login, or set AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN; AZURE_STORAGE_ANON=true reads public containers",
		Err:    fs.ErrPermission,
	}
}

// fetcher fetches tokens.
type fetcher struct{ http *http.Client }

// secret is the token of an application with a password.
func (f fetcher) secret(ctx context.Context) (string, time.Time, error) {
	secret := os.Getenv("AZURE_CLIENT_SECRET")
	if secret == "" {
		return "", time.Time{}, errNotThere
	}
	return f.application(ctx, url.Values{"client_secret": {secret}})
}

// federated is the token of an application that a token of a cluster stands for.
func (f fetcher) federated(ctx context.Context) (string, time.Time, error) {
	file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	if file == "" {
		return "", time.Time{}, errNotThere
	}
	assertion, err := os.ReadFile(file)
	if err != nil {
		return "", time.Time{}, err
	}
	return f.application(ctx, url.Values{
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {strings.TrimSpace(string(assertion))},
	})
}

// application is the token of an application.
func (f fetcher) application(ctx context.Context, form url.Values) (string, time.Time, error) {
	tenant, id := os.Getenv("AZURE_TENANT_ID"), os.Getenv("AZURE_CLIENT_ID")
	if tenant == "" || id == "" {
		return "", time.Time{}, errors.New("AZURE_TENANT_ID or AZURE_CLIENT_ID is not set")
	}
	authority := os.Getenv("AZURE_AUTHORITY_HOST")
	if authority == "" {
		authority = "https://login.microsoftonline.com"
	}
	form.Set("grant_type", "client_credentials")
	form.Set("client_id", id)
	form.Set("scope", resource+"/.default")
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(authority, "/")+"/"+url.PathEscape(tenant)+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", time.Time{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return f.fetch(ctx, r)
}

// machine is where machines of Azure ask for tokens of their identity.
const machine = "http://169.254.169.254/metadata/identity/oauth2/token"

// managed is the token of the identity that a machine, a function or a container of Azure has.
func (f fetcher) managed(ctx context.Context) (string, time.Time, error) {
	q := url.Values{"resource": {resource}, "api-version": {"2018-02-01"}}
	if id := os.Getenv("AZURE_CLIENT_ID"); id != "" {
		q.Set("client_id", id)
	}
	at, header, secret := machine, "Metadata", "true"
	if endpoint := os.Getenv("IDENTITY_ENDPOINT"); endpoint != "" {
		at, header, secret = endpoint, "X-Identity-Header", os.Getenv("IDENTITY_HEADER")
		q.Set("api-version", "2019-08-01")
	} else if !f.reachable(ctx) {
		return "", time.Time{}, errNotThere
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"?"+q.Encode(), nil)
	if err != nil {
		return "", time.Time{}, err
	}
	r.Header.Set(header, secret)
	token, until, err := f.fetch(ctx, r)
	var e *rest.Error
	if at == machine && errors.As(err, &e) && e.Status == 400 { // it has no identity
		err = errNotThere
	}
	return token, until, err
}

// reachable reports whether this is a machine of Azure: elsewhere there is no answer.
func (f fetcher) reachable(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, machine, nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r) // never by a proxy
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode < 500
}

// answer is a token as the services and the Azure CLI write it.
type answer struct {
	Token     string      `json:"access_token"`
	CLIToken  string      `json:"accessToken"`
	ExpiresIn json.Number `json:"expires_in"`
	ExpiresOn json.Number `json:"expires_on"`
	Error     string      `json:"error"`
}

func (f fetcher) fetch(ctx context.Context, r *http.Request) (string, time.Time, error) {
	resp, err := rest.Do(f.http, r)
	var e *rest.Error
	if errors.As(err, &e) {
		var a answer
		_ = json.Unmarshal(e.Body, &a)
		if object.TransientStatus(e.Status) {
			return "", time.Time{}, object.Transient(err)
		}
		return "", time.Time{}, fmt.Errorf("%s: %w", a.Error, e)
	}
	if err != nil {
		return "", time.Time{}, err
	}
	body, err := rest.ReadAll(ctx, resp)
	if err != nil {
		return "", time.Time{}, err
	}
	return parseToken(body)
}

func parseToken(body []byte) (string, time.Time, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return "", time.Time{}, errors.New("the answer is no token")
	}
	token := a.Token + a.CLIToken
	if token == "" {
		return "", time.Time{}, errors.New("the answer is no token")
	}
	until := time.Now().Add(spare + time.Minute)
	if seconds, err := strconv.ParseInt(string(a.ExpiresOn), 10, 64); err == nil {
		until = time.Unix(seconds, 0)
	} else if seconds, err := strconv.ParseInt(string(a.ExpiresIn), 10, 32); err == nil {
		until = time.Now().Add(time.Duration(seconds) * time.Second)
	}
	return token, until, nil
}

// azureCLI asks the Azure CLI, in which its user is signed in.
func azureCLI(ctx context.Context) (string, time.Time, error) {
	program, err := exec.LookPath("az")
	if err != nil {
		return "", time.Time{}, errNotThere
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "account", "get-access-token", "--output", "json", "--resource", resource)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", time.Time{}, errNotThere // nobody is signed in
	}
	return parseToken(out)
}
