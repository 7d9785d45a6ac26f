package expr

import (
	"fmt"
	"math/big"
	"net/netip"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func networkFuncs(r *registry) {
	sub := func(a, b []byte, strict bool) bool {
		x, xb := types.Inet(a)
		y, yb := types.Inet(b)
		if x.BitLen() != y.BitLen() || xb < yb || strict && xb == yb {
			return false
		}
		return commonBits(x, y, yb) == yb
	}
	test := func(f func(a, b []byte) bool, src string) {
		r.add(fn2(func(_ *callCtx, a, b []byte) (bool, error) { return f(a, b), nil }), src)
	}
	test(func(a, b []byte) bool { return sub(a, b, true) }, "network_sub")
	test(func(a, b []byte) bool { return sub(a, b, false) }, "network_subeq")
	test(func(a, b []byte) bool { return sub(b, a, true) }, "network_sup")
	test(func(a, b []byte) bool { return sub(b, a, false) }, "network_supeq")
	test(func(a, b []byte) bool { return sub(a, b, false) || sub(b, a, false) }, "network_overlap")
	test(func(a, b []byte) bool {
		x, _ := types.Inet(a)
		y, _ := types.Inet(b)
		return x.BitLen() == y.BitLen()
	}, "inet_same_family")

	number := func(f func(a netip.Addr, bits int) int64, src string) {
		r.add(fn1(func(_ *callCtx, b []byte) (int64, error) {
			a, bits := types.Inet(b)
			return f(a, bits), nil
		}), src)
	}
	number(func(_ netip.Addr, bits int) int64 { return int64(bits) }, "network_masklen")
	number(func(a netip.Addr, _ int) int64 {
		if a.Is4() {
			return 4
		}
		return 6
	}, "network_family")

	inet := func(f func(a netip.Addr, bits int) (netip.Addr, int), cidr bool, srcs ...string) {
		r.add(fn1(func(_ *callCtx, b []byte) ([]byte, error) {
			a, n := f(types.Inet(b))
			return types.NewInet(a, n, cidr), nil
		}), srcs...)
	}
	inet(func(a netip.Addr, n int) (netip.Addr, int) { return a, n }, true, "network_network", "inet_to_cidr")
	inet(func(a netip.Addr, n int) (netip.Addr, int) { return orMask(a, n, false), n }, false, "network_broadcast")
	inet(func(a netip.Addr, n int) (netip.Addr, int) { return orMask(zeroAddr(a), n, true), a.BitLen() }, false, "network_netmask")
	inet(func(a netip.Addr, n int) (netip.Addr, int) { return orMask(zeroAddr(a), n, false), a.BitLen() }, false, "network_hostmask")
	inet(func(a netip.Addr, n int) (netip.Addr, int) {
		raw := a.AsSlice()
		for i := range raw {
			raw[i] = ^raw[i]
		}
		return addrOf(raw), n
	}, false, "inetnot")

	text := func(f func(a netip.Addr, bits int) string, src string) {
		r.add(fn1(func(c *callCtx, b []byte) ([]byte, error) { return c.keepString(f(types.Inet(b))), nil }), src)
	}
	text(func(a netip.Addr, _ int) string { return types.AddrText(a) }, "network_host")
	text(func(a netip.Addr, n int) string { return types.AddrText(a) + "/" + strconv.Itoa(n) }, "network_show")
	text(func(a netip.Addr, n int) string {
		if n == a.BitLen() {
			return types.AddrText(a)
		}
		return types.AddrText(a) + "/" + strconv.Itoa(n)
	}, "inet_abbrev")
	text(abbreviate, "cidr_abbrev")

	r.add(setMaskLen(false), "inet_set_masklen")
	r.add(setMaskLen(true), "cidr_set_masklen")
	r.add(fn2(inetAnd("AND", func(x, y byte) byte { return x & y })), "inetand")
	r.add(fn2(inetAnd("OR", func(x, y byte) byte { return x | y })), "inetor")
	r.add(fn2(func(_ *callCtx, a []byte, n int64) ([]byte, error) { return inetPlus(a, big.NewInt(n)) }), "inetpl")
	r.add(fn2(func(_ *callCtx, n int64, a []byte) ([]byte, error) { return inetPlus(a, big.NewInt(n)) }), "sql_int8pl_inet_2631")
	r.add(fn2(func(_ *callCtx, a []byte, n int64) ([]byte, error) {
		return inetPlus(a, new(big.Int).Neg(big.NewInt(n)))
	}), "inetmi_int8")
	r.add(fn2(func(_ *callCtx, a, b []byte) (int64, error) {
		x, _ := types.Inet(a)
		y, _ := types.Inet(b)
		if x.BitLen() != y.BitLen() {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "cannot subtract inet values of different sizes")
		}
		d := new(big.Int).Sub(new(big.Int).SetBytes(x.AsSlice()), new(big.Int).SetBytes(y.AsSlice()))
		if !d.IsInt64() {
			return 0, errInetRange()
		}
		return d.Int64(), nil
	}), "inetmi")
	r.add(fn2(func(_ *callCtx, a, b []byte) ([]byte, error) {
		x, xb := types.Inet(a)
		y, yb := types.Inet(b)
		if x.BitLen() != y.BitLen() {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot merge addresses from different families")
		}
		return types.NewInet(x, commonBits(x, y, min(xb, yb)), true), nil
	}), "inet_merge")
}

func addrOf(raw []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(raw)
	return a
}

func zeroAddr(a netip.Addr) netip.Addr { return addrOf(make([]byte, a.BitLen()/8)) }

// orMask sets the bits of the network (high) or of the host.
func orMask(a netip.Addr, bits int, high bool) netip.Addr {
	raw := a.AsSlice()
	for i := range len(raw) * 8 {
		if (i < bits) == high {
			raw[i/8] |= 0x80 >> (i & 7)
		}
	}
	return addrOf(raw)
}

// commonBits counts equal leading bits, at most limit.
func commonBits(a, b netip.Addr, limit int) int {
	x, y := a.AsSlice(), b.AsSlice()
	for i := range limit {
		if (x[i/8]^y[i/8])&(0x80>>(i&7)) != 0 {
			return i
		}
	}
	return limit
}

func setMaskLen(cidr bool) builder {
	return fn2(func(_ *callCtx, b []byte, n int64) ([]byte, error) {
		a, _ := types.Inet(b)
		if n == -1 {
			n = int64(a.BitLen())
		}
		if n < 0 || n > int64(a.BitLen()) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid mask length: %d", n)
		}
		return types.NewInet(a, int(n), cidr), nil
	})
}

func inetAnd(verb string, f func(x, y byte) byte) func(_ *callCtx, a, b []byte) ([]byte, error) {
	return func(_ *callCtx, a, b []byte) ([]byte, error) {
		x, xb := types.Inet(a)
		y, yb := types.Inet(b)
		if x.BitLen() != y.BitLen() {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot %s inet values of different sizes", verb)
		}
		p, q := x.AsSlice(), y.AsSlice()
		for i := range p {
			p[i] = f(p[i], q[i])
		}
		return types.NewInet(addrOf(p), max(xb, yb), false), nil
	}
}

func errInetRange() error { return sqlerr.New(sqlerr.NumericValueOutOfRange, "result is out of range") }

func inetPlus(b []byte, n *big.Int) ([]byte, error) {
	a, bits := types.Inet(b)
	sum := new(big.Int).Add(new(big.Int).SetBytes(a.AsSlice()), n)
	if sum.Sign() < 0 || sum.BitLen() > a.BitLen() {
		return nil, errInetRange()
	}
	return types.NewInet(addrOf(sum.FillBytes(make([]byte, a.BitLen()/8))), bits, false), nil
}

// abbreviate writes a network with as few octets or words as its mask needs.
func abbreviate(a netip.Addr, bits int) string {
	suffix := "/" + strconv.Itoa(bits)
	raw := a.AsSlice()
	if a.Is4() {
		out := strconv.Itoa(int(raw[0]))
		for i := 1; i < (bits+7)/8; i++ {
			out += "." + strconv.Itoa(int(raw[i]))
		}
		return out + suffix
	}
	if bits == 0 {
		return "::" + suffix
	}
	words := max(2, (bits+15)/16)
	at, run := 0, 0 // the longest run of zero words
	for i := 0; i < words; {
		n := 0
		for i+n < words && raw[2*(i+n)]|raw[2*(i+n)+1] == 0 {
			n++
		}
		if n > run {
			at, run = i, n
		}
		i += max(n, 1)
	}
	// An address of version 4 behind the zeros is written as one.
	dotted := at == 0 && run != words && (run == 6 || run == 5 && raw[10] == 0xff && raw[11] == 0xff ||
		run == 7 && raw[14] != 0 && raw[15] != 1)
	out := ""
	for i := 0; i < words; i++ {
		if dotted && i > 5 {
			out += string(":."[i-6]) + strconv.Itoa(int(raw[2*i]))
			if i < 7 || bits > 120 {
				out += "." + strconv.Itoa(int(raw[2*i+1]))
			}
			continue
		}
		if run > 0 && i >= at && i < at+run {
			if i == at {
				out += ":"
			}
			if i == words-1 {
				out += ":"
			}
			continue
		}
		if out != "" {
			out += ":"
		}
		out += fmt.Sprintf("%x", int(raw[2*i])<<8|int(raw[2*i+1]))
	}
	return out + suffix
}
