package wire

import "context"

// extended runs one message of the extended protocol. After a failure the
// connection skips to the next Sync (W5); the error leaves at once, because a
// client may be waiting for it behind a Flush, which is skipped as well.
func (c *conn) extended(f func(ctx context.Context) error) {
	if c.call(f) {
		return
	}
	c.skip = true
	if c.out.flush() != nil {
		c.closing = true
	}
}

func (c *conn) handleParse(body []byte) {
	c.extended(func(ctx context.Context) error {
		m := &c.parse
		if err := decodeParse(body, m, c.out.enc); err != nil {
			return err
		}
		if err := c.sess.Parse(ctx, m.Name, m.Query, m.ParameterOIDs); err != nil {
			return err
		}
		c.out.empty('1')
		return nil
	})
}

func (c *conn) handleBind(body []byte) {
	c.extended(func(ctx context.Context) error {
		if err := decodeBind(body, &c.bind, &c.names); err != nil {
			return err
		}
		if err := c.sess.Bind(ctx, &c.bind); err != nil {
			return err
		}
		c.out.empty('2')
		return nil
	})
}

func (c *conn) handleDescribe(body []byte) {
	c.extended(func(ctx context.Context) error {
		kind, name, err := decodeTarget(body, "DESCRIBE", &c.names)
		if err != nil {
			return err
		}
		var cols []Column
		var formats []int16
		if kind == 'S' {
			var params []uint32
			params, cols, err = c.sess.DescribeStatement(ctx, name)
			if err == nil || params != nil { // the columns may fail alone
				c.out.parameterDescription(params)
			}
			if err != nil {
				return err
			}
		} else if cols, formats, err = c.sess.DescribePortal(ctx, name); err != nil {
			return err
		}
		if cols == nil {
			c.out.empty('n')
		} else {
			c.out.rowDescription(cols, formats)
		}
		return nil
	})
}

func (c *conn) handleExecute(body []byte) {
	c.extended(func(ctx context.Context) error {
		if err := decodeExecute(body, &c.execute, &c.names); err != nil {
			return err
		}
		return c.sess.Execute(ctx, c.execute.Portal, int(c.execute.MaxRows), &c.results)
	})
	if c.out.flushFull() != nil {
		c.closing = true
	}
}

func (c *conn) handleClose(body []byte) {
	c.extended(func(context.Context) error {
		kind, name, err := decodeTarget(body, "CLOSE", &c.names)
		if err != nil {
			return err
		}
		if kind == 'S' {
			err = c.sess.CloseStatement(name)
		} else {
			err = c.sess.ClosePortal(name)
		}
		if err != nil {
			return err
		}
		delete(c.names.known, name)
		c.out.empty('3')
		return nil
	})
}

// sync ends a sequence, failed or not.
func (c *conn) sync(body []byte) {
	c.skip = false
	c.call(func(ctx context.Context) error {
		m := cursor{b: body}
		if err := m.end(); err != nil {
			return err
		}
		return c.sess.Sync(ctx, &c.results)
	})
	c.ready()
}
