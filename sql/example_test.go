//go:build cgo && duckdb_arrow

package sql_test

import (
	databasesql "database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/amudai/amudai-go/sql"
)

// A folder of files is one table.
func ExampleNewConnector() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"jan.csv": "origin,delay\nSFO,10\nLAX,3\n", "feb.csv": "origin,delay\nSFO,20\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	connector, err := sql.NewConnector("", sql.Options{})
	if err != nil {
		log.Fatal(err)
	}
	db := databasesql.OpenDB(connector)
	defer db.Close()
	var origin string
	var delay float64
	if err := db.QueryRow(`select origin, avg(delay) from '`+dir+`/' group by all order by 2 desc limit 1`).Scan(&origin, &delay); err != nil {
		log.Fatal(err)
	}
	fmt.Println(origin, delay)
	// Output: SFO 15
}
