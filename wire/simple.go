package wire

import "context"

// query serves a Query message.
func (c *conn) query(body []byte) {
	c.results.simple = true
	c.call(func(ctx context.Context) error {
		sql, err := decodeQuery(body, c.out.enc)
		if err != nil {
			return err
		}
		return c.sess.Simple(ctx, sql, &c.results)
	})
	c.results.simple = false
	c.ready()
}
