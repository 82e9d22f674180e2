package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	_ "modernc.org/sqlite"
)

// todo is a row as the bare server keeps and shows it: the columns of a ToDo.
type todo struct {
	Name          string  `json:"name"`
	Owner         string  `json:"owner"`
	Creation      string  `json:"creation"`
	Modified      string  `json:"modified"`
	ModifiedBy    string  `json:"modified_by"`
	Docstatus     int     `json:"docstatus"`
	Idx           int     `json:"idx"`
	Status        string  `json:"status"`
	Priority      string  `json:"priority"`
	Color         *string `json:"color,omitempty"`
	Date          *string `json:"date,omitempty"`
	Description   string  `json:"description"`
	ReferenceType *string `json:"reference_type,omitempty"`
	ReferenceName *string `json:"reference_name,omitempty"`
	Role          *string `json:"role,omitempty"`
	AssignedBy    *string `json:"assigned_by,omitempty"`
	Sender        *string `json:"sender,omitempty"`
	AllocatedTo   *string `json:"allocated_to,omitempty"`
	Doctype       string  `json:"doctype"`
}

const columns = `name, owner, creation, modified, modified_by, docstatus, idx, status, priority, color, date,
	description, reference_type, reference_name, role, assigned_by, sender, allocated_to`

// table is what armature keeps for a ToDo, index for index: what is compared is
// the server and not the schema.
const table = `CREATE TABLE todo (name varchar(140) PRIMARY KEY, owner varchar(140), creation text, modified text,
	modified_by varchar(140), docstatus int NOT NULL DEFAULT 0, idx int NOT NULL DEFAULT 0, status text,
	priority varchar(140), color text, date text, description text, reference_type varchar(140),
	reference_name varchar(140), role varchar(140), assigned_by varchar(140), sender text, allocated_to varchar(140));
	CREATE INDEX todo_modified ON todo (modified, name);
	CREATE INDEX todo_status ON todo (status, modified, name);
	CREATE INDEX todo_priority ON todo (priority);
	CREATE INDEX todo_reference_type ON todo (reference_type);
	CREATE INDEX todo_role ON todo (role);
	CREATE INDEX todo_assigned_by ON todo (assigned_by);
	CREATE INDEX todo_allocated_to ON todo (allocated_to)`

func (t *todo) fields() []any {
	return []any{&t.Name, &t.Owner, &t.Creation, &t.Modified, &t.ModifiedBy, &t.Docstatus, &t.Idx, &t.Status, &t.Priority,
		&t.Color, &t.Date, &t.Description, &t.ReferenceType, &t.ReferenceName, &t.Role, &t.AssignedBy, &t.Sender, &t.AllocatedTo}
}

// bareServer is what a person would write in an afternoon: prepared statements,
// a handler for each, no users, no rights, no rules.
type bareServer struct {
	read, write          *sql.DB
	get, list, add, edit *sql.Stmt
}

func runBaseline(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("baseline", flag.ContinueOnError)
	database := flags.String("database", "", "path of a SQLite file, or a postgres:// URL")
	documents := flags.Int("documents", 0, "rows to make")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := openBare(ctx, *database)
	if err != nil {
		return err
	}
	if err := s.seed(ctx, *documents); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /todo/{name}", s.serveGet)
	mux.HandleFunc("GET /todo", s.serveList)
	mux.HandleFunc("POST /todo", s.serveAdd)
	mux.HandleFunc("PUT /todo/{name}", s.serveEdit)
	mux.HandleFunc("GET /names", s.serveNames)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("bare http://%s\n", listener.Addr())
	server := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func openBare(ctx context.Context, database string) (*bareServer, error) {
	driver, dsn := "pgx", database
	if !strings.Contains(database, "://") {
		// As durable as armature: every commit reaches the disk.
		driver = "sqlite"
		dsn = "file:" + database + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	read, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	s := &bareServer{read: read, write: read}
	read.SetMaxOpenConns(16)
	read.SetMaxIdleConns(16)
	if driver == "sqlite" {
		read.SetMaxOpenConns(4)
		read.SetMaxIdleConns(4)
		if s.write, err = sql.Open(driver, dsn); err != nil {
			return nil, err
		}
		s.write.SetMaxOpenConns(1) // SQLite has one writer; waiting here is cheaper than being told it is busy
	}
	for _, statement := range strings.Split(table, ";") {
		if _, err := s.write.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return s, s.prepare(ctx)
}

func (s *bareServer) prepare(ctx context.Context) (err error) {
	var places []string
	for n := range 18 {
		places = append(places, fmt.Sprintf("$%d", n+1))
	}
	for _, p := range []struct {
		to   **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&s.get, s.read, "SELECT " + columns + " FROM todo WHERE name = $1"},
		{&s.list, s.read, "SELECT name, status, priority, description FROM todo WHERE status = $1 ORDER BY modified DESC, name DESC LIMIT 20"},
		{&s.add, s.write, "INSERT INTO todo (" + columns + ") VALUES (" + strings.Join(places, ", ") + ")"},
		{&s.edit, s.write, "UPDATE todo SET description = $1, modified = $2 WHERE name = $3 RETURNING " + columns},
	} {
		if *p.to, err = p.db.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

func now() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000000") }

func newTodo() *todo {
	today := now()
	date := today[:10]
	return &todo{
		Name: strings.ToLower(rand.Text()[:10]), Owner: "Administrator", Creation: today, Modified: today,
		ModifiedBy: "Administrator", Status: "Open", Priority: "Medium", Date: &date, Doctype: "ToDo",
	}
}

func (s *bareServer) seed(ctx context.Context, n int) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range n {
		t := newTodo()
		if err := json.Unmarshal(seedBody(i), t); err != nil {
			return err
		}
		if _, err := tx.StmtContext(ctx, s.add).ExecContext(ctx, t.fields()...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *bareServer) serveGet(w http.ResponseWriter, r *http.Request) {
	t := todo{Doctype: "ToDo"}
	answer(w, &t, s.get.QueryRowContext(r.Context(), r.PathValue("name")).Scan(t.fields()...))
}

func (s *bareServer) serveList(w http.ResponseWriter, r *http.Request) {
	type item struct {
		Name        string `json:"name"`
		Status      string `json:"status"`
		Priority    string `json:"priority"`
		Description string `json:"description"`
	}
	rows, err := s.list.QueryContext(r.Context(), "Open")
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer rows.Close()
	list := make([]item, 0, 20)
	for rows.Next() {
		var t item
		if err := rows.Scan(&t.Name, &t.Status, &t.Priority, &t.Description); err != nil {
			answer(w, nil, err)
			return
		}
		list = append(list, t)
	}
	answer(w, list, rows.Err())
}

func (s *bareServer) serveAdd(w http.ResponseWriter, r *http.Request) {
	t := newTodo()
	if err := json.NewDecoder(r.Body).Decode(t); err != nil {
		answer(w, nil, err)
		return
	}
	_, err := s.add.ExecContext(r.Context(), t.fields()...)
	answer(w, t, err)
}

func (s *bareServer) serveEdit(w http.ResponseWriter, r *http.Request) {
	var change struct{ Description string }
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil {
		answer(w, nil, err)
		return
	}
	t := todo{Doctype: "ToDo"}
	answer(w, &t, s.edit.QueryRowContext(r.Context(), change.Description, now(), r.PathValue("name")).Scan(t.fields()...))
}

func (s *bareServer) serveNames(w http.ResponseWriter, r *http.Request) {
	rows, err := s.read.QueryContext(r.Context(), "SELECT name FROM todo")
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer rows.Close()
	var list []map[string]string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			answer(w, nil, err)
			return
		}
		list = append(list, map[string]string{"name": name})
	}
	answer(w, list, rows.Err())
}

func answer(w http.ResponseWriter, data any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		data = err.Error()
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}
