package store_test

import (
	"fmt"
	"testing"

	"armature/core/document"
	"armature/core/fault"
)

// What the server refuses because of others is run again, and seen once: a
// trigger refuses the first writes, counted by a sequence, which no rollback
// takes back.
func TestPostgresRunsAgain(t *testing.T) {
	dsn := postgresURL(t)
	there := func(tx document.Tx, name string) (bool, error) {
		absent, err := tx.Absent(t.Context(), note, []string{name})
		return err == nil && len(absent) == 0, err
	}
	cases := []struct {
		code     string
		refused  int // how many writes are refused
		attempts int // 0: it fails
		mode     document.Mode
		looks    bool // it reads before it writes
	}{
		{"40001", 3, 4, document.GroupedTx, true},
		{"40001", 3, 1, document.OneWrite, false}, // the statement is run again, the function is not
		{"40P01", 2, 3, document.GroupedTx, true},
		{"53200", 2, 3, document.GroupedTx, true},
		{"53200", 2, 1, document.OneWrite, false},
		{"23505", 1, 2, document.GroupedTx, true},  // somebody was faster, perhaps
		{"23505", 2, 0, document.GroupedTx, true},  // it is taken
		{"23505", 1, 0, document.GroupedTx, false}, // and was when nobody had looked
		{"53100", 1, 0, document.GroupedTx, true},  // a full disk is no race
		{"22003", 1, 0, document.OneWrite, false},  // nor is a bad value
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %d times, mode %d, looks %v", c.code, c.refused, c.mode, c.looks), func(t *testing.T) {
			schema := newSchema(t, dsn)
			s := openSchema(t, dsn, schema)
			migrateNotes(t, s)
			by := connect(t, dsn, schema)
			run(t, by, "CREATE SEQUENCE tries")
			run(t, by, fmt.Sprintf(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('tries') <= %d THEN RAISE EXCEPTION 'refused by a trigger' USING ERRCODE = '%s'; END IF;
				RETURN NEW; END $$`, c.refused, c.code))
			run(t, by, `CREATE TRIGGER refuse BEFORE INSERT ON "tabNote" FOR EACH ROW EXECUTE FUNCTION refuse()`)
			attempts, after := 0, 0
			err := s.Write(t.Context(), c.mode, func(tx document.Tx) error {
				attempts++
				tx.AfterCommit(func() { after++ })
				if c.looks {
					if _, err := there(tx, "another"); err != nil {
						return err
					}
				}
				return tx.Insert(t.Context(), newNote("n", "once"))
			})
			stored := false
			if err := s.Read(t.Context(), func(tx document.Tx) (err error) {
				stored, err = there(tx, "n")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			switch {
			case c.attempts == 0 && (err == nil || stored || after != 0):
				t.Errorf("after %d attempts: %v, stored %v, done afterwards %d times", attempts, err, stored, after)
			case c.attempts > 0 && (err != nil || attempts != c.attempts || !stored || after != 1):
				t.Errorf("after %d attempts, want %d: %v, stored %v, done afterwards %d times", attempts, c.attempts, err, stored, after)
			}
			if c.code == "23505" && err != nil && fault.KindOf(err) != fault.Conflict {
				t.Errorf("%v is no duplicate", err)
			}
		})
	}
}
