package command_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/internal/testing/faultproxy"
	"github.com/amudai/amudai-go/internal/testing/lifetest"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/az"
	"github.com/amudai/amudai-go/storage/gs"
	"github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/storage/storetest"
)

// TestInteropS3 holds the store and the command to moto's S3 server. AMUDAI_PYTHON is a Python that has moto[server].
func TestInteropS3(t *testing.T) {
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
	require.Equal(t, 200, put(t, server+"/bucket", nil))
	register := func() {
		storage.Register("s3", s3.New(s3.Options{Backoff: time.Millisecond, PartBytes: 5 << 20}))
	}
	interop(t, "s3://bucket/", proxy, register)

	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server+"/bucket/logs/a.amudai.shard", nil)
	require.NoError(t, err)
	r.Header.Set("X-Amz-Checksum-Mode", "ENABLED")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request") // moto looks for the key alone
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NotEmpty(t, resp.Header.Get("X-Amz-Checksum-Crc64nvme"))
	require.Equal(t, "AES256", resp.Header.Get("X-Amz-Server-Side-Encryption"))
}

// TestInteropAzure holds the store and the command to Azurite. AMUDAI_NODE is Node.js, AMUDAI_NODE_MODULES a folder that has azurite.
func TestInteropAzure(t *testing.T) {
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
	require.Equal(t, 201, put(t, server+"/devstoreaccount1/bucket?restype=container", map[string]string{
		"x-ms-date": date, "x-ms-version": "2021-12-02",
		"Authorization": "SharedKey devstoreaccount1:" + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}))
	register := func() { storage.Register("az", az.New(az.Options{Backoff: time.Millisecond, PartBytes: 1 << 20})) }
	interop(t, "az://bucket/", proxy, register)
}

// TestInteropGoogle holds the store and the command to fake-gcs-server. AMUDAI_GCS is the program.
func TestInteropGoogle(t *testing.T) {
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
	resp, err := http.Post(server+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name": "bucket"}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	// Objects are sent whole: the server takes the question how much of an upload it has for its end.
	register := func() { storage.Register("gs", gs.New(gs.Options{Backoff: time.Millisecond, PartBytes: 8 << 20})) }
	interop(t, "gs://bucket/", proxy, register)
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

func put(t *testing.T, url string, header map[string]string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, nil)
	require.NoError(t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// interop runs a store and the command on a server.
func interop(t *testing.T, root string, proxy *faultproxy.Proxy, register func()) {
	register()
	store, err := storage.ForLocation(root)
	require.NoError(t, err)
	t.Run("store", func(t *testing.T) { storetest.TestStore(t, store, root+"50%25 off/ü/") })
	askers := allAskers(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("in.csv", numbers(300_000), 0o644)) // 6 MB
	t.Run("command", func(t *testing.T) { interopCommand(t, root) })
	t.Run("faults", func(t *testing.T) { interopFaults(t, root, proxy) })
	ok(t, "convert", "-q", "--force", "--stripe-rows", "50000", "in.csv", "six.amudai.shard")
	ok(t, "convert", "-q", "--force", "--stripe-rows", "50000", "in.csv", root+"reads/six.amudai.shard")
	for _, a := range askers {
		t.Run(a.name, func(t *testing.T) {
			t.Run("reads", func(t *testing.T) { interopReads(t, root, proxy, a) })
			t.Run("changed", func(t *testing.T) { interopChanged(t, root, proxy, store, a) })
		})
	}
	t.Run("interrupted", func(t *testing.T) { interopInterrupted(t, root, proxy) })
	t.Run("life", func(t *testing.T) { lifetest.TestStore(t, store, root+"life/", proxy, 2) })
}

// interopCommand converts to formats, and reads folders and patterns.
func interopCommand(t *testing.T, root string) {
	for _, name := range []string{"a.amudai.shard", "b.amudai.shard", "c.parquet", "d.csv.gz"} {
		ok(t, "convert", "-q", "in.csv", root+"logs/"+name)
		require.Equal(t, "300000\n", ok(t, "count", root+"logs/"+name))
	}
	require.Equal(t, "600000\n", ok(t, "count", root+"logs/*.amudai.shard"))
	require.Equal(t, "1200000\n", ok(t, "count", root+"logs/"))
	require.Equal(t, "1200000\n", ok(t, "count", root+"logs"))
	require.Equal(t, ok(t, "scan", "in.csv", "--where", "n = 7"), ok(t, "scan", root+"logs/a.amudai.shard", "--where", "n = 7"))
	r := run(t, "convert", "in.csv", root+"logs/a.amudai.shard")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "exists already (hint: --force replaces it)")
	ok(t, "convert", "-q", "--force", "in.csv", root+"logs/a.amudai.shard")
	require.Contains(t, ok(t, "verify", root+"logs/*.amudai.shard"), "sound")
	require.Contains(t, run(t, "cat", root+"none.csv").errout, root+"none.csv does not exist")
}

// interopFaults converts while each request in turn meets each fault: the output is whole.
func interopFaults(t *testing.T, root string, proxy *faultproxy.Proxy) {
	defer proxy.End()
	for fault := faultproxy.Refuse; fault <= faultproxy.Delay; fault++ {
		for k := 1; ; k++ {
			proxy.Begin(faultproxy.At(k, fault))
			out := fmt.Sprintf("%sfaults/%d-%d.csv", root, fault, k)
			ok(t, "convert", "-q", root+"logs/a.amudai.shard", out)
			n := proxy.End()
			require.Equal(t, "", ok(t, "diff", "-q", "in.csv", out), "fault %d of request %d", fault, k)
			if n < k {
				break
			}
		}
	}
}

// interopReads asks questions of each kind while each request in turn meets a fault, and all faults take turns, those of a server that lies, too, which answers all
// late: the answers are those of a local file, or errors if it lies.
func interopReads(t *testing.T, root string, proxy *faultproxy.Proxy, a asker) {
	defer proxy.End()
	for i, question := range a.questions {
		local, err := a.ask(strings.ReplaceAll(question, "@", "six.amudai.shard"))
		require.NoError(t, err, question)
		for k, lied := 1, 0; ; k++ {
			fault := faultproxy.Refuse + faultproxy.Fault(i+k)%faultproxy.Flip
			proxy.Begin(faultproxy.Faults{Choose: func(n int) faultproxy.Fault {
				time.Sleep(5 * time.Millisecond)
				if n == k {
					return fault
				}
				return faultproxy.None
			}})
			got, err := a.ask(strings.ReplaceAll(question, "@", root+"reads/six.amudai.shard"))
			n := proxy.End()
			if fault < faultproxy.Short || n < k {
				require.NoError(t, err, "%s: fault %d of request %d", question, fault, k)
			}
			if err == nil && !strings.Contains(got, ", damaged") && !strings.Contains(got, "≈") { // statistics say so of a block, and estimate what a dictionary would tell
				require.Equal(t, local, strings.ReplaceAll(got, root+"reads/", ""), "%s: fault %d of request %d", question, fault, k)
			} else {
				lied++
			}
			if n < k {
				t.Logf("%s: %d requests, %d errors", question, n, lied)
				break
			}
		}
	}
}

// interopInterrupted ends a conversion at each of its requests. Nothing is left.
func interopInterrupted(t *testing.T, root string, proxy *faultproxy.Proxy) {
	defer proxy.End()
	for k := 1; ; k++ {
		ctx, cancel := context.WithCancel(t.Context())
		proxy.Begin(faultproxy.Faults{Choose: func(n int) faultproxy.Fault {
			if n == k {
				cancel()
			}
			return faultproxy.None
		}})
		out := fmt.Sprintf("%sinterrupted/%d.csv", root, k)
		r := runContext(ctx, app.Env{Args: []string{"convert", "-q", "in.csv", out}})
		cancel()
		n := proxy.End()
		if r.code != app.ExitOK {
			require.Equal(t, app.ExitInterrupted, r.code, r.errout)
			require.Contains(t, run(t, "count", out).errout, "does not exist")
		} else {
			require.Equal(t, "300000\n", ok(t, "count", out))
		}
		if n < k {
			return
		}
	}
}

// interopChanged replaces a shard at each request of a question: the answer is that of one version, or an error.
func interopChanged(t *testing.T, root string, proxy *faultproxy.Proxy, store storage.Store, a asker) {
	defer proxy.End()
	ctx := t.Context()
	location := root + "changed/t.amudai.shard"
	var answers []string
	for i := range 2 {
		require.NoError(t, os.WriteFile("v.csv", numbers(200_000+i), 0o644))
		version := fmt.Sprintf("v%d.amudai.shard", i)
		ok(t, "convert", "-q", "--force", "v.csv", version)
		answer, err := a.ask(strings.ReplaceAll(a.sum, "@", version))
		require.NoError(t, err)
		answers = append(answers, answer)
	}
	replace := func(i int) error {
		content, err := os.ReadFile(fmt.Sprintf("v%d.amudai.shard", i))
		if err != nil {
			return err
		}
		w, err := store.Create(ctx, location, storage.CreateOptions{Overwrite: true})
		if err != nil {
			return err
		}
		if err := w.Write(ctx, content); err != nil {
			return err
		}
		return w.Publish(ctx)
	}
	for k := 1; ; k++ {
		require.NoError(t, replace(0))
		changed := make(chan error, 1)
		proxy.Begin(faultproxy.Faults{Choose: func(n int) faultproxy.Fault {
			if n == k { // the requests of replace have greater numbers
				changed <- replace(1)
			}
			return faultproxy.None
		}})
		answer, err := a.ask(strings.ReplaceAll(a.sum, "@", location))
		proxy.End()
		if err == nil {
			require.Contains(t, answers, answer)
		} else {
			require.Regexp(t, "no longer the version|has changed since it was opened", err.Error())
		}
		select {
		case err := <-changed:
			require.NoError(t, err)
		default: // it has fewer requests
			return
		}
	}
}
