package expr

// compiledCache keeps what a call made of its patterns: that of the row before
// at hand, others of a non-constant pattern in a map of bounded size.
type compiledCache[V any] struct {
	text string
	val  V
	some bool
	more map[string]V
}

const maxCompiled = 64

// compiledBytes is about what a pattern's elements take for a byte of its text, while
// their list grows.
const compiledBytes = 100

// pollNow asks poll now and then, in a loop that did n rounds, whether to go on.
func pollNow(n int, poll func() error) error {
	const every = 1 << 16
	if n%every != every-1 || poll == nil {
		return nil
	}
	return poll()
}

// compiled returns what build makes of the pattern, built once as long as the
// pattern comes again. A call uses it for one kind of pattern.
func compiled[V any](c *callCtx, text []byte, build func(text string, poll func() error) (V, error)) (V, error) {
	k, _ := c.state.(*compiledCache[V])
	if k == nil {
		k = &compiledCache[V]{}
		c.state = k
	}
	if k.some && k.text == string(text) {
		return k.val, nil
	}
	v, ok := k.more[string(text)]
	if !ok {
		err := c.room(compiledBytes * int64(len(text)))
		if err != nil {
			return v, err
		}
		if v, err = build(string(text), c.poll()); err != nil {
			return v, err
		}
		switch {
		case !k.some: // the first pattern, often the only one
		case k.more == nil || len(k.more) >= maxCompiled:
			k.more = map[string]V{string(text): v}
		default:
			k.more[string(text)] = v
		}
	}
	k.text, k.val, k.some = string(text), v, true
	return v, nil
}
