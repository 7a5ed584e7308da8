package az

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// account is a storage account: where it is, and its credentials. Of key, sas and tokens one is set, or none.
type account struct {
	name     string
	endpoint string // without a slash at the end
	key      string // base64
	sas      string // query of a shared access signature
	tokens   azcore.TokenCredential
	foreign  bool // the host gets no credentials
}

// hosts are the ends of the names of Azure's hosts of blobs, of all its clouds. Others may name an account below them, but its
// requests come to Microsoft.
var hosts = []string{
	".blob.core.windows.net", ".blob.core.usgovcloudapi.net", ".blob.core.chinacloudapi.cn", ".blob.storage.azure.net", ".blob.fabric.microsoft.com",
}

// findAccount finds the account of a host, or of the environment if that is empty, and its credentials. Those of the program and
// of the environment are for one account and its endpoint; tokens are for all accounts at hosts of Azure.
func findAccount(o Options, host string) (account, error) {
	own, err := configured(o)
	if err != nil {
		return own, err
	}
	if host == "" || own.is(host) {
		if own.endpoint == "" {
			return own, object.Failure{
				Text:   "the location names no storage account",
				Advice: "set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING, or write az://ACCOUNT.blob.core.windows.net/CONTAINER/NAME",
			}
		}
		return own.authorized(o), nil
	}
	u, err := url.Parse("https://" + host)
	if err != nil || u.Host != host || strings.ContainsAny(host, `\@%`) {
		return account{}, fmt.Errorf("%q is not the name of a host", host)
	}
	a := account{endpoint: "https://" + host, foreign: true}
	for _, end := range hosts {
		name, ok := strings.CutSuffix(strings.ToLower(host), end)
		if !ok {
			continue
		}
		if a.name, _, _ = strings.Cut(name, "."); strings.EqualFold(own.name, a.name) { // by another name of its host
			a.key, a.sas = own.key, own.sas
		}
		a.foreign = false
		return a.authorized(o), nil
	}
	return a, nil
}

// is reports whether a host is that of the account, or of its endpoint.
func (a account) is(host string) bool {
	u, err := url.Parse(a.endpoint)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host) || a.name != "" && strings.EqualFold(a.name+hosts[0], host)
}

// configured is the account of the options, or else of the environment.
func configured(o Options) (account, error) {
	a := account{name: o.Account, endpoint: o.Endpoint}
	text := os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	if text != "" && o.Credential == nil && o.Account == "" && o.Endpoint == "" {
		if err := a.connect(text); err != nil {
			return a, object.Failure{Text: "AZURE_STORAGE_CONNECTION_STRING is " + err.Error(), Advice: "copy it anew from az storage account show-connection-string"}
		}
		return a, nil
	}
	if name := os.Getenv("AZURE_STORAGE_ACCOUNT"); a.name == "" || strings.EqualFold(a.name, name) {
		a.name, a.key = name, os.Getenv("AZURE_STORAGE_KEY")
		a.sas = strings.TrimPrefix(os.Getenv("AZURE_STORAGE_SAS_TOKEN"), "?")
	}
	if a.endpoint == "" {
		a.endpoint = os.Getenv("AZURE_STORAGE_ENDPOINT")
	}
	if a.endpoint == "" && a.name != "" {
		a.endpoint = "https://" + a.name + hosts[0]
	}
	a.endpoint = strings.TrimSuffix(a.endpoint, "/")
	return a, nil
}

// authorized is the account with the one kind of credentials that is used.
func (a account) authorized(o Options) account {
	anonymous, _ := strconv.ParseBool(os.Getenv("AZURE_STORAGE_ANON"))
	switch {
	case o.Credential != nil:
		a.key, a.sas, a.tokens = "", "", o.Credential
	case anonymous:
		a.key, a.sas = "", ""
	case a.key != "":
		a.sas = ""
	case a.sas == "":
		a.tokens = newChain(policy.ClientOptions{})
	}
	return a
}

// development is the connection string of the emulators of Azure Storage, with their well-known key.
const development = "AccountName=devstoreaccount1;BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;" +
	"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

// connect takes an account from a connection string, such as
//
//	DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;EndpointSuffix=core.windows.net
func (a *account) connect(text string) error {
	fields := map[string]string{"defaultendpointsprotocol": "https", "endpointsuffix": "core.windows.net"}
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok && strings.TrimSpace(part) != "" {
			return fmt.Errorf("not of the form NAME=VALUE;…")
		}
		fields[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	if strings.EqualFold(fields["usedevelopmentstorage"], "true") {
		return a.connect(development)
	}
	a.name, a.key, a.endpoint = fields["accountname"], fields["accountkey"], strings.TrimSuffix(fields["blobendpoint"], "/")
	a.sas = strings.TrimPrefix(fields["sharedaccesssignature"], "?")
	if a.endpoint == "" && a.name != "" {
		a.endpoint = fields["defaultendpointsprotocol"] + "://" + a.name + ".blob." + fields["endpointsuffix"]
	}
	if a.endpoint == "" {
		return fmt.Errorf("without AccountName and BlobEndpoint")
	}
	return nil
}

// container returns the SDK's client of a container. Package object repeats requests.
func (a account) container(name string) (*container.Client, error) {
	return a.containerBy(name, bounded{object.NewClient(object.NewTransport())})
}

// containerBy is container with another sender of requests.
func (a account) containerBy(name string, t policy.Transporter) (*container.Client, error) {
	at := a.endpoint + "/" + url.PathEscape(name)
	o := &container.ClientOptions{}
	o.Transport = t
	o.Retry.MaxRetries = -1
	o.Telemetry.Disabled = true
	switch {
	case a.key != "":
		key, err := blob.NewSharedKeyCredential(a.name, a.key)
		if err != nil {
			return nil, object.Failure{Text: "the key of the storage account is not base64", Advice: "copy it anew from az storage account keys list", Err: err}
		}
		return container.NewClientWithSharedKeyCredential(at, key, o)
	case a.tokens != nil:
		return container.NewClient(at, a.tokens, o)
	case a.sas != "":
		at += "?" + a.sas
	}
	return container.NewClientWithNoCredential(at, o)
}
