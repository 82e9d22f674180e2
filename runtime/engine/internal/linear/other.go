//go:build !linux

package linear

import "fmt"

func open(m Method) (Maker, error) {
	if m != "" {
		return nil, fmt.Errorf("memory method %s is not available on this system", m)
	}
	return heapMaker{}, nil
}
