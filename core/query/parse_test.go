package query_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/query"
)

type args map[string]any

func (a args) get(name string) any { return a[name] }

func ref(name string) query.Ref            { return query.Ref{Name: name} }
func in(table, name string) query.Ref      { return query.Ref{Table: table, Name: name} }
func num(s string) json.Number             { return json.Number(s) }
func col(name string) query.Field          { return query.Field{Ref: ref(name)} }
func eq(name string, value any) query.Cond { return is(name, query.Eq, value) }

func is(name string, op query.Op, value any) query.Cond {
	return query.Cond{Ref: ref(name), Op: op, Value: value}
}

func TestParseDefaults(t *testing.T) {
	q, err := query.Parse(args{}.get)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&query.Query{Length: 20}); !reflect.DeepEqual(q, want) {
		t.Errorf("got %+v, want %+v", q, want)
	}
}

func TestParseFields(t *testing.T) {
	tests := []struct {
		name   string
		fields any
		want   []query.Field
	}{
		{"absent", nil, nil},
		{"empty text", "", nil},
		{"empty list", `[]`, nil},
		{"text", `["name","status"]`, []query.Field{col("name"), col("status")}},
		{"values", []any{"name", "status"}, []query.Field{col("name"), col("status")}},
		{"repeated", `["name","name"]`, []query.Field{col("name")}},
		{"spaces", `[" name "]`, []query.Field{col("name")}},
		{"star", `["*"]`, []query.Field{{Star: true}}},
		{"qualified star", "[\"`tabToDo`.*\"]", []query.Field{{Star: true}}},
		{"backquoted", "[\"`name`\"]", []query.Field{col("name")}},
		{"qualified", "[\"`tabNote Seen By`.`user`\"]", []query.Field{{Ref: in("Note Seen By", "user")}}},
		{"half quoted", "[\"`tabToDo`.name\"]", []query.Field{{Ref: in("ToDo", "name")}}},
		{"unquoted table", `["tabToDo.name"]`, []query.Field{{Ref: in("ToDo", "name")}}},
		{"link called like a table", `["table.name"]`, []query.Field{{Ref: in("table", "name")}}},
		{"dotted", `["allocated_to.email"]`, []query.Field{{Ref: in("allocated_to", "email")}}},
		{"alias", `["allocated_to.email as mail"]`, []query.Field{{Ref: in("allocated_to", "email"), Alias: "mail"}}},
		{"alias in capitals", "[\"seen_by.user  AS  `seen_by`\"]", []query.Field{{Ref: in("seen_by", "user"), Alias: "seen_by"}}},
		{"alias of a table with as", "[\"`tabFoo as Bar`.x as y\"]", []query.Field{{Ref: in("Foo as Bar", "x"), Alias: "y"}}},
		{"count", `["count(name) as n"]`, []query.Field{{Ref: ref("name"), Func: query.Count, Alias: "n"}}},
		{"count star", `["COUNT(*)"]`, []query.Field{{Star: true, Func: query.Count}}},
		{"child rows", `["name",{"seen_by":["user"," idx ","user"]},{"t":["*"]}]`, []query.Field{{Ref: query.Ref{Name: "name"}},
			{Ref: query.Ref{Name: "seen_by"}, Nested: &query.Nested{Fields: []string{"user", "idx"}}},
			{Ref: query.Ref{Name: "t"}, Nested: &query.Nested{Star: true}}}},
		{"aggregates", `["sum(x)","avg(x)","Min(x)","max( x )"]`, []query.Field{
			{Ref: ref("x"), Func: query.Sum}, {Ref: ref("x"), Func: query.Avg},
			{Ref: ref("x"), Func: query.Min}, {Ref: ref("x"), Func: query.Max}}},
		{"object", `[{"COUNT":"name","as":"n"}]`, []query.Field{{Ref: ref("name"), Func: query.Count, Alias: "n"}}},
		{"object without alias", `[{"sum":"a.b"}]`, []query.Field{{Ref: in("a", "b"), Func: query.Sum}}},
		{"object star", `[{"COUNT":"*"}]`, []query.Field{{Star: true, Func: query.Count}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := query.Parse(args{"fields": tt.fields}.get)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(q.Fields, tt.want) {
				t.Errorf("got %+v, want %+v", q.Fields, tt.want)
			}
		})
	}
}

func TestParseFilters(t *testing.T) {
	open := eq("status", "Open")
	high := eq("priority", "High")
	tests := []struct {
		name    string
		filters any
		or      any
		want    query.Expr
	}{
		{"absent", nil, nil, nil},
		{"empty list", `[]`, `[]`, nil},
		{"empty object", `{}`, `{}`, nil},
		{"null", `null`, ``, nil},
		{"triple", `[["status","=","Open"]]`, nil, open},
		{"triples", `[["status","=","Open"],["priority","=","High"]]`, nil, query.And{open, high}},
		{"values", []any{[]any{"status", "=", "Open"}}, nil, open},
		{"unwrapped triple", `["status","=","Open"]`, nil, open},
		{"unwrapped pair", `["idx",5]`, nil, eq("idx", num("5"))},
		{"unwrapped in", `["name","in",["a","b"]]`, nil, is("name", query.In, []any{"a", "b"})},
		{"pair", `[["status","Open"]]`, nil, open},
		{"four parts", `[["Note Seen By","user","=","x"]]`, nil, query.Cond{Ref: in("Note Seen By", "user"), Op: query.Eq, Value: "x"}},
		{"unwrapped four parts", `["ToDo","status","=","Open"]`, nil, query.Cond{Ref: in("ToDo", "status"), Op: query.Eq, Value: "Open"}},
		{"five parts", `[["ToDo","status","=","Open",false]]`, nil, query.Cond{Ref: in("ToDo", "status"), Op: query.Eq, Value: "Open"}},
		{"triple and a rest", `[["status","=","Open",false]]`, nil, open},
		{"qualified", "[[\"`tabNote Seen By`.`user`\",\"=\",\"x\"]]", nil, query.Cond{Ref: in("Note Seen By", "user"), Op: query.Eq, Value: "x"}},
		{"object", `{"status":"Open","idx":[">",1]}`, nil, query.And{is("idx", query.Gt, num("1")), open}},
		{"list of objects", `[{"status":"Open"},{"idx":[">",1]}]`, nil, query.And{open, is("idx", query.Gt, num("1"))}},
		{"names", `["a","b","c"]`, nil, is("name", query.In, []any{"a", "b", "c"})},
		{"two names", `["a","b"]`, nil, is("name", query.In, []any{"a", "b"})},
		{"numbers", `[1,2]`, nil, is("name", query.In, []any{num("1"), num("2")})},
		{"a name", `TODO-1`, nil, eq("name", "TODO-1")},
		{"a name as JSON", `"TODO-1"`, nil, eq("name", "TODO-1")},
		{"nested", `[["a","=",1],"and",[["b","=",2],"or",["c","=",3]]]`, nil,
			query.And{eq("a", num("1")), query.Or{eq("b", num("2")), eq("c", num("3"))}}},
		{"nested in brackets", `[[["a","=",1]],"AND",[[["b","=",2]],"or",[["c","=",3]]]]`, nil,
			query.And{eq("a", num("1")), query.Or{eq("b", num("2")), eq("c", num("3"))}}},
		{"left to right", `[["a",1],"or",["b",2],"and",["c",3]]`, nil,
			query.And{query.Or{eq("a", num("1")), eq("b", num("2"))}, eq("c", num("3"))}},
		{"or", nil, `[["status","=","Open"],["priority","=","High"]]`, query.Or{open, high}},
		{"or object", nil, `{"status":"Open","priority":"High"}`, query.Or{high, open}},
		{"or of groups", nil, `[[["a",1],["b",2]],{"c":3,"d":4}]`,
			query.Or{query.And{eq("a", num("1")), eq("b", num("2"))}, query.And{eq("c", num("3")), eq("d", num("4"))}}},
		{"both", `[["idx",1]]`, `[["status","Open"],["priority","High"]]`,
			query.And{eq("idx", num("1")), query.Or{open, high}}},
		{"same field twice", `[["a",1],["a",2]]`, nil, query.And{eq("a", num("1")), eq("a", num("2"))}},
		{"null value", `[["a","!=",null]]`, nil, is("a", query.Ne, nil)},
		{"boolean value", `[["a","=",true]]`, nil, eq("a", true)},
		{"empty element", `[[],["a",1]]`, nil, eq("a", num("1"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := query.Parse(args{"filters": tt.filters, "or_filters": tt.or}.get)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(q.Filter, tt.want) {
				t.Errorf("got  %#v\nwant %#v", q.Filter, tt.want)
			}
		})
	}
}

func TestParseOperators(t *testing.T) {
	tests := []struct {
		op    string
		value string
		want  query.Op
		val   any
	}{
		{"=", `"x"`, query.Eq, "x"},
		{"!=", `"x"`, query.Ne, "x"},
		{"<", `1`, query.Lt, num("1")},
		{">", `1.5`, query.Gt, num("1.5")},
		{"<=", `1`, query.Le, num("1")},
		{"=<", `1`, query.Le, num("1")},
		{">=", `1`, query.Ge, num("1")},
		{"=>", `1`, query.Ge, num("1")},
		{"LIKE", `"J%"`, query.Like, "J%"},
		{"ilike", `"J%"`, query.Like, "J%"},
		{"Not  Like", `"J%"`, query.NotLike, "J%"},
		{"in", `["a",1]`, query.In, []any{"a", num("1")}},
		{"in", `"DocType, DocField"`, query.In, []any{"DocType", "DocField"}},
		{"in", `"[\"a\",\"b\"]"`, query.In, []any{"a", "b"}},
		{"in", `null`, query.In, []any{}},
		{"in", `[]`, query.In, []any{}},
		{"in", `""`, query.In, []any{}},
		{"in", `5`, query.In, []any{num("5")}},
		{"NOT IN", `["a"]`, query.NotIn, []any{"a"}},
		{"is", `"set"`, query.Is, "set"},
		{"is", `"Not Set"`, query.Is, "not set"},
		{"is", `null`, query.Is, "not set"},
		{"between", `["2016-07-06","2016-07-07"]`, query.Between, []any{"2016-07-06", "2016-07-07"}},
		{"between", `"2016-07-06, 2016-07-07"`, query.Between, []any{"2016-07-06", "2016-07-07"}},
		{"between", `["2016-07-06"]`, query.Between, []any{"2016-07-06"}},
		{"between", `[]`, query.Between, []any{}},
		{"between", `["2016-07-06",null]`, query.Between, []any{"2016-07-06", nil}},
		{"timespan", `"last 7 days"`, query.Timespan, "last 7 days"},
		{"previous", `"1 week"`, query.Previous, "1 week"},
		{"next", `"1 year"`, query.Next, "1 year"},
		{"descendants of", `"A"`, query.Descendants, "A"},
		{"not descendants of", `"A"`, query.NotDesc, "A"},
		{"Descendants Of (Inclusive)", `"A"`, query.DescIncl, "A"},
		{"ancestors of", `"A"`, query.Ancestors, "A"},
		{"not ancestors of", `"A"`, query.NotAnc, "A"},
	}
	for _, tt := range tests {
		t.Run(tt.op+" "+tt.value, func(t *testing.T) {
			q, err := query.Parse(args{"filters": fmt.Sprintf(`[["f",%q,%s]]`, tt.op, tt.value)}.get)
			if err != nil {
				t.Fatal(err)
			}
			if want := is("f", tt.want, tt.val); !reflect.DeepEqual(q.Filter, query.Expr(want)) {
				t.Errorf("got %#v, want %#v", q.Filter, want)
			}
		})
	}
}

func TestParseOrderAndGroup(t *testing.T) {
	tests := []struct {
		order, group string
		want         []query.Order
		groups       []query.Ref
	}{
		{"", "", nil, nil},
		{"modified", "", []query.Order{{Ref: ref("modified")}}, nil},
		{"modified desc", "", []query.Order{{Ref: ref("modified"), Desc: true}}, nil},
		{" modified  DESC ,name Asc", "", []query.Order{{Ref: ref("modified"), Desc: true}, {Ref: ref("name")}}, nil},
		{"`tabNote Seen By`.`user` desc", "", []query.Order{{Ref: in("Note Seen By", "user"), Desc: true}}, nil},
		{"`tabNote Seen By`.`user`", "", []query.Order{{Ref: in("Note Seen By", "user")}}, nil},
		{"`name` asc", "", []query.Order{{Ref: ref("name")}}, nil},
		{"1 desc", "", []query.Order{{Ref: ref("status"), Desc: true}}, nil},
		{"2", "", []query.Order{{Ref: ref("n")}}, nil},
		{"n desc", "status, owner", []query.Order{{Ref: ref("n"), Desc: true}}, []query.Ref{ref("status"), ref("owner")}},
	}
	for _, tt := range tests {
		t.Run(tt.order, func(t *testing.T) {
			q, err := query.Parse(args{"fields": `["status","count(name) as n"]`, "order_by": tt.order, "group_by": tt.group}.get)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(q.Order, tt.want) || !reflect.DeepEqual(q.Group, tt.groups) {
				t.Errorf("got %+v, %+v", q.Order, q.Group)
			}
		})
	}
}

func TestParsePage(t *testing.T) {
	tests := []struct {
		name          string
		args          args
		start, length int
		arrays, debug bool
	}{
		{"none", args{}, 0, 20, false, false},
		{"length", args{"limit_page_length": "5", "limit": "7"}, 0, 5, false, false},
		{"limit", args{"limit": "7"}, 0, 7, false, false},
		{"all", args{"limit_page_length": "0"}, 0, 0, false, false},
		{"limit all", args{"limit": num("0")}, 0, 0, false, false},
		{"empty", args{"limit": ""}, 0, 20, false, false},
		{"start", args{"limit_start": "3"}, 3, 20, false, false},
		{"start alias", args{"start": num("3")}, 3, 20, false, false},
		{"start not a number", args{"limit_start": "x"}, 0, 20, false, false},
		{"huge", args{"limit": "99999999999999999999"}, 0, 1<<31 - 1, false, false},
		{"a whole float", args{"limit": float64(3)}, 0, 3, false, false},
		{"arrays", args{"as_dict": "False"}, 0, 20, true, false},
		{"arrays 0", args{"as_dict": num("0")}, 0, 20, true, false},
		{"arrays false", args{"as_dict": false}, 0, 20, true, false},
		{"debug", args{"debug": "True"}, 0, 20, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := query.Parse(tt.args.get)
			if err != nil {
				t.Fatal(err)
			}
			if q.Start != tt.start || q.Length != tt.length || q.AsArrays != tt.arrays || q.Debug != tt.debug {
				t.Errorf("got %+v", q)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	many := func(n int, item string) string { return "[" + strings.Repeat(item+",", n) + item + "]" }
	tests := []struct {
		name    string
		args    args
		excType string
		message string
	}{
		{"fields no array", args{"fields": `"name"`}, "DataError", "fields must be a JSON array"},
		{"fields no JSON", args{"fields": `name`}, "DataError", "fields is not valid JSON"},
		{"fields more than one value", args{"fields": `["a"] ["b"]`}, "DataError", ""},
		{"fields of numbers", args{"fields": `[1]`}, "DataError", ""},
		{"function in field", args{"fields": `["name","issingle, version()"]`}, "DataError", "Field not permitted in query: issingle, version()"},
		{"function", args{"fields": `["sleep(1)"]`}, "DataError", "Field not permitted"},
		{"function object", args{"fields": `[{"SLEEP":"1"}]`}, "DataError", "Field not permitted"},
		{"two functions", args{"fields": `[{"SUM":"a","AVG":"b"}]`}, "DataError", ""},
		{"child rows without fields", args{"fields": `[{"seen_by":[]}]`}, "DataError", ""},
		{"child rows with an alias", args{"fields": `[{"seen_by":["user"],"as":"s"}]`}, "DataError", ""},
		{"child rows of child rows", args{"fields": `[{"seen_by":["user.name"]}]`}, "DataError", ""},
		{"sub-select", args{"fields": `["(select 1)"]`}, "DataError", ""},
		{"quotes", args{"fields": `["name'"]`}, "DataError", ""},
		{"comment", args{"fields": `["name--"]`}, "DataError", ""},
		{"semicolon", args{"fields": `["name;"]`}, "DataError", ""},
		{"variable", args{"fields": `["@@version"]`}, "DataError", ""},
		{"union", args{"fields": `["name union select 1"]`}, "DataError", ""},
		{"three parts", args{"fields": `["a.b.c"]`}, "DataError", ""},
		{"open backquote", args{"fields": "[\"`name\"]"}, "DataError", ""},
		{"alias with quote", args{"fields": `["name as n'"]`}, "DataError", ""},
		{"star with alias", args{"fields": `["* as x"]`}, "DataError", ""},
		{"sum of star", args{"fields": `["sum(*)"]`}, "DataError", ""},
		{"long name", args{"fields": `["` + strings.Repeat("a", 500) + `"]`}, "DataError", strings.Repeat("a", 140) + "..."},
		{"too many fields", args{"fields": many(300, `"a"`)}, "DataError", ""},
		{"expand no array", args{"expand": `owner`}, "DataError", ""},
		{"expand dotted", args{"expand": `["a.b"]`}, "DataError", ""},
		{"filters no JSON", args{"filters": `[["a"`}, "DataError", "filters is not valid JSON"},
		{"filters a boolean", args{"filters": true}, "DataError", ""},
		{"filter of numbers", args{"filters": `[[1,"=",2]]`}, "DataError", ""},
		{"filter of one part", args{"filters": `[["a"]]`}, "DataError", ""},
		{"filter of six parts", args{"filters": `[["a","b","=","c","d","e"]]`}, "DataError", ""},
		{"filter name", args{"filters": `[["a b","=","c"]]`}, "DataError", "Field not permitted in query: a b"},
		{"filter object name", args{"filters": `{"1=1 or a":"c"}`}, "DataError", "Field not permitted"},
		{"filter DocType", args{"filters": `[["To'Do","a","=","c"]]`}, "DataError", "Field not permitted"},
		{"operator", args{"filters": `[["a","~~","c"]]`}, "ValidationError", "Operator must be one of =, !="},
		{"operator in object", args{"filters": `{"a":["~~","c"]}`}, "ValidationError", "Operator must be one of"},
		{"operator in four parts", args{"filters": `[["ToDo","a","~~","c"]]`}, "ValidationError", "Operator must be one of"},
		{"operator no text", args{"filters": `[["a",1,"c"]]`}, "ValidationError", "Operator must be one of"},
		{"value a list", args{"filters": `[["a","=",["c"]]]`}, "DataError", ""},
		{"value an object", args{"filters": `[["a","=",{"b":1}]]`}, "DataError", ""},
		{"in of lists", args{"filters": `[["a","in",[["b"]]]]`}, "DataError", ""},
		{"value with NUL", args{"filters": `[["a","=","\u0000"]]`}, "DataError", ""},
		{"value not UTF-8", args{"filters": []any{[]any{"a", "=", "\xff"}}}, "DataError", ""},
		{"between three", args{"filters": `[["a","between",[1,2,3]]]`}, "ValidationError", ""},
		{"is", args{"filters": `[["a","is","null"]]`}, "ValidationError", ""},
		{"connective first", args{"filters": `["and"]`, "or_filters": `[[["a",1],"and"]]`}, "DataError", ""},
		{"two connectives", args{"filters": `[["a",1],"and","or",["b",1]]`}, "DataError", ""},
		{"depth", args{"filters": strings.Repeat("[", 40) + `"a",1` + strings.Repeat("]", 40)}, "DataError", ""},
		{"too many filters", args{"filters": many(600, `["a",1]`)}, "DataError", ""},
		{"too many values", args{"filters": `[["a","in",` + many(30_000, "1") + `]]`}, "DataError", ""},
		{"too many words", args{"filters": []any{[]any{"a", "in", strings.Repeat(",", 30_000)}}}, "DataError", ""},
		{"too long", args{"filters": "[" + strings.Repeat(" ", 2<<20) + "]"}, "DataError", ""},
		{"order by sub-select", args{"order_by": `(select 1) asc`}, "ValidationError", "Cannot order by"},
		{"order by function", args{"order_by": `sleep(1)`}, "ValidationError", "Cannot order by"},
		{"order by SQL", args{"order_by": `name; drop table x`}, "ValidationError", ""},
		{"order by nothing", args{"order_by": `name,,modified`}, "ValidationError", ""},
		{"order by a number too high", args{"order_by": `2`}, "ValidationError", ""},
		{"order by number 0", args{"order_by": `0`}, "ValidationError", ""},
		{"order by a list", args{"order_by": []any{"name"}}, "ValidationError", ""},
		{"order by much", args{"order_by": strings.Repeat("a,", 50) + "a"}, "ValidationError", ""},
		{"group by function", args{"group_by": `sleep(1)`}, "ValidationError", "Cannot group by"},
		{"negative length", args{"limit_page_length": "-1"}, "ValidationError", "negative"},
		{"negative limit", args{"limit": "-1"}, "ValidationError", "negative"},
		{"negative start", args{"limit_start": "-1"}, "ValidationError", "negative"},
		{"limit not a number", args{"limit": "all"}, "ValidationError", ""},
		{"parent", args{"parent": "a'b"}, "DataError", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := query.Parse(tt.args.get)
			e := fault.From(err)
			if e == nil || e.Kind != fault.Validation || e.ExcType() != tt.excType || !strings.Contains(e.Message, tt.message) {
				t.Fatalf("got %v, want %s %q", err, tt.excType, tt.message)
			}
			if len(e.Message) > 800 {
				t.Errorf("the message has %d bytes", len(e.Message))
			}
		})
	}
}
