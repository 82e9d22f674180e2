package testbench

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"armature/core/fault"
	"armature/runtime/abi"
)

// maxPiped bounds a request, as a capability's is.
const maxPiped = 64 << 20

// Pipe answers a native program of tests until its end of the pipe is closed. Each
// request is its length in four bytes, big-endian, and so many bytes: a function as
// module.name, a line feed, and what it is asked for, JSON for a capability. An
// answer is its length, the kind of an error or 0 in four bytes each, and its bytes.
func (b *Bench) Pipe(ctx context.Context, in io.Reader, out io.Writer) error {
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	for ctx.Err() == nil {
		var length uint32
		if err := binary.Read(r, binary.BigEndian, &length); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if length > maxPiped {
			return fmt.Errorf("a request of %d bytes; the most is %d", length, maxPiped)
		}
		request := make([]byte, length)
		if _, err := io.ReadFull(r, request); err != nil {
			return err
		}
		name, body, _ := strings.Cut(string(request), "\n")
		kind := fault.Kind(0)
		answer, err := b.piped(ctx, name, []byte(body))
		if err != nil {
			f := fault.From(err)
			kind = f.Kind
			if answer, err = json.Marshal(map[string]string{"exc_type": f.ExcType(), "message": f.Message}); err != nil {
				return err
			}
		}
		head := binary.BigEndian.AppendUint32(nil, uint32(len(answer)))
		head = binary.BigEndian.AppendUint32(head, uint32(kind))
		_, _ = w.Write(head) // the writer keeps its first error
		_, _ = w.Write(answer)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// piped is one answer.
func (b *Bench) piped(ctx context.Context, name string, request []byte) ([]byte, error) {
	module, function, _ := strings.Cut(name, ".")
	if module != abi.Module && module != abi.TestModule {
		return nil, fault.New(fault.NotImplemented, "", "There is no %s", name)
	}
	switch {
	case module == abi.TestModule:
	case function == abi.Now:
		return strconv.AppendInt(nil, b.Now().UnixMicro(), 10), nil
	case function == abi.Random:
		n, err := strconv.Atoi(string(request))
		if err != nil || n < 0 || n > maxPiped {
			return nil, fault.New(fault.BadRequest, "", "random: expected how many bytes")
		}
		bytes := make([]byte, n)
		_, err = b.Read(bytes)
		return bytes, err
	}
	return b.Answer(ctx, module, function, request)
}
