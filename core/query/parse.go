package query

// Parse reads a query from arguments.
func Parse(get func(name string) any) (*Query, error) {
	return &Query{Length: DefaultLength}, nil
}
