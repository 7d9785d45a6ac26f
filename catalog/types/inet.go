package types

import "net/netip"

// Inet returns the address and the mask length of an inet or cidr value.
func Inet(b []byte) (addr netip.Addr, bits int) { return decodeInet(b) }

// NewInet makes an inet value, or a cidr, whose bits right of the mask are cleared.
func NewInet(addr netip.Addr, bits int, cidr bool) []byte {
	if p, err := addr.Prefix(bits); cidr && err == nil {
		addr = p.Addr()
	}
	return encodeInet(addr, bits, cidr)
}

// AddrText is an address as PostgreSQL writes it: those of version 6 that begin
// with six zero words end in dots.
func AddrText(a netip.Addr) string {
	raw := a.AsSlice()
	if len(raw) != 16 {
		return a.String()
	}
	for _, c := range raw[:12] {
		if c != 0 {
			return a.String()
		}
	}
	if raw[12]|raw[13] == 0 { // the run of zeros is longer than six words
		return a.String()
	}
	return "::" + netip.AddrFrom4([4]byte(raw[12:])).String()
}
