package openapi

// live adds the stream of what changes.
func (b *builder) live() {
	text := object{"type": "string"}
	b.paths["/api/live"] = object{"get": object{
		"summary":     "Be told what changes, as it changes: a document, a list, or what a method publishes",
		"operationId": "live",
		"tags":        []string{"live"},
		"parameters": []object{
			query("subscribe", "JSON array of objects: id, and doctype with name, or with fields, filters and or_filters, or topic", text),
			query("doctype", "In place of subscribe: the DocType of a list or a document", text),
			query("name", "Of the document; without it a list is followed", text),
			query("fields", "JSON array of field names of the list; without it name and modified", text),
			query("filters", "JSON array of [field, operator, value], all of which must hold", text),
			query("or_filters", "JSON array of [field, operator, value], one of which must hold", text),
			query("topic", "The path of a method", text),
			{"name": "Last-Event-ID", "in": "header", "schema": text, "description": "The last id that was told: what has happened since is told first"},
			query("last_event_id", "The same for who cannot set a header", text),
		},
		"responses": object{
			"200": object{"description": "Server-Sent Events: ready, changed, removed, rows, message, gap, end",
				"content": object{"text/event-stream": object{"schema": text}}},
			"default": answers("200", object{})["default"],
		},
	}}
}
