package az

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// chain is azidentity's default chain of credentials: the environment, a workload's and a machine's identity, then the tools that
// the user is signed in with. Azidentity ends it at a metadata server that refuses tokens; those of other clouds, of containers
// and of proxies do, so that the tools are asked here even then.
type chain struct {
	all, tools azcore.TokenCredential
	err        error // of making them
}

// newChain returns the chain. It sends no request, and starts no program.
func newChain(o policy.ClientOptions) *chain {
	if o.Transport == nil {
		o.Transport = object.NewClient(object.NewTransport())
	}
	o.Retry.MaxRetries = -1 // package object repeats requests
	all, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: o})
	tools, err2 := azidentity.NewAzureCLICredential(nil)
	return &chain{all, tools, errors.Join(err, err2)}
}

// GetToken implements [azcore.TokenCredential]. Its errors are for people.
func (c *chain) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if c.err != nil {
		return azcore.AccessToken{}, object.Failure{Text: "no Azure credentials: " + c.err.Error(), Advice: "check the environment", Err: fs.ErrPermission}
	}
	token, err := c.all.GetToken(ctx, o)
	if ofMachine(err) && os.Getenv("AZURE_TOKEN_CREDENTIALS") == "" {
		if token, toolErr := c.tools.GetToken(ctx, o); toolErr == nil {
			return token, nil
		}
	}
	return token, tokenError(ctx, err)
}

// ofMachine reports whether an error is that of a metadata server.
func ofMachine(err error) bool {
	var refused *azidentity.AuthenticationFailedError
	if !errors.As(err, &refused) || refused.RawResponse == nil || refused.RawResponse.Request == nil {
		return false
	}
	return refused.RawResponse.Request.URL.Hostname() == "169.254.169.254"
}

// tokenError makes an error of azidentity, which is many lines long, one of [object.Client].
func tokenError(ctx context.Context, err error) error {
	var refused *azidentity.AuthenticationFailedError
	switch {
	case err == nil || ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case !errors.As(err, &refused) || ofMachine(err):
		return object.Failure{
			Text:   "no Azure credentials",
			Advice: "sign in with az login, or set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN; AZURE_STORAGE_ANON=true reads public containers",
			Err:    errors.Join(fs.ErrPermission, err),
		}
	case refused.RawResponse == nil:
		return object.Transient(errors.New("no token of Azure: no answer from the server of tokens"))
	}
	r := refused.RawResponse
	text := fmt.Sprintf("no token of Azure: the server of tokens answers with status %d", r.StatusCode)
	var answer struct{ Error string }
	if body, err := runtime.Payload(r); err == nil && json.Unmarshal(body, &answer) == nil && answer.Error != "" {
		text += ": " + answer.Error
	}
	if object.TransientStatus(r.StatusCode) {
		return object.Busy(errors.New(text), r.StatusCode, r.Header)
	}
	return object.Failure{Text: text, Advice: "check AZURE_TENANT_ID, AZURE_CLIENT_ID and their secret, or sign in with az login", Err: errors.Join(fs.ErrPermission, err)}
}
