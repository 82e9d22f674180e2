package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"
)

// rights is how long the first page of a list takes a user whose roles, shares
// and User Permissions decide on every row, beside the Administrator.
type rights struct {
	Database string       `json:"database"`
	Rows     int          `json:"rows"`
	Lists    []rightsList `json:"lists"`
}

type rightsList struct {
	Name  string        `json:"name"`
	Admin time.Duration `json:"admin_ns"` // the median request
	User  time.Duration `json:"user_ns"`
}

func (l *rightsList) ratio() float64 { return float64(l.Admin) / float64(l.User) }

// Two users read the orders. A row rule over a link gives the clerk those of
// most customers; it gives the guest of one customer next to nothing, beside the
// five orders that are theirs and twenty that are shared with them. Both have
// permitted values for a thousand of two thousand territories.
const (
	clerk = "clerk@example.com"
	buyer = "buyer@example.com"
)

var rightsSetup = []struct{ path, body string }{
	{"Role", `{"role_name": "Clerk"}`},
	{"Role", `{"role_name": "Buyer"}`},
	{"User", `{"email": "` + clerk + `", "first_name": "Clerk", "roles": [{"role": "Clerk"}]}`},
	{"User", `{"email": "` + buyer + `", "first_name": "Buyer", "roles": [{"role": "Buyer"}]}`},
	{"DocType", `{"name": "Bench Territory", "custom": 1, "autoname": "Prompt", "fields": [{"fieldname": "title", "fieldtype": "Data"}],
		"permissions": [{"role": "System Manager", "read": 1}]}`},
	{"DocType", `{"name": "Bench Customer", "custom": 1, "autoname": "Prompt", "fields": [{"fieldname": "login", "fieldtype": "Link", "options": "User"},
		{"fieldname": "grade", "fieldtype": "Int"}], "permissions": [{"role": "System Manager", "read": 1}]}`},
	{"DocType", `{"name": "Bench Order", "custom": 1, "autoname": "Prompt", "fields": [{"fieldname": "customer", "fieldtype": "Link", "options": "Bench Customer"},
		{"fieldname": "territory", "fieldtype": "Link", "options": "Bench Territory"}, {"fieldname": "total", "fieldtype": "Currency"}],
		"permissions": [{"role": "System Manager", "read": 1, "write": 1},
			{"role": "Clerk", "read": 1, "if_owner": 1}, {"role": "Clerk", "read": 1, "condition": "[[\"customer.grade\",\">\",1]]"},
			{"role": "Buyer", "read": 1, "if_owner": 1}, {"role": "Buyer", "read": 1, "condition": "[[\"customer.login\",\"=\",\"$user\"]]"}]}`},
}

// fillRights adds the documents past the server.
func fillRights(ctx context.Context, db *sql.DB, rows int) error {
	const standard, values = "(name, owner, creation, modified, modified_by", "'Administrator', '2020-01-01 00:00:00.000000', %s, 'Administrator'"
	into := func(table, columns, selected string, rows int) string {
		return fmt.Sprintf("INSERT INTO "+table+" "+standard+", "+columns+") SELECT '"+table+"' || i, "+values+", "+selected+" FROM %s", at(db), series(db, rows))
	}
	all := []string{
		into("d_bench_territory", "title", "'t'", 2000),
		into("d_bench_customer", "login, grade", "CASE WHEN i = 7 THEN '"+buyer+"' END, i %% 10", 5000),
		into("d_bench_order", "customer, territory, total", "'d_bench_customer' || (i %% 5000 + 1), 'd_bench_territory' || (i * 7919 %% 2000 + 1), i", rows),
		fmt.Sprintf("UPDATE d_bench_order SET owner = '%s' WHERE name IN ('d_bench_order1', 'd_bench_order20001', 'd_bench_order40001', 'd_bench_order60001', 'd_bench_order80001')", buyer),
	}
	for _, user := range []string{clerk, buyer} {
		all = append(all, into("d_user_permission", "\"user\", allow, for_value, apply_to_all_doctypes", "'"+user+"', 'Bench Territory', 'd_bench_territory' || i, 1", 1000),
			into("d_docshare", "\"user\", share_doctype, share_name, read", "'"+user+"', 'Bench Order', 'd_bench_order' || (i * 4001), 1", 20))
		all[len(all)-1] = renamed(all[len(all)-1], user)
		all[len(all)-2] = renamed(all[len(all)-2], user)
	}
	for _, statement := range append(all, "ANALYZE") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// renamed gives the rows of a statement names of their own for each user.
func renamed(statement, user string) string {
	return string(bytes.Replace([]byte(statement), []byte("|| i, 'Administrator'"), []byte("|| i || '"+user+"', 'Administrator'"), 1))
}

// measureRights makes a site of its own and measures in it.
func measureRights(ctx context.Context, o options, name, server string) (r *rights, err error) {
	dir, err := os.MkdirTemp("", "armature-bench-rights-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	database := ""
	if server != "" {
		d, failed := newDatabases(ctx, server)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, d.drop()) }()
		database = d.ours
	}
	env := []string{"ARMATURE_DATA=" + filepath.Join(dir, "data"), "ARMATURE_DATABASE=" + database, "ARMATURE_LOG_LEVEL=error"}
	admin, err := keys(env, o.server, "Administrator") // makes the site
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, env, o.server, "serve", "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	for _, s := range rightsSetup {
		if err := post(ctx, "http://"+p.address+"/api/resource/"+s.path, admin, s.body); err != nil {
			return nil, err
		}
	}
	db, err := openOurs(database, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := fillRights(ctx, db, o.rights); err != nil {
		return nil, err
	}
	r = &rights{Database: name, Rows: o.rights}
	for _, user := range []string{clerk, buyer} {
		auth, err := keys(env, o.server, user)
		if err != nil {
			return nil, err
		}
		l := rightsList{Name: user}
		if l.Admin, err = firstPage(ctx, o, p.address, admin); err != nil {
			return nil, err
		}
		if l.User, err = firstPage(ctx, o, p.address, auth); err != nil {
			return nil, err
		}
		r.Lists = append(r.Lists, l)
	}
	return r, nil
}

// firstPage is the median time of a page, with one connection: it is the delay
// that counts.
func firstPage(ctx context.Context, o options, address, auth string) (time.Duration, error) {
	path := "/api/resource/Bench%20Order?" + url.Values{"fields": {`["name","customer","territory","total"]`}}.Encode()
	text := plain("GET", path, auth, nil)
	next := func(int, int) []byte { return text }
	if _, err := load(ctx, address, 1, 300*time.Millisecond, next); err != nil {
		return 0, err
	}
	res, err := load(ctx, address, 1, o.duration, next)
	return res.P50, err
}

func post(ctx context.Context, address, auth, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", auth)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %s", address, res.StatusCode, text)
	}
	return err
}

func (r *rights) print(w io.Writer) {
	fmt.Fprintf(w, "\nfirst page of %d %s rows by users whose rights decide on each, one connection\n\n", r.Rows, r.Database)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tAdministrator\tuser\tratio\t")
	for _, l := range r.Lists {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t\n", l.Name, ms(l.Admin), ms(l.User), l.ratio())
	}
	t.Flush()
}
