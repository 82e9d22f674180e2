package judge

import (
	"fmt"
	"strings"
)

// dependency is why one transaction comes before another.
type dependency uint8

const (
	writeWrite dependency = iota // the other appended next
	writeRead                    // the other read what this one appended last
	readWrite                    // the other appended what this one did not see yet
)

func (d dependency) String() string { return [...]string{"ww", "wr", "rw"}[d] }

// graph has an edge from each transaction to those that came after it.
type graph struct {
	next []map[int]dependency // by index; of several reasons the strongest
}

func (g *graph) add(from, to int, d dependency) {
	if from == to {
		return
	}
	if g.next[from] == nil {
		g.next[from] = map[int]dependency{}
	}
	if had, ok := g.next[from][to]; !ok || d < had {
		g.next[from][to] = d
	}
}

// cycles finds transactions that came before each other.
func (h *history) cycles() {
	g := &graph{next: make([]map[int]dependency, len(h.txns))}
	place := map[int64]int{} // of a value in its list
	for _, list := range h.order {
		for i, v := range list {
			place[v] = i
			if i == 0 {
				continue
			}
			before, known := h.writer[list[i-1]]
			after, knownToo := h.writer[v]
			if known && knownToo {
				g.add(before, after, writeWrite)
			}
		}
	}
	for i, t := range h.txns {
		if t.Outcome != Done {
			continue // what it read nobody knows
		}
		mine := map[string]bool{}
		for _, op := range t.Ops {
			if op.Append != 0 {
				mine[op.Key] = true
				continue
			}
			if mine[op.Key] {
				continue // what it saw is its own
			}
			h.saw(g, i, op)
		}
	}
	for _, part := range g.components() {
		cycle := g.shortest(part)
		h.find(kindOf(cycle), "%s", h.describe(cycle))
	}
}

// saw adds what follows from one read.
func (h *history) saw(g *graph, reader int, op Op) {
	order := h.order[op.Key]
	if n := len(op.Read); n > 0 {
		if w, ok := h.writer[op.Read[n-1]]; ok {
			g.add(w, reader, writeRead)
		}
	}
	if n := len(op.Read); n < len(order) {
		if w, ok := h.writer[order[n]]; ok {
			g.add(reader, w, readWrite)
		}
	}
}

// step is one edge of a cycle.
type step struct {
	from, to int
	why      dependency
}

func kindOf(cycle []step) Kind {
	var count [3]int
	for _, s := range cycle {
		count[s.why]++
	}
	switch {
	case count[readWrite] > 1:
		return WriteSkew
	case count[readWrite] == 1:
		return ReadSkew
	case count[writeRead] > 0:
		return Circular
	}
	return Dirty
}

func (h *history) describe(cycle []step) string {
	var b strings.Builder
	for i, s := range cycle {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %v -%s-> %s %v", h.txns[s.from].By, h.txns[s.from].Ops, s.why, h.txns[s.to].By, h.txns[s.to].Ops)
	}
	return b.String()
}

// components are the sets of transactions each of which can be reached from each
// other (Tarjan's algorithm, without recursion), those of one left out.
func (g *graph) components() [][]int {
	n := len(g.next)
	index, low := make([]int, n), make([]int, n)
	on := make([]bool, n)
	var stack []int
	var found [][]int
	count := 0
	type frame struct {
		at   int
		left []int
	}
	for root := range n {
		if index[root] != 0 {
			continue
		}
		work := []frame{{root, g.after(root)}}
		count++
		index[root], low[root], on[root] = count, count, true
		stack = append(stack, root)
		for len(work) > 0 {
			top := &work[len(work)-1]
			if len(top.left) > 0 {
				to := top.left[0]
				top.left = top.left[1:]
				switch {
				case index[to] == 0:
					count++
					index[to], low[to], on[to] = count, count, true
					stack = append(stack, to)
					work = append(work, frame{to, g.after(to)})
				case on[to]:
					low[top.at] = min(low[top.at], index[to])
				}
				continue
			}
			at := top.at
			work = work[:len(work)-1]
			if len(work) > 0 {
				up := work[len(work)-1].at
				low[up] = min(low[up], low[at])
			}
			if low[at] != index[at] {
				continue
			}
			var part []int
			for {
				last := stack[len(stack)-1]
				stack, on[last] = stack[:len(stack)-1], false
				part = append(part, last)
				if last == at {
					break
				}
			}
			if len(part) > 1 {
				found = append(found, part)
			}
		}
	}
	return found
}

func (g *graph) after(i int) []int {
	all := make([]int, 0, len(g.next[i]))
	for to := range g.next[i] {
		all = append(all, to)
	}
	return all
}

// shortest is a shortest cycle within a component, of the first transactions of it:
// one is enough to show.
func (g *graph) shortest(part []int) []step {
	in := make(map[int]bool, len(part))
	for _, i := range part {
		in[i] = true
	}
	var best []step
	for _, start := range part[:min(len(part), 50)] {
		if c := g.around(start, in); best == nil || c != nil && len(c) < len(best) {
			best = c
		}
	}
	return best
}

// around is a shortest way from start back to it.
func (g *graph) around(start int, in map[int]bool) []step {
	came := map[int]step{}
	queue := []int{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for to, why := range g.next[at] {
			s := step{at, to, why}
			if to == start {
				cycle := []step{s}
				for at != start {
					s = came[at]
					cycle = append([]step{s}, cycle...)
					at = s.from
				}
				return cycle
			}
			if _, seen := came[to]; !seen && in[to] {
				came[to] = s
				queue = append(queue, to)
			}
		}
	}
	return nil
}
