package httpapi_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/sites/sitetest"
)

// atOnce runs fn n times beside each other.
func atOnce(n int, fn func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}

// TestIncrements: a number that is changed relative to what is stored loses
// nothing and keeps its bounds.
func TestIncrements(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Item", []obj{{"fieldname": "stock", "fieldtype": "Int"}, {"fieldname": "price", "fieldtype": "Float"},
			{"fieldname": "note", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Item", obj{"name": "I", "stock": 50, "price": 1.5}).OK(t)
		const path = "/api/resource/Item/I"
		var sold atomic.Int64
		atOnce(8, func(int) {
			for range 10 {
				switch r := s.Admin.Put(path, obj{"stock": obj{"$inc": -1, "$min": 0}}); r.Status {
				case 200:
					sold.Add(1)
				default:
					r.Fails(t, 417, "ValidationError")
				}
			}
		})
		if left := s.Admin.Get(path).OK(t).Data(t)["stock"]; sold.Load() != 50 || left != 0.0 {
			t.Errorf("sold %d of 50, left %v", sold.Load(), left)
		}
		for _, bad := range []obj{
			{"stock": obj{"$inc": 1, "$max": 0}}, {"stock": obj{"$inc": 0.5}}, {"stock": obj{"$inc": "1"}}, {"stock": obj{"$min": 0}},
			{"stock": obj{"$inc": 1, "$mul": 2}}, {"stock": obj{"$inc": nil}}, {"note": obj{"$inc": 1}}, {"price": obj{"$inc": true}},
		} {
			if r := s.Admin.Put(path, bad); r.Status != 417 {
				t.Errorf("%v: %d", bad, r.Status)
			}
		}
		s.Admin.Post("/api/resource/Item", obj{"name": "J", "stock": obj{"$inc": 1}}).Fails(t, 417, "DataError")
		s.Admin.Put(path, obj{"stock": int64(1 << 53)}).OK(t)
		s.Admin.Put(path, obj{"stock": obj{"$inc": int64(1<<63 - 1)}}).Fails(t, 417, "ValidationError")
		if got := s.Admin.Put(path, obj{"price": obj{"$inc": 0.25}}).OK(t).Data(t)["price"]; got != 1.75 {
			t.Errorf("price is %v", got)
		}
	})
}

// TestLinksUnderRaces: what is linked to is not deleted meanwhile.
func TestLinksUnderRaces(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Target", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		newDocType(t, s.Admin, "Pointer", []obj{{"fieldname": "to", "fieldtype": "Link", "options": "Target"}}, nil)
		const rounds = 30
		for i := range rounds {
			s.Admin.Post("/api/resource/Target", obj{"name": fmt.Sprint("T", i)}).OK(t)
		}
		atOnce(2, func(side int) {
			for i := range rounds {
				name := fmt.Sprint("T", i)
				var r *sitetest.Reply
				if side == 0 {
					r = s.Admin.Delete("/api/resource/Target/" + name)
				} else {
					r = s.Admin.Post("/api/resource/Pointer", obj{"to": name})
				}
				if r.Status >= 500 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			}
		})
		there := map[any]bool{}
		for _, name := range s.Admin.Get("/api/resource/Target", "limit", "0").Column(t, "name") {
			there[name] = true
		}
		for _, to := range s.Admin.Get("/api/resource/Pointer", "fields", []string{"to"}, "limit", "0").Column(t, "to") {
			if !there[to] {
				t.Errorf("a link names %v, which is gone", to)
			}
		}
	})
}

// TestRowsUnderRaces: rows that clients add to one document at once are all there.
func TestRowsUnderRaces(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Line", []obj{{"fieldname": "item", "fieldtype": "Data"}}, obj{"istable": 1, "permissions": []obj{}})
		newDocType(t, s.Admin, "Bill", []obj{{"fieldname": "lines", "fieldtype": "Table", "options": "Line"}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Bill", obj{"name": "B"}).OK(t)
		atOnce(4, func(w int) {
			for i := range 10 {
				s.Admin.Post("/api/method/framework.client.insert", obj{"doc": obj{"doctype": "Line", "item": fmt.Sprint(w, " ", i),
					"parent": "B", "parenttype": "Bill", "parentfield": "lines"}}).OK(t)
			}
		})
		if n := len(s.Admin.Get("/api/resource/Bill/B").OK(t).Data(t)["lines"].([]any)); n != 40 {
			t.Errorf("40 rows were acknowledged, %d are stored", n)
		}
	})
}

// TestTreesUnderRaces: two moves do not make a circle.
func TestTreesUnderRaces(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Place", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"is_tree": 1, "autoname": "field:title"})
		for round := range 10 {
			a, b := fmt.Sprint("a", round), fmt.Sprint("b", round)
			s.Admin.Post("/api/resource/Place", obj{"title": a, "is_group": 1}).OK(t)
			s.Admin.Post("/api/resource/Place", obj{"title": b, "is_group": 1}).OK(t)
			var moved atomic.Int64
			atOnce(2, func(i int) {
				from, to := a, b
				if i == 1 {
					from, to = b, a
				}
				if r := s.Admin.Put("/api/resource/Place/"+from, obj{"parent_place": to}); r.Status == 200 {
					moved.Add(1)
				}
			})
			if moved.Load() != 1 {
				t.Errorf("round %d: %d of two moves that exclude each other were made", round, moved.Load())
			}
		}
	})
}
