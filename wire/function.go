package wire

import (
	"context"

	"kvsqld/catalog/sqlerr"
)

// FunctionCall is a decoded FunctionCall message: a function by its OID, called outside
// of any statement. libpq's functions for large objects are made of such calls.
type FunctionCall struct {
	Function uint32
	// ArgFormats holds 0, 1 or len(Args) format codes; the wire has checked that.
	ArgFormats   []int16
	Args         [][]byte // nil is NULL
	ResultFormat int16
}

// functionCall serves a FunctionCall message. The session's result is one row of one
// column, which is sent as a FunctionCallResponse.
func (c *conn) functionCall(body []byte) {
	c.results.function = true
	c.call(func(ctx context.Context) error {
		if err := decodeFunctionCall(body, &c.function, &c.names); err != nil {
			return err
		}
		return c.sess.FunctionCall(ctx, &c.function, &c.results)
	})
	c.results.function = false
	c.ready()
}

// decodeFunctionCall reads into f, whose slices alias the body (W3).
func decodeFunctionCall(body []byte, f *FunctionCall, known *names) error {
	c := cursor{b: body}
	f.Function = uint32(c.int32())
	f.ArgFormats = c.formats(f.ArgFormats[:0])
	f.Args = f.Args[:0]
	for n := c.count(4); n > 0; n-- {
		size := c.int32()
		if size == -1 {
			f.Args = append(f.Args, nil)
			continue
		}
		f.Args = append(f.Args, c.bytes(int(size)))
	}
	f.ResultFormat = c.int16()
	if err := c.end(); err != nil {
		return err
	}
	if n := len(f.ArgFormats); n > 1 && n != len(f.Args) {
		return sqlerr.New(sqlerr.ProtocolViolation, "function call message contains %d argument formats but %d arguments", n, len(f.Args))
	}
	if err := checkFormats(f.ArgFormats); err != nil {
		return err
	}
	if err := checkFormats([]int16{f.ResultFormat}); err != nil {
		return err
	}
	for i, a := range f.Args {
		if FormatOf(f.ArgFormats, i) != formatText || a == nil {
			continue
		}
		t, err := text(a, known.enc)
		if err != nil {
			return err
		}
		f.Args[i] = t
	}
	return nil
}
