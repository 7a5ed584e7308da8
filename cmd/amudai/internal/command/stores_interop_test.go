package command_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/emulators"
	"github.com/amudai/amudai-go/internal/testing/faultproxy"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/storetest"
)

// TestInteropS3 holds the store and the command to moto's S3 server.
func TestInteropS3(t *testing.T) {
	e := emulators.S3(t)
	interop(t, e)

	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, e.Address+"/bucket/logs/a.amudai.shard", nil)
	require.NoError(t, err)
	r.Header.Set("X-Amz-Checksum-Mode", "ENABLED")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request") // moto looks for the key alone
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NotEmpty(t, resp.Header.Get("X-Amz-Checksum-Crc64nvme"))
	require.Equal(t, "AES256", resp.Header.Get("X-Amz-Server-Side-Encryption"))
}

// TestInteropAzure holds the store and the command to Azurite.
func TestInteropAzure(t *testing.T) { interop(t, emulators.Azure(t)) }

// TestInteropGoogle holds the store and the command to fake-gcs-server.
func TestInteropGoogle(t *testing.T) { interop(t, emulators.Google(t)) }

// interop runs a store and the command on a server.
func interop(t *testing.T, e emulators.Emulator) {
	root, proxy := e.Root, e.Proxy
	t.Run("store", func(t *testing.T) { storetest.TestStore(t, e.Store, root+"50%25 off/ü/") })
	askers := allAskers(t)
	spans, err := filepath.Abs("../../../../testdata/traces/shop.otlp.jsonl")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("in.csv", numbers(300_000), 0o644)) // 6 MB
	t.Run("command", func(t *testing.T) { interopCommand(t, root) })
	t.Run("faults", func(t *testing.T) { interopFaults(t, root, proxy) })
	ok(t, "convert", "-q", "--force", "--stripe-rows", "50000", "in.csv", "six.amudai.shard")
	ok(t, "convert", "-q", "--force", spans, "shop.blockpack")
	for _, name := range []string{"six.amudai.shard", "shop.blockpack"} {
		require.NoError(t, upload(t, e.Store, name, root+"reads/"+name))
	}
	for _, a := range askers {
		t.Run(a.name, func(t *testing.T) {
			t.Run("reads", func(t *testing.T) { interopReads(t, root, proxy, a) })
			t.Run("changed", func(t *testing.T) { interopChanged(t, root, proxy, e.Store, a) })
		})
	}
	t.Run("interrupted", func(t *testing.T) { interopInterrupted(t, root, proxy) })
}

// upload puts the bytes of a file at a location.
func upload(t *testing.T, store storage.Store, name, location string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return storetest.Write(t.Context(), store, location, content, storage.CreateOptions{Overwrite: true})
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
		about := func(folder string) string {
			return strings.NewReplacer("@", folder+"six.amudai.shard", "#", folder+"shop.blockpack").Replace(question)
		}
		local, err := a.ask(about(""))
		require.NoError(t, err, question)
		for k, lied := 1, 0; ; k += a.stride {
			fault := faultproxy.Refuse + faultproxy.Fault(i+k)%faultproxy.Flip
			proxy.Begin(faultproxy.Faults{Choose: func(n int) faultproxy.Fault {
				time.Sleep(5 * time.Millisecond)
				if n == k {
					return fault
				}
				return faultproxy.None
			}})
			got, err := a.ask(about(root + "reads/"))
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
	replace := func(i int) error { return upload(t, store, fmt.Sprintf("v%d.amudai.shard", i), location) }
	for k := 1; ; k += a.stride {
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
