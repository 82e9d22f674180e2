package main_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// plant changes the database of the default site behind its back. %s is what stands
// before the name of a table.
func plant(in *armaturetest.Installation, statements ...string) {
	in.T.Helper()
	driver, source, schema := "sqlite", filepath.Join(in.Data, "sites", "default", "site.db"), ""
	if in.Database != "" {
		driver, source, schema = "pgx", in.Database, "site_default."
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		in.T.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		statement := fmt.Sprintf(s, schema)
		done, err := db.Exec(statement)
		if err != nil {
			in.T.Fatalf("%s: %v", statement, err)
		}
		if n, err := done.RowsAffected(); err == nil && n == 0 {
			in.T.Fatalf("%s: nothing has changed", statement)
		}
	}
}

// Each thing that can be wrong with what the platform itself keeps is found when it is
// planted, alone; and the command says by its end which kind of trouble there is.
func TestDoctorFindsWhatIsPlanted(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		s.Want("POST", "/api/resource/OAuth Client", map[string]any{"app_name": "Portal", "redirect_uris": "http://127.0.0.1:9000/callback"})
		s.Want("POST", "/api/resource/Connected App", map[string]any{"provider_name": "Away", "client_id": "x", "client_secret": "y"})
		s.Want("POST", "/api/resource/Note", map[string]any{"title": "n"})
		notes, _ := s.Want("GET", "/api/resource/Note", nil).([]any)
		note := notes[0].(map[string]any)["name"].(string)
		s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "d", "reference_type": "Note", "reference_name": note})
		s.Call("GET", "/api/method/framework.integrations.oauth2.openid_configuration", nil)
		s.Stop()
		if d := doctor(in); !d.Well || len(d.Findings) != 0 {
			t.Fatalf("at first: %+v", d.Findings)
		}
		for _, tt := range []struct {
			name, plant, mend string
			check, subject    string
			well              bool
		}{
			{"a client's secret", "UPDATE %sd_oauth_client SET sealed_secret = 'x' || sealed_secret", "UPDATE %sd_oauth_client SET sealed_secret = substr(sealed_secret, 2)", "secrets", "OAuth Client.sealed_secret", false},
			{"an app's secret", "UPDATE %sd_connected_app SET client_secret = 'x' || client_secret", "UPDATE %sd_connected_app SET client_secret = substr(client_secret, 2)", "secrets", "Connected App.client_secret", false},
			{"a Dynamic Link", "UPDATE %sd_todo SET reference_name = 'x' || reference_name", "UPDATE %sd_todo SET reference_name = substr(reference_name, 2)", "links", "ToDo.reference_name: links to 1 documents of Note", false},
			{"a Dynamic Link to no DocType", "UPDATE %sd_todo SET reference_type = 'Nothing'", "UPDATE %sd_todo SET reference_type = 'Note'", "links", `ToDo.reference_type: links to 1 documents of DocType`, false},
			{"a Link", "UPDATE %sd_todo SET allocated_to = 'nobody'", "UPDATE %sd_todo SET allocated_to = NULL", "links", "ToDo.allocated_to", false},
			{"a newer format", "UPDATE %sarmature_secret SET format = format + 1", "UPDATE %sarmature_secret SET format = format - 1", "versions", "newer programs have been here", false},
			{"a pause", "UPDATE %sarmature_secret SET paused = 'a rehearsal'", "UPDATE %sarmature_secret SET paused = ''", "outgoing", "a rehearsal", true},
			{"a row without a document", "UPDATE %sd_has_role SET parent = 'x' || parent", "UPDATE %sd_has_role SET parent = substr(parent, 2)", "rows", "Has Role", false},
		} {
			plant(in, tt.plant)
			d := doctor(in)
			if d.says(tt.check, tt.subject) != 1 || len(d.Findings) != 1 || d.Well != tt.well {
				t.Errorf("%s: %+v", tt.name, d)
			}
			if again := doctor(in, "--repair"); len(again.Findings) != 1 || again.Findings[0].Repaired {
				t.Errorf("%s is nothing that can be repaired: %+v", tt.name, again)
			}
			plant(in, tt.mend)
			if d := doctor(in); !d.Well {
				t.Fatalf("%s, mended: %+v", tt.name, d)
			}
		}
		// What nobody has planted by hand: a schedule that is not kept.
		plant(in, "INSERT INTO %sarmature_backup (name, owner, creation, modified, modified_by, docstatus, idx, every, tried, done, problem, size, records, until) "+
			"VALUES ('site', 'Administrator', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 'Administrator', 0, 0, 3600, 1767225600, 1767225600, '', 1, 1, 0)")
		if d := doctor(in); d.Well || d.says("backups", "every 1h0m0s, and the last one is of 2026-01-01") != 1 {
			t.Errorf("a late backup: %+v", d)
		}
		plant(in, "UPDATE %sarmature_backup SET problem = 'no room'")
		if d := doctor(in); d.Well || d.says("backups", "no room") != 1 {
			t.Errorf("a failed backup: %+v", d)
		}
		plant(in, "DELETE FROM %sarmature_backup")
		for args, code := range map[string]int{"default": 0, "nowhere": 3} {
			if got := exitCode(in.Command("site", "doctor", args).Run()); got != code {
				t.Errorf("doctor %s ends with %d", args, got)
			}
		}
		// Second factors: an app's secret that does not open, a passkey of a domain that the
		// site has left, and one of the domain where it is.
		row := " (name, owner, creation, modified, modified_by, docstatus, idx, \"user\", "
		of := "VALUES ('planted', 'Administrator', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 'Administrator', 0, 0, 'Administrator', "
		plant(in, "INSERT INTO %sarmature_second_factor"+row+"kind, secret, used) "+of+"'totp', 'v1.nonsense', 0)")
		if d := doctor(in); d.Well || len(d.Findings) != 1 || d.says("secrets", "Second Factor.secret: 1 secrets cannot be opened") != 1 {
			t.Errorf("an authenticator app: %+v", d)
		}
		plant(in, "DELETE FROM %sarmature_second_factor")
		in.Run("site", "config", "default", "set", "host_name", `"https://shop.example.org"`)
		for party, n := range map[string]int{"old.example.org": 1, "shop.example.org": 0} {
			plant(in, "INSERT INTO %sarmature_passkey"+row+"title, party, handle, credential, alone, used, blocked) "+of+"'Laptop', '"+party+"', '', '{}', 1, 0, 0)")
			if d := doctor(in); d.Well != (n == 0) || len(d.Findings) != n || d.says("passkeys", "1 passkeys are bound to old.example.org") != n {
				t.Errorf("a passkey of %s: %+v", party, d)
			}
			plant(in, "DELETE FROM %sarmature_passkey")
		}
		for _, key := range []string{"sign_up", "login_with_code"} {
			if _, said, err := in.Try("", "site", "config", "default", "set", key, "true"); err != nil || !strings.Contains(said, "warning: "+key+" needs letters") {
				t.Errorf("%s without a mail server: %v %s", key, err, said)
			}
			if d := doctor(in); d.Well || len(d.Findings) != 1 || d.says("letters", key) != 1 {
				t.Errorf("%s without a mail server: %+v", key, d)
			}
			in.Run("site", "config", "default", "set", key, "false")
		}
		plant(in, "UPDATE %sd_todo SET allocated_to = 'nobody'")
		if got := exitCode(in.Command("site", "doctor", "default").Run()); got != 2 {
			t.Errorf("with something found it ends with %d", got)
		}
		in.Run("site", "config", "default", "set", "mail", `{"host": "h", "from": "a@example.org", "user": "u", "password": "v1.nonsense"}`)
		if d := doctor(in); d.says("secrets", "configuration: a secret in it cannot be used: mail: password") != 1 {
			t.Errorf("the mail server's password: %+v", d)
		}
	})
}

func exitCode(err error) int {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	return 0
}
