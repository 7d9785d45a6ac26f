package catalog

import "slices"

// Options are parameters of WITH (…) and SET (…), in the order in which they were last
// given, which is that of pg_class. A list is not changed once it is made.
type Options []Option

// Option is a parameter and the text of its value.
type Option struct{ Name, Value string }

// Get returns a parameter's value; ok is false where it is not given.
func (o Options) Get(name string) (value string, ok bool) {
	i := slices.IndexFunc(o, func(x Option) bool { return x.Name == name })
	if i < 0 {
		return "", false
	}
	return o[i].Value, true
}

// Value is a parameter's value, "" where it is not given.
func (o Options) Value(name string) string {
	v, _ := o.Get(name)
	return v
}

// With returns the list with a parameter that is given anew: it is the last.
func (o Options) With(name, value string) Options {
	return append(o.Without(name), Option{name, value})
}

// Without returns the list without parameters, nil for none.
func (o Options) Without(names ...string) Options {
	var out Options
	for _, x := range o {
		if !slices.Contains(names, x.Name) {
			out = append(out, x)
		}
	}
	return out
}

// Map returns the values by name.
func (o Options) Map() map[string]string {
	out := make(map[string]string, len(o))
	for _, x := range o {
		out[x.Name] = x.Value
	}
	return out
}
