// go-sql-driver against a running server: CRUD over the text and the binary protocol.
//
// Usage: main HOST PORT. Prints one line on success; a panic names what differs.
package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(ok bool, what string, got ...any) {
	if !ok {
		panic(fmt.Sprintf("%s: %v", what, got))
	}
}

func crud(address string, interpolate bool, more string) {
	options := "?parseTime=true&multiStatements=true" + more
	if interpolate {
		options += "&interpolateParams=true"
	}
	admin := must(sql.Open("mysql", "root@tcp("+address+")/"+options))
	must(admin.Exec("DROP DATABASE IF EXISTS client_go; CREATE DATABASE client_go"))
	admin.Close()

	db := must(sql.Open("mysql", "root@tcp("+address+")/client_go"+options))
	defer db.Close()
	must(db.Exec(`CREATE TABLE t (
		id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT, u BIGINT UNSIGNED, s VARCHAR(200), b VARBINARY(300),
		d DECIMAL(10,2), f DOUBLE, g FLOAT, ts DATETIME(6), da DATE, UNIQUE KEY (s))`))

	when := time.Date(2026, 11, 21, 8, 41, 0, 123456000, time.UTC)
	blob := make([]byte, 256)
	for i := range blob {
		blob[i] = byte(i)
	}
	result := must(db.Exec("INSERT INTO t (n,u,s,b,d,f,g,ts,da) VALUES (?,?,?,?,?,?,?,?,?)",
		-5, uint64(18446744073709551615), "ščř'\\", blob, "12345678.91", 0.1, float32(1.5), when, when))
	check(must(result.LastInsertId()) == 1, "last insert id")
	check(must(result.RowsAffected()) == 1, "rows affected")

	var (
		n     int
		u     uint64
		s, d  string
		b     []byte
		f     float64
		g     float32
		ts, a time.Time
	)
	row := db.QueryRow("SELECT n,u,s,b,d,f,g,ts,da FROM t WHERE id=?", 1)
	if err := row.Scan(&n, &u, &s, &b, &d, &f, &g, &ts, &a); err != nil {
		panic(err)
	}
	check(n == -5 && u == 18446744073709551615 && s == "ščř'\\" && bytes.Equal(b, blob), "values", n, u, s, b)
	check(d == "12345678.91" && f == 0.1 && g == 1.5 && ts.Equal(when), "values", d, f, g, ts)
	check(a.Format("2006-01-02") == "2026-11-21", "date", a)

	var null sql.NullInt64
	must(db.Exec("INSERT INTO t (s) VALUES (?)", "only s"))
	if err := db.QueryRow("SELECT n FROM t WHERE s=?", "only s").Scan(&null); err != nil {
		panic(err)
	}
	check(!null.Valid, "NULL", null)

	_, err := db.Exec("INSERT INTO t (s) VALUES (?)", "only s")
	var mysqlError *mysql.MySQLError
	check(errors.As(err, &mysqlError) && mysqlError.Number == 1062, "duplicate", err)

	tx := must(db.Begin())
	statement := must(tx.Prepare("INSERT INTO t (n, s) VALUES (?, ?)"))
	for i := range 500 {
		must(statement.Exec(i, fmt.Sprintf("row %d", i)))
	}
	statement.Close()
	var count int
	if err := tx.QueryRow("SELECT COUNT(*) FROM t").Scan(&count); err != nil {
		panic(err)
	}
	check(count == 502, "own inserts", count)
	if err := tx.Rollback(); err != nil {
		panic(err)
	}
	if err := db.QueryRow("SELECT COUNT(*) FROM t").Scan(&count); err != nil {
		panic(err)
	}
	check(count == 2, "after rollback", count)

	rows := must(db.Query("SELECT id, s FROM t WHERE id > ? ORDER BY id DESC", 0))
	var ids []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id, &s); err != nil {
			panic(err)
		}
		ids = append(ids, id)
	}
	check(len(ids) == 2 && ids[0] > ids[1], "descending", ids)
	check(must(must(db.Exec("DELETE FROM t WHERE id IN (?, ?)", ids[0], ids[1])).RowsAffected()) == 2, "delete")
	must(db.Exec("DROP DATABASE client_go"))
}

// An account with a password: encrypted with the server's RSA key, remembered, and in TLS.
func password(address string) {
	admin := must(sql.Open("mysql", "root@tcp("+address+")/?multiStatements=true"))
	defer admin.Close()
	must(admin.Exec("DROP USER IF EXISTS client_go; CREATE USER client_go IDENTIFIED BY 'geheim'"))
	for _, options := range []string{"", "", "?tls=skip-verify"} {
		db := must(sql.Open("mysql", "client_go:geheim@tcp("+address+")/"+options))
		var user, version, name string
		if err := db.QueryRow("SELECT CURRENT_USER()").Scan(&user); err != nil {
			panic(err)
		}
		check(user == "client_go@%", "user", user)
		if err := db.QueryRow("SHOW SESSION STATUS LIKE 'Ssl_version'").Scan(&name, &version); err != nil {
			panic(err)
		}
		check((version != "") == (options != ""), "TLS", options, version)
		db.Close()
	}
	db := must(sql.Open("mysql", "client_go:wrong@tcp("+address+")/"))
	err := db.Ping()
	var mysqlError *mysql.MySQLError
	check(errors.As(err, &mysqlError) && mysqlError.Number == 1045, "wrong password", err)
	must(admin.Exec("DROP USER client_go"))
}

func main() {
	address := os.Args[1] + ":" + os.Args[2]
	crud(address, false, "")
	crud(address, true, "")
	crud(address, false, "&compress=true")
	crud(address, false, "&tls=skip-verify&compress=true")
	password(address)
	fmt.Println("go-sql-driver: ok")
}
