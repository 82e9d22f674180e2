package notice

import (
	"context"
	"strings"
	"testing"
)

func TestListIsBounded(t *testing.T) {
	l := &List{}
	for range MaxNotices + 7 {
		Of(With(context.Background(), l)).Add(Notice{Text: "t"})
	}
	if all := l.All(); len(all) != MaxNotices+1 || all[MaxNotices].Text != "and 7 more" {
		t.Errorf("told %d: %v", len(all), all[len(all)-1])
	}
	l = &List{}
	for range 20 {
		l.Add(Notice{Text: strings.Repeat("x", MaxBytes/10), Title: "y"})
	}
	if all := l.All(); len(all) != 10 || all[9].Text != "and 11 more" {
		t.Errorf("told %d: %.40v", len(all), all[len(all)-1])
	}
}

func TestListGoesBack(t *testing.T) {
	l := &List{}
	l.Add(Notice{Text: "stays"})
	mark := l.Mark()
	for range MaxNotices * 2 {
		l.Add(Notice{Text: "undone"})
	}
	l.Back(mark)
	l.Add(Notice{Text: "after"})
	if all := l.All(); len(all) != 2 || all[0].Text != "stays" || all[1].Text != "after" {
		t.Errorf("told %v", all)
	}
	if none := Of(context.Background()); none != nil {
		t.Error("somebody listens")
	} else {
		none.Add(Notice{})
		none.Back(none.Mark())
		if len(none.All()) != 0 {
			t.Error("nobody was told something")
		}
	}
}
