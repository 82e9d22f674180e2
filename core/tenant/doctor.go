package tenant

import (
	"context"
	"fmt"

	"armature/core/auth"
	"armature/core/backup"
	"armature/core/connectedapp"
	"armature/core/doctor"
	"armature/core/doctypes"
	"armature/core/migration"
	"armature/core/oauth"
	"armature/core/site"
	"armature/core/social"
	"armature/core/store"
)

// Patient is the site as somebody who examines it sees it.
func (t *Tenant) Patient(ctx context.Context) (*doctor.Patient, error) {
	db, ok := t.Store.(*store.Store)
	if !ok {
		return nil, fmt.Errorf("site %s has no database of its own", t.Site.Name)
	}
	shipped, err := doctypes.Boot()
	if err != nil {
		return nil, err
	}
	run, err := backup.Runs{Store: db, Now: t.c.Now}.Read(ctx)
	if err != nil {
		return nil, err
	}
	return &doctor.Patient{
		Store: db, Schema: t.Documents.Schema(), Private: append(migration.Tables(), besideTables()...), Files: t.Files,
		Sealer: t.Site.Secret, Sealed: sealed(), Configured: t.sealedSettings, Passkeys: t.lostPasskeys, Letters: t.unsentLetters, Backups: run, Now: t.c.Now(),
		State: t.found, Format: t.format.Plan.Format(), Shipped: shipped, Taken: doctypes.Reserved,
	}, nil
}

// sealed are the secrets that services seal for purposes of their own.
func sealed() (list []doctor.Sealed) {
	for field, purpose := range connectedapp.Sealed() {
		list = append(list, doctor.Sealed{DocType: field[0], Field: field[1], Purpose: purpose})
	}
	for field, purpose := range social.Sealed() {
		list = append(list, doctor.Sealed{DocType: field[0], Field: field[1], Purpose: purpose})
	}
	for field, purpose := range oauth.Sealed() {
		list = append(list, doctor.Sealed{DocType: field[0], Field: field[1], Purpose: purpose})
	}
	for field, purpose := range auth.Sealed() {
		list = append(list, doctor.Sealed{DocType: field[0], Field: field[1], Purpose: purpose})
	}
	return list
}

// lostPasskeys says which passkeys the address of the site has left behind.
func (t *Tenant) lostPasskeys(ctx context.Context) (said []string, err error) {
	lost, err := t.Auth.LostPasskeys(ctx)
	for _, l := range lost {
		said = append(said, fmt.Sprintf("%d passkeys are bound to %s, which the site's address is not at or below: they cannot be used until host_name or passkey_domain says so again, or their users make others", l.Count, l.Party))
	}
	return said, err
}

// unsentLetters are the settings that are on and need a mail server, of which the site has
// none.
func (t *Tenant) unsentLetters() []string { return site.NeedMail(t.Site.Config()) }

// sealedSettings opens what is sealed in the configuration.
func (t *Tenant) sealedSettings() error {
	_, err := t.mailServer()
	return err
}
