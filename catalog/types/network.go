package types

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// The binary form of inet and cidr: family, mask bits, whether it is a cidr,
// number of address bytes, address.
const (
	family4 = 2
	family6 = 3
)

// parseInet reads an address with an optional mask length; a cidr may leave
// out trailing octets and must not have bits right of the mask.
func parseInet(s string, cidr bool) ([]byte, error) {
	typ := "inet"
	if cidr {
		typ = "cidr"
	}
	host, mask, masked := strings.Cut(s, "/")
	if !cidr && (masked || strings.Count(host, ".") == 4) {
		host = strings.TrimSuffix(host, ".")
	}
	addr, bits, ok := parseAddr(host, cidr)
	if !ok || addr.Zone() != "" || !masked && bits < addr.BitLen() && !cidr {
		return nil, errSyntax(typ, s)
	}
	if masked {
		n, err := strconv.Atoi(mask)
		if err != nil || n < 0 || n > addr.BitLen() || !cidr && n > bits || mask[0] == '+' {
			return nil, errSyntax(typ, s)
		}
		bits = n
	}
	out := encodeInet(addr, bits, cidr)
	if cidr && netip.PrefixFrom(addr, bits).Masked().Addr() != addr {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, `invalid cidr value: "%s"`, s).
			WithDetail("Value has bits set to right of mask.")
	}
	return out, nil
}

// parseAddr reads an address; bits is the mask length that its form implies.
func parseAddr(host string, cidr bool) (addr netip.Addr, bits int, ok bool) {
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		return a, 128, err == nil && a.Is6()
	}
	octets := strings.Split(host, ".")
	if len(octets) > 4 {
		return netip.Addr{}, 0, false
	}
	var b [4]byte
	for i, o := range octets {
		v, err := strconv.ParseUint(o, 10, 8)
		if err != nil {
			return netip.Addr{}, 0, false
		}
		b[i] = byte(v)
	}
	if !cidr || len(octets) == 4 {
		return netip.AddrFrom4(b), 8 * len(octets), true
	}
	// The class of the address, but not less than the octets given.
	switch {
	case b[0] >= 240:
		bits = 32
	case b[0] == 224 && len(octets) == 1:
		return netip.AddrFrom4(b), 4, true // all of class D
	case b[0] >= 224:
		bits = 8
	case b[0] >= 192:
		bits = 24
	case b[0] >= 128:
		bits = 16
	default:
		bits = 8
	}
	return netip.AddrFrom4(b), max(bits, 8*len(octets)), true
}

func encodeInet(addr netip.Addr, bits int, cidr bool) []byte {
	family := byte(family4)
	if addr.Is6() {
		family = family6
	}
	raw := addr.AsSlice()
	return append([]byte{family, byte(bits), inetFlag(cidr), byte(len(raw))}, raw...)
}

// inetFlag is the byte that tells a cidr from an inet.
func inetFlag(cidr bool) byte {
	if cidr {
		return 1
	}
	return 0
}

func decodeInet(b []byte) (addr netip.Addr, bits int) {
	if len(b) < 4 {
		return netip.Addr{}, 0
	}
	addr, _ = netip.AddrFromSlice(b[4:])
	return addr, int(b[1])
}

// inetBinary checks the binary form of an inet or a cidr and returns it with the
// flag of its type: what a client set there says nothing.
func inetBinary(b []byte, cidr bool) ([]byte, error) {
	if err := checkInet(b, cidr); err != nil {
		return nil, err
	}
	if flag := inetFlag(cidr); b[2] != flag {
		b = append([]byte(nil), b...)
		b[2] = flag
	}
	return b, nil
}

func checkInet(b []byte, cidr bool) error {
	typ := "inet"
	if len(b) == 0 {
		return errBinaryEmpty()
	}
	if cidr {
		typ = "cidr"
	}
	size := 4
	switch b[0] {
	case family4:
	case family6:
		size = 16
	default:
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, `invalid address family in external "%s" value`, typ)
	}
	if len(b) < 2 {
		return errBinaryEmpty()
	}
	if int(b[1]) > size*8 {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, `invalid bits in external "%s" value`, typ)
	}
	if len(b) < 4 {
		return errBinaryEmpty()
	}
	if int(b[3]) != size {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, `invalid length in external "%s" value`, typ)
	}
	if err := bytesOf(b, 4+size); err != nil {
		return err
	}
	if addr, bits := decodeInet(b); cidr && netip.PrefixFrom(addr, bits).Masked().Addr() != addr {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, `invalid external "cidr" value`).
			WithDetail("Value has bits set to right of mask.")
	}
	return nil
}

func appendInet(buf, b []byte, cidr bool) []byte {
	addr, bits := decodeInet(b)
	if !addr.IsValid() {
		return buf
	}
	buf = append(buf, AddrText(addr)...)
	if cidr || bits != addr.BitLen() {
		buf = strconv.AppendInt(append(buf, '/'), int64(bits), 10)
	}
	return buf
}

// compareInet orders by family, network, mask length, and address.
func compareInet(a, b []byte) int {
	x, xb := decodeInet(a)
	y, yb := decodeInet(b)
	if c := cmp.Compare(x.BitLen(), y.BitLen()); c != 0 {
		return c
	}
	n := min(xb, yb)
	px, err1 := x.Prefix(n)
	py, err2 := y.Prefix(n)
	if err1 == nil && err2 == nil {
		if c := px.Addr().Compare(py.Addr()); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(xb, yb); c != 0 {
		return c
	}
	return bytes.Compare(a[min(4, len(a)):], b[min(4, len(b)):])
}

// macForms are the lengths of groups of hexadecimal digits and the separators
// that a hardware address is written with.
var macForms = [...]struct {
	group int
	sep   byte
}{{6, ':'}, {6, '-'}, {4, '.'}, {4, '-'}, {12, 0}}

// macGroups reads six numbers of any length between colons or hyphens; ok is
// false for another form.
func macGroups(t, src string) (b []byte, ok bool, err error) {
	sep := ":"
	if !strings.Contains(t, sep) {
		sep = "-"
	}
	groups := strings.Split(t, sep)
	if len(groups) != 6 {
		return nil, false, nil
	}
	for _, g := range groups {
		v, perr := strconv.ParseUint(g, 16, 64)
		if perr != nil {
			return nil, false, nil
		}
		if v > 255 {
			return nil, true, sqlerr.New(sqlerr.NumericValueOutOfRange, `invalid octet value in "macaddr" value: "%s"`, src)
		}
		b = append(b, byte(v))
	}
	return b, true, nil
}

func parseMacaddr(s string) ([]byte, error) {
	t := trimSpace(s)
	if b, ok, err := macGroups(t, s); ok {
		return b, err
	}
	for _, f := range macForms {
		groups := 12 / f.group
		if len(t) != 12+groups-1 {
			continue
		}
		digits := make([]byte, 0, 12)
		for i := 0; i < len(t); i++ {
			if i%(f.group+1) == f.group {
				if t[i] != f.sep {
					break
				}
				continue
			}
			digits = append(digits, t[i])
		}
		out := make([]byte, 6)
		if len(digits) == 12 {
			if _, err := hex.Decode(out, digits); err == nil {
				return out, nil
			}
		}
	}
	return nil, errSyntax("macaddr", s)
}

func appendMacaddr(buf, b []byte) []byte {
	for i, c := range b {
		if i > 0 {
			buf = append(buf, ':')
		}
		buf = hex.AppendEncode(buf, []byte{c})
	}
	return buf
}
