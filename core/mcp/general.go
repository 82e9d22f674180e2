package mcp

// general are the tools of every site: few, with the DocType as an argument, so that
// an agent reads the same short list on a site of two hundred DocTypes.
func (s *Service) general() []*tool {
	const (
		dt     = `"doctype":{"type":"string","description":"a DocType, as describe names it"}`
		name   = `"name":{"type":"string","description":"the document's name"}`
		values = `"values":{"type":"object","description":"fields and what they are to hold; rows of a table as an array of objects"}`
	)
	return []*tool{
		{
			name: "describe", reads: true, takes: []string{"doctype", "method", "list", "text"}, run: s.describe,
			about:  "Without arguments: which DocTypes you may use. With a doctype: its fields, links, and what you may do. With a method: its arguments.",
			schema: `{"type":"object","properties":{` + dt + `,"method":{"type":"string","description":"a method's dotted path"},"list":{"enum":["doctypes","methods"]},"text":{"type":"string","description":"only names with this in them"}}}`,
		},
		{
			name: "list", reads: true, needs: []string{"doctype"}, takes: []string{"fields", "filters", "or_filters", "order_by", "group_by", "limit", "start"}, run: s.list,
			about: "Lists documents of a DocType: 20, with their most telling fields, unless you say otherwise.",
			schema: `{"type":"object","required":["doctype"],"properties":{` + dt + `,"fields":{"type":"array","items":{"type":"string"}},` +
				`"filters":{"type":"array","description":"[[\"status\",\"=\",\"Open\"],[\"qty\",\">\",5]]; also like, in, not in, between, is (set, not set)"},` +
				`"or_filters":{"type":"array"},"order_by":{"type":"string","description":"modified desc"},"group_by":{"type":"string"},` +
				`"limit":{"type":"integer","minimum":1,"maximum":100},"start":{"type":"integer","minimum":0}}}`,
		},
		{
			name: "search", reads: true, needs: []string{"doctype", "text"}, takes: []string{"limit"}, run: s.search,
			about:  "Finds documents of a DocType by a part of their name, title or search fields.",
			schema: `{"type":"object","required":["doctype","text"],"properties":{` + dt + `,"text":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":50}}}`,
		},
		{
			name: "read", reads: true, needs: []string{"doctype", "name"}, run: s.read,
			about:  "Reads one document with its tables.",
			schema: `{"type":"object","required":["doctype","name"],"properties":{` + dt + `,` + name + `}}`,
		},
		{
			name: "create", adds: true, needs: []string{"doctype", "values"}, run: s.create,
			about:  "Makes a document.",
			schema: `{"type":"object","required":["doctype","values"],"properties":{` + dt + `,` + values + `}}`,
		},
		{
			name: "update", needs: []string{"doctype", "name", "values"}, run: s.update,
			about:  "Changes the given fields of a document; with modified among the values only if nobody has changed it since.",
			schema: `{"type":"object","required":["doctype","name","values"],"properties":{` + dt + `,` + name + `,` + values + `}}`,
		},
		{
			name: "delete", needs: []string{"doctype", "name"}, run: s.remove,
			about:  "Deletes a document.",
			schema: `{"type":"object","required":["doctype","name"],"properties":{` + dt + `,` + name + `}}`,
		},
		{
			name: "submit", needs: []string{"doctype", "name"}, takes: []string{"action"}, run: s.submit,
			about:  "Submits a draft of a submittable DocType, cancels what was submitted, or discards a draft.",
			schema: `{"type":"object","required":["doctype","name"],"properties":{` + dt + `,` + name + `,"action":{"enum":["submit","cancel","discard"]}}}`,
		},
		{
			name: "query_method", reads: true, needs: []string{"method"}, takes: []string{"arguments"}, run: s.queryMethod,
			about:  "Calls a method that may be called with GET, and keeps nothing of what it writes.",
			schema: `{"type":"object","required":["method"],"properties":{"method":{"type":"string"},"arguments":{"type":"object"}}}`,
		},
		{
			name: "call_method", needs: []string{"method"}, takes: []string{"arguments"}, run: s.callMethod,
			about:  "Calls a method with POST, and keeps what it has done.",
			schema: `{"type":"object","required":["method"],"properties":{"method":{"type":"string","description":"a dotted path, as describe names it"},"arguments":{"type":"object"}}}`,
		},
	}
}
