package store

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// A write by itself is serializable, and what the server refuses was not done.
func TestLoneWriteIsSerializable(t *testing.T) {
	b := openOnPostgres(t).backend.(*postgresBackend)
	held, err := b.writes.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	err = native(held, func(c *pgx.Conn) error {
		exec := func(text string) (int64, error) { return execAlone(t.Context(), c, &statement{text: text}, []any{"x"}) }
		if _, err := c.Exec(t.Context(), "CREATE TEMPORARY TABLE seen (level text)"); err != nil {
			return err
		}
		n, err := exec("INSERT INTO seen SELECT current_setting('transaction_isolation') WHERE $1::text <> ''")
		if err != nil || n != 1 {
			t.Errorf("%d rows, %v", n, err)
		}
		var level string
		if err := c.QueryRow(t.Context(), "SELECT level FROM seen").Scan(&level); err != nil || level != "serializable" {
			t.Errorf("it was %q, %v", level, err)
		}
		_, err = exec("INSERT INTO seen SELECT 1 / (length($1::text) - 1)")
		if _, unknown := err.(unknownOutcome); err == nil || unknown || c.PgConn().TxStatus() != 'I' {
			t.Errorf("%v, and the connection is in %c", err, c.PgConn().TxStatus())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
