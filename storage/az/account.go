package az

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// account is a storage account: where it is, and how requests are signed. Of key, sas and tokens one is set, or none.
type account struct {
	name     string
	endpoint string // without a slash at the end
	key      []byte
	sas      string // query of a shared access signature
	tokens   *tokens
}

// findAccount finds the account of a host, or of the environment if that is empty.
func findAccount(o Options, host string) (account, error) {
	a := account{name: o.Account}
	if text := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"); text != "" && o.Token == nil {
		var err error
		if a, err = parseConnection(text); err != nil {
			return a, object.Failure{Text: "AZURE_STORAGE_CONNECTION_STRING is " + err.Error(), Advice: "copy it anew from az storage account show-connection-string"}
		}
	}
	name, _, _ := strings.Cut(host, ".")
	switch {
	case host != "" && (a.name == "" || !strings.EqualFold(a.name, name)): // not that of the connection string
		a = account{name: name}
	case a.name == "":
		a.name = os.Getenv("AZURE_STORAGE_ACCOUNT")
	}
	if a.name == "" && a.endpoint == "" {
		return a, object.Failure{
			Text:   "the location names no storage account",
			Advice: "set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING, or write az://ACCOUNT.blob.core.windows.net/CONTAINER/NAME",
		}
	}
	switch {
	case a.endpoint != "":
	case host != "":
		a.endpoint = "https://" + host
	default:
		a.endpoint = "https://" + a.name + ".blob.core.windows.net"
	}
	return a, a.authorize(o)
}

// authorize finds the credentials of an account whose connection string has none.
func (a *account) authorize(o Options) error {
	key, sas := os.Getenv("AZURE_STORAGE_KEY"), os.Getenv("AZURE_STORAGE_SAS_TOKEN")
	if own := os.Getenv("AZURE_STORAGE_ACCOUNT"); own != "" && !strings.EqualFold(own, a.name) {
		key, sas = "", "" // of another account
	}
	anonymous, _ := strconv.ParseBool(os.Getenv("AZURE_STORAGE_ANON"))
	var err error
	switch {
	case o.Token != nil:
		a.tokens = &tokens{sources: []source{{"the program", o.Token}}}
	case a.key != nil || a.sas != "" || anonymous:
	case key != "":
		if a.key, err = base64.StdEncoding.DecodeString(key); err != nil {
			return object.Failure{Text: "AZURE_STORAGE_KEY is not base64", Advice: "copy it anew from az storage account keys list", Err: err}
		}
	case sas != "":
		a.sas = strings.TrimPrefix(sas, "?")
	default:
		a.tokens = newTokens()
	}
	return nil
}

// developmentKey is the well-known key of the emulators of Azure Storage.
const developmentKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

// parseConnection parses a connection string, such as
//
//	DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;EndpointSuffix=core.windows.net
func parseConnection(text string) (account, error) {
	fields := map[string]string{"defaultendpointsprotocol": "https", "endpointsuffix": "core.windows.net"}
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok && strings.TrimSpace(part) != "" {
			return account{}, fmt.Errorf("not of the form NAME=VALUE;…")
		}
		fields[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	if strings.EqualFold(fields["usedevelopmentstorage"], "true") {
		fields["accountname"], fields["accountkey"] = "devstoreaccount1", developmentKey
		fields["blobendpoint"] = "http://127.0.0.1:10000/devstoreaccount1"
	}
	a := account{name: fields["accountname"], endpoint: strings.TrimSuffix(fields["blobendpoint"], "/")}
	a.sas = strings.TrimPrefix(fields["sharedaccesssignature"], "?")
	if key := fields["accountkey"]; key != "" {
		var err error
		if a.key, err = base64.StdEncoding.DecodeString(key); err != nil {
			return a, fmt.Errorf("wrong: its AccountKey is not base64")
		}
	}
	if a.endpoint == "" && a.name != "" {
		a.endpoint = fields["defaultendpointsprotocol"] + "://" + a.name + ".blob." + fields["endpointsuffix"]
	}
	if a.endpoint == "" {
		return a, fmt.Errorf("without AccountName and BlobEndpoint")
	}
	return a, nil
}

// sign adds credentials to a request.
func (a *account) sign(ctx context.Context, r *http.Request) error {
	r.Header.Set("X-Ms-Version", apiVersion)
	r.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	switch {
	case a.key != nil:
		mac := hmac.New(sha256.New, a.key)
		mac.Write([]byte(a.signed(r)))
		r.Header.Set("Authorization", "SharedKey "+a.name+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	case a.sas != "":
		if r.URL.RawQuery != "" {
			r.URL.RawQuery += "&"
		}
		r.URL.RawQuery += a.sas
	case a.tokens != nil:
		token, err := a.tokens.get(ctx)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// signed is the text of a request that is signed with the key of the account ("Authorize with Shared Key").
func (a *account) signed(r *http.Request) string {
	length := ""
	if r.ContentLength > 0 {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	h := r.Header
	lines := []string{
		r.Method, h.Get("Content-Encoding"), h.Get("Content-Language"), length, h.Get("Content-MD5"), h.Get("Content-Type"), "",
		h.Get("If-Modified-Since"), h.Get("If-Match"), h.Get("If-None-Match"), h.Get("If-Unmodified-Since"), h.Get("Range"),
	}
	var own []string
	for name := range h {
		if name := strings.ToLower(name); strings.HasPrefix(name, "x-ms-") {
			own = append(own, name+":"+strings.TrimSpace(h.Get(name)))
		}
	}
	slices.Sort(own)
	lines = append(append(lines, own...), "/"+a.name+r.URL.EscapedPath())
	return strings.Join(append(lines, parameters(r.URL.Query())...), "\n")
}

// parameters are those of a query as they are signed.
func parameters(q url.Values) (lines []string) {
	for name, values := range q {
		slices.Sort(values)
		lines = append(lines, strings.ToLower(name)+":"+strings.Join(values, ","))
	}
	slices.Sort(lines)
	return lines
}
