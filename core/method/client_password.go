package method

import "context"

// clientPassword is framework.client.get_password: the clear text of a Password
// field, for a System Manager.
func clientPassword(ctx context.Context, c *Call) (any, error) {
	doctype, err := c.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	name, err := c.Args.Need("name")
	if err != nil {
		return nil, err
	}
	field := c.Args.Text("fieldname")
	if field == "" {
		field = "password"
	}
	return c.Documents.As(c.Caller, c.Tx).Password(ctx, doctype, name, field)
}
