package oauthstore

import (
	"context"
	"strings"

	"github.com/ory/fosite"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// DeviceName is the DocType of what a device has asked for (RFC 8628).
const DeviceName = "OAuth Device Code"

// What has become of what a device has asked for.
const (
	DevicePending = "Pending"
	DeviceAllowed = "Allowed"
	DeviceDenied  = "Denied"
	DeviceUsed    = "Used"
)

// Device is what a device has asked for.
type Device struct {
	Signature string // of its device code
	Client    string
	Scopes    []string
	Resources []string
	Status    string
	Expires   int64 // Unix seconds
	Interval  int64 // seconds between two questions of the device
	PolledAt  int64 // Unix seconds; 0: it has not asked yet

	// The rest is that of a user who has allowed it.

	User     string
	AuthTime int64
	Methods  []string
	Grant    string // id of the grant that its tokens are of
}

// CreateDevice stores what a device asks for; userCode is the signature of the code that
// a person types in.
func (s *Store) CreateDevice(ctx context.Context, d *Device, userCode string) error {
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		return s.insert(ctx, tx, DeviceName, d.Signature, "Guest", map[string]any{
			"user_code": userCode, "client": d.Client, "status": DevicePending, "scopes": strings.Join(d.Scopes, " "),
			"resource": strings.Join(d.Resources, " "), "interval": d.Interval, "expires": d.Expires,
		})
	})
}

// Device reads what a device has asked for; nil when there is none.
func (s *Store) Device(ctx context.Context, signature string) (d *Device, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		row, err := s.get(ctx, tx, DeviceName, signature, false)
		if d = nil; row != nil {
			d = newDevice(row)
		}
		return err
	})
	return d, err
}

// DeviceOf is Device by the code that a person types in, while that counts.
func (s *Store) DeviceOf(ctx context.Context, userCode string) (d *Device, err error) {
	dt, err := s.docType(DeviceName)
	if err != nil || userCode == "" {
		return nil, err
	}
	sel := &doctype.Select{
		DocType: dt, Length: 1,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}},
		Where: doctype.AllOf{
			compare(dt, "user_code", query.Eq, userCode), compare(dt, "status", query.Eq, DevicePending),
			compare(dt, "expires", query.Gt, s.c.Now().Unix()),
		},
	}
	signature := ""
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		signature = ""
		return tx.Rows(ctx, sel, func(v []any) error {
			signature, _ = v[0].(string)
			return nil
		})
	})
	if err != nil || signature == "" {
		return nil, err
	}
	return s.Device(ctx, signature)
}

func newDevice(row *doctype.Document) *Device {
	return &Device{
		Signature: row.Name(), Client: row.Text("client"), Scopes: strings.Fields(row.Text("scopes")),
		Resources: strings.Fields(row.Text("resource")), Status: row.Text("status"), Expires: row.Int("expires"),
		Interval: row.Int("interval"), PolledAt: row.Int("polled_at"), User: row.Text("user"),
		AuthTime: row.Int("auth_time"), Methods: strings.Fields(row.Text("amr")), Grant: row.Text("grant_id"),
	}
}

// AnswerDevice keeps what the user of d says, whose Status is the answer, and also,
// which is written with it. ErrSpent: somebody has answered, or it is too late.
func (s *Store) AnswerDevice(ctx context.Context, d *Device, also Write) error {
	if d.Expires <= s.c.Now().Unix() {
		return ErrSpent
	}
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		ok, err := s.set(ctx, tx, DeviceName, d.Signature, map[string]any{"status": DevicePending}, map[string]any{
			"status": d.Status, "user": d.User, "auth_time": d.AuthTime, "amr": strings.Join(d.Methods, " "), "grant_id": d.Grant,
		})
		if err != nil {
			return err
		}
		if !ok {
			return ErrSpent
		}
		return also(ctx, tx)
	})
}

// NotePoll keeps when a device has asked, and how long it has to wait from now on.
func (s *Store) NotePoll(ctx context.Context, signature string, at, interval int64) error {
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		_, err := s.set(ctx, tx, DeviceName, signature, map[string]any{"status": DevicePending}, map[string]any{"polled_at": at, "interval": interval})
		return err
	})
}

// SpendDevice spends what a user has allowed; fosite.ErrInvalidGrant where another
// request has, or the user's or the client's access has ended since.
func (s *Store) SpendDevice(ctx context.Context, signature string) error {
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		ok, err := s.set(ctx, tx, DeviceName, signature, map[string]any{"status": DeviceAllowed}, map[string]any{"status": DeviceUsed})
		if err == nil && !ok {
			err = fosite.ErrInvalidGrant
		}
		return err
	})
}

// endDevices has what a user, or anybody for a client, has allowed and nobody fetched
// count no more.
func (s *Store) endDevices(ctx context.Context, tx document.Tx, field, name string) error {
	dt, err := s.docType(DeviceName)
	if err != nil {
		return err
	}
	_, err = tx.Replace(ctx, dt, dt.Field("status"), doctype.AllOf{
		compare(dt, "expires", query.Gt, s.c.Now().Unix()),
		compare(dt, field, query.Eq, name), compare(dt, "status", query.Eq, DeviceAllowed),
	}, DeviceDenied)
	return err
}
