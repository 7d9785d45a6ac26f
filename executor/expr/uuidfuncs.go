package expr

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"hash"
	"sync"
	"time"

	"kvsqld/catalog/types"
)

// The name spaces of RFC 4122, appendix C: DNS names, URLs, ISO object identifiers
// and X.500 names differ in one byte.
var uuidNamespaces = map[string]byte{"dns": 0x10, "url": 0x11, "oid": 0x12, "x500": 0x14}

// uuidFuncs are the functions of the extension uuid-ossp.
func uuidFuncs(r *registry) {
	fixed := func(src string, u [16]byte) {
		r.add(fnD(func(*callCtx, []types.Datum) (types.Datum, error) { return types.Bytes(types.TUUID, u[:]), nil }), "uuid-ossp."+src)
	}
	fixed("uuid_nil", [16]byte{})
	for name, b := range uuidNamespaces {
		fixed("uuid_ns_"+name, [16]byte{0x6b, 0xa7, 0xb8, b, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8})
	}
	named := func(src string, version byte, sum func() hash.Hash) {
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			h := sum()
			h.Write(a[0].B)
			h.Write(a[1].B)
			return types.Bytes(types.TUUID, versioned(h.Sum(nil)[:16], version)), nil
		}), "uuid-ossp."+src)
	}
	named("uuid_generate_v3", 3, md5.New)
	named("uuid_generate_v5", 5, sha1.New)
	made := func(src string, make func() ([]byte, error)) {
		r.add(fnD(func(*callCtx, []types.Datum) (types.Datum, error) {
			u, err := make()
			return types.Bytes(types.TUUID, u), err
		}), src)
	}
	made("uuid-ossp.uuid_generate_v1", func() ([]byte, error) { return uuidClock.next(false) })
	made("uuid-ossp.uuid_generate_v1mc", func() ([]byte, error) { return uuidClock.next(true) })
	made("uuid-ossp.uuid_generate_v4", randomUUID)
	made("pgcrypto.gen_random_uuid", randomUUID)
}

func randomUUID() ([]byte, error) {
	u := make([]byte, 16)
	if _, err := rand.Read(u); err != nil {
		return nil, err
	}
	return versioned(u, 4), nil
}

// versioned sets the version and the variant (RFC 4122, 4.1.1 and 4.1.3).
func versioned(u []byte, version byte) []byte {
	u[6], u[8] = u[6]&0x0f|version<<4, u[8]&0x3f|0x80
	return u
}

// uuidClock makes the identifiers of version 1. The node is random, with the
// multicast bit, as RFC 4122, 4.5 asks of one that is not a network card's: an
// identifier does not tell where it was made.
var uuidClock timeUUID

type timeUUID struct {
	mu       sync.Mutex
	node     [6]byte
	sequence uint16
	last     uint64
}

// gregorian is the number of 100 ns from 1582-10-15 to 1970-01-01.
const gregorian = 0x01b21dd213814000

// next returns an identifier that is later than those before; of a new node each
// time when it is asked for.
func (t *timeUUID) next(newNode bool) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == 0 {
		var seq [2]byte
		if _, err := rand.Read(seq[:]); err != nil {
			return nil, err
		}
		if _, err := rand.Read(t.node[:]); err != nil {
			return nil, err
		}
		t.sequence = binary.BigEndian.Uint16(seq[:])
	}
	node := t.node
	if newNode {
		if _, err := rand.Read(node[:]); err != nil {
			return nil, err
		}
	}
	now := uint64(time.Now().UnixNano()/100) + gregorian
	if now <= t.last {
		now = t.last + 1 // the clock is coarser, or was put back
	}
	t.last = now
	u := make([]byte, 16)
	binary.BigEndian.PutUint32(u, uint32(now))
	binary.BigEndian.PutUint16(u[4:], uint16(now>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(now>>48))
	binary.BigEndian.PutUint16(u[8:], t.sequence)
	copy(u[10:], node[:])
	u[10] |= 1
	if newNode {
		u[10] |= 2 // as one that is given locally, which PostgreSQL's are
	}
	return versioned(u, 1), nil
}
