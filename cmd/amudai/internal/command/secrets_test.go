package command_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
	storehttp "github.com/amudai/amudai-go/storage/http"
)

// secrets are the parts of a location that nobody but its server must see.
var secrets = []string{"alice", "hunter2", "c2lnbmVk", "token-of-the-user"}

// secretURL is the location of a file on a server, with secrets.
func secretURL(server *httptest.Server, name string) string {
	return strings.Replace(server.URL, "http://", "http://alice:hunter2@", 1) + "/" + name + "?sig=c2lnbmVk&t=token-of-the-user"
}

// guarded serves a folder to who knows the secrets. It fails with a status where the name of a file begins with that.
func guarded(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "alice" || password != "hunter2" || r.URL.Query().Get("sig") != "c2lnbmVk" {
			w.WriteHeader(401)
			return
		}
		switch name := strings.TrimPrefix(r.URL.Path, "/"); {
		case strings.HasPrefix(name, "500"):
			w.WriteHeader(500)
		case strings.HasPrefix(name, "403"):
			w.WriteHeader(403)
		case strings.HasPrefix(name, "loop"):
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		case strings.HasPrefix(name, "badplace"):
			w.Header().Set("Location", "http://%zz/"+r.URL.RawQuery)
			w.WriteHeader(302)
		case strings.HasPrefix(name, "cut"):
			panic(http.ErrAbortHandler)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// No command prints the secrets of a location, writes them into a file, or tells them in an error.
func TestSecretsOfLocations(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b,c\n1,word,2020-01-02\n2,other,2020-01-03\n3,,2020-01-04\n"), 0o600))
	require.NoError(t, os.WriteFile("bad.csv", []byte("a,b\n1,x\n2,y,z,5\n\"3"), 0o600))
	names := []string{"t.csv", "bad.csv", "missing.csv", "403.csv", "loop.csv", "badplace.csv", "cut.csv", "missing.amudai.shard", "loop.amudai.shard", "403.amudai.shard"}
	for _, name := range []string{"t.parquet", "t.jsonl", "t.arrow", "t.csv.gz", "t.ntuple.root"} {
		ok(t, "convert", "-q", "t.csv", name)
		names = append(names, name)
	}
	ok(t, "convert", "-q", "t.csv", "t.amudai.shard")
	ok(t, "convert", "-q", "t.csv", "i.amudai.shard", "--layout", "two-level")
	ok(t, "index", "add", "i.amudai.shard", "--columns", "b")
	damaged, err := os.ReadFile("t.amudai.shard")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("cut.amudai.shard", damaged[:len(damaged)/2], 0o600))
	damaged[100] ^= 1
	require.NoError(t, os.WriteFile("damaged.amudai.shard", damaged, 0o600))
	names = append(names, "t.amudai.shard", "i.amudai.shard", "cut.amudai.shard", "damaged.amudai.shard")
	server := guarded(t, dir)
	storage.Register("http", storehttp.New(storehttp.Options{Backoff: 1}))
	defer storage.Register("http", storehttp.New(storehttp.Options{}))
	for n, name := range names {
		for k, args := range [][]string{
			{"head", "$"}, {"cat", "$", "--format", "json"}, {"count", "$"}, {"schema", "$"}, {"inspect", "$"}, {"inspect", "-vvv", "$"}, {"inspect", "--json", "-vv", "$"}, {"inspect", "--hex", "$"},
			{"verify", "$"}, {"verify", "--json", "$"}, {"verify", "$", "$"}, {"stats", "$"}, {"stats", "--json", "$"}, {"stats", "--profile", "$"}, {"stats", "--html", "page.html", "--force", "$"}, {"stats", "--profile", "--json", "$"},
			{"scan", "$", "--explain"}, {"scan", "$", "--analyze"}, {"scan", "$", "$", "--explain"}, {"agg", "$", "count()"}, {"agg", "$", "--explain", "count()"}, {"agg", "$", "sum(b)"}, {"diff", "$", "t.csv"}, {"diff", "$", "$", "--json"},
			{"search", "word", "$"}, {"search", "word", "$", "$"}, {"search", "word", "$", "t.csv", "--json"}, {"search", "word", "$", "--count"}, {"search", "-l", "word", "$", "$"}, {"sort", "$", "--by", "nothing"}, {"top", "$", "--by", "b"}, {"distinct", "$", "--columns", "b"},
			{"take", "$", "99"}, {"tail", "$"}, {"sample", "$", "2"}, {"infer-schema", "$"}, {"plan", "$"}, {"convert", "$", "out.amudai.shard", "-f"}, {"convert", "t.csv", "$"}, {"convert", "t.csv", "$", "-f"}, {"index", "list", "$"}, {"index", "add", "$", "--columns", "b"},
			{"recover", "$", "out.shard", "-f"}, {"cat", "$", "--where", "a >"}, {"cat", "$", "--from", "parquet"}, {"cat", "$", "--from", "jsonl"}, {"cat", "$", "--from", "amudai"}, {"cat", "t.csv", "--schema-of", "$"}, {"cat", "t.csv", "--schema-of=$"}, {"cat", "$", "--schema", "b:int64"},
			{"cat", "$/"}, {"cat", "$:table"}, {"head", "$", "--columns", "nothing"}, {"query", "{}", "$"}, {"trace", "0123456789abcdef0123456789abcdef", "$"}, {"blockpack", "merge", "out.blockpack", "$"},
		} {
			if (n+k)%sweep.Step(3) != 0 {
				continue // each command with some files, and some commands with each file
			}
			for i, arg := range args {
				if args[i] = arg; strings.Contains(arg, "$") {
					args[i] = strings.Replace(arg, "$", secretURL(server, name), 1)
				}
			}
			r := runEnv(t, app.Env{Args: args, Progress: true})
			for _, secret := range secrets {
				require.NotContains(t, r.out, secret, "%q prints it", args)
				require.NotContains(t, r.errout, secret, "%q tells it", args)
			}
		}
	}
	written, err := filepath.Glob("*")
	require.NoError(t, err)
	for _, name := range written {
		if b, err := os.ReadFile(name); err == nil {
			for _, secret := range secrets {
				require.NotContains(t, string(b), secret, "%s holds it", name)
			}
		}
	}
}
