// Package emulators starts servers that speak the protocols of cloud stores, each behind a proxy that may fail. It is for tests.
package emulators

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/internal/testing/faultproxy"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/az"
	"github.com/amudai/amudai-go/storage/gs"
	"github.com/amudai/amudai-go/storage/s3"
)

// Emulator is a server with an empty bucket, which ends with the test. The store of its scheme reaches it by the proxy, and repeats requests at once.
type Emulator struct {
	Root    string // such as s3://bucket/
	Address string // of the server itself
	Proxy   *faultproxy.Proxy
	Store   storage.Store
}

// S3 starts moto's S3 server. AMUDAI_PYTHON is a Python that has moto[server]; the test is skipped without.
func S3(t *testing.T) Emulator {
	python := os.Getenv("AMUDAI_PYTHON")
	if python == "" || exec.CommandContext(t.Context(), python, "-c", "import moto.server").Run() != nil {
		t.Skip("AMUDAI_PYTHON has no moto[server]: make interop-stores PYTHON=...")
	}
	server := start(t, func(port string) *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), python, "-m", "moto.server", "-H", "127.0.0.1", "-p", port)
	})
	proxy := faultproxy.New(t, server)
	proxy.OneWrite() // moto answered two edits of one version with success
	fakes3.Environment(t, proxy.URL)
	t.Setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_supported")
	t.Setenv("AWS_SERVER_SIDE_ENCRYPTION", "AES256")
	send(t, http.MethodPut, server+"/bucket", "", nil)
	storage.Register("s3", s3.New(s3.Options{Backoff: time.Millisecond, PartBytes: 5 << 20}))
	return emulator(t, "s3://bucket/", server, proxy)
}

// Azure starts Azurite. AMUDAI_NODE is Node.js, AMUDAI_NODE_MODULES a folder that has azurite; the test is skipped without.
func Azure(t *testing.T) Emulator {
	node := os.Getenv("AMUDAI_NODE")
	program := filepath.Join(os.Getenv("AMUDAI_NODE_MODULES"), "azurite", "dist", "src", "blob", "main.js")
	if _, err := os.Stat(program); node == "" || err != nil {
		t.Skip("AMUDAI_NODE_MODULES has no azurite: make interop-stores NODE_MODULES=...")
	}
	server := start(t, func(port string) *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), node, program, "--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--blobPort", port)
	})
	key := "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==" // of all emulators
	proxy := faultproxy.New(t, server+"/devstoreaccount1")
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=devstoreaccount1;AccountKey="+key+";BlobEndpoint="+proxy.URL)

	date := time.Now().UTC().Format(http.TimeFormat)
	signed := "PUT" + strings.Repeat("\n", 12) + "x-ms-date:" + date + "\nx-ms-version:2021-12-02\n/devstoreaccount1/devstoreaccount1/bucket\nrestype:container"
	secret, err := base64.StdEncoding.DecodeString(key)
	require.NoError(t, err)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	send(t, http.MethodPut, server+"/devstoreaccount1/bucket?restype=container", "", map[string]string{
		"x-ms-date": date, "x-ms-version": "2021-12-02",
		"Authorization": "SharedKey devstoreaccount1:" + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	})
	storage.Register("az", az.New(az.Options{Backoff: time.Millisecond, PartBytes: 1 << 20}))
	return emulator(t, "az://bucket/", server, proxy)
}

// Google starts fake-gcs-server. AMUDAI_GCS is the program; the test is skipped without.
func Google(t *testing.T) Emulator {
	program := os.Getenv("AMUDAI_GCS")
	if _, err := exec.LookPath(program); program == "" || err != nil {
		t.Skip("AMUDAI_GCS is no fake-gcs-server: make interop-stores GCS=...")
	}
	server := start(t, func(port string) *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), program, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-log-level", "error",
			"-external-url", "http://127.0.0.1:"+port)
	})
	proxy := faultproxy.New(t, server)
	t.Setenv("STORAGE_EMULATOR_HOST", proxy.URL)
	send(t, http.MethodPost, server+"/storage/v1/b?project=test", `{"name": "bucket"}`, map[string]string{"Content-Type": "application/json"})
	// Objects are sent whole: the server takes the question how much of an upload it has for its end.
	storage.Register("gs", gs.New(gs.Options{Backoff: time.Millisecond, PartBytes: 8 << 20}))
	return emulator(t, "gs://bucket/", server, proxy)
}

// start starts a server on a free port, waits for it, and returns its address. It ends with the test.
func start(t *testing.T, program func(port string) *exec.Cmd) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	cmd := program(port)
	cmd.Dir = t.TempDir()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		return err == nil && c.Close() == nil
	}, time.Minute, 50*time.Millisecond, "%s", cmd)
	return "http://" + address
}

// send sends a request, which must succeed.
func send(t *testing.T, method, url, body string, header map[string]string) {
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 2, resp.StatusCode/100, resp.Status)
}

func emulator(t *testing.T, root, address string, proxy *faultproxy.Proxy) Emulator {
	store, err := storage.ForLocation(root)
	require.NoError(t, err)
	return Emulator{root, address, proxy, store}
}
