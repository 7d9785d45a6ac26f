package expr

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/blowfish" //lint:ignore SA1019 bcrypt is made of it

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// hashes are the algorithms of digest and hmac.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// hashNamed returns the algorithm of a name in any case.
func hashNamed(name []byte) (func() hash.Hash, error) {
	if h := hashes[strings.ToLower(string(name))]; h != nil {
		return h, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "Cannot use \"%s\": No such hash algorithm", name)
}

// maxRandomBytes is the most that gen_random_bytes gives.
const maxRandomBytes = 1024

// cryptoFuncs are the functions of the extension pgcrypto but for OpenPGP.
func cryptoFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		sum, err := hashNamed(a[1].B)
		if err != nil {
			return null, err
		}
		h := sum()
		h.Write(a[0].B)
		return types.Datum{B: h.Sum(nil)}, nil
	}), "pgcrypto.digest")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		sum, err := hashNamed(a[2].B)
		if err != nil {
			return null, err
		}
		h := hmac.New(sum, a[1].B)
		h.Write(a[0].B)
		return types.Datum{B: h.Sum(nil)}, nil
	}), "pgcrypto.hmac")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		n := a[0].I
		if n < 1 || n > maxRandomBytes {
			return null, sqlerr.New(sqlerr.ExternalRoutineInvocation, "Length not in range")
		}
		b := make([]byte, n)
		_, err := rand.Read(b)
		return types.Datum{B: b}, err
	}), "pgcrypto.gen_random_bytes")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		rounds := 0
		if len(a) == 2 {
			rounds = int(a[1].I)
		}
		s, err := newSalt(strings.ToLower(string(a[0].B)), rounds)
		return types.Datum{B: []byte(s)}, err
	}), "pgcrypto.gen_salt")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		s, err := crypt(c.env.Ctx, a[0].B, string(a[1].B))
		return types.Datum{B: []byte(s)}, err
	}), "pgcrypto.crypt")
	for _, way := range []string{"encrypt", "decrypt"} {
		r.add(ciphered(way, false), "pgcrypto."+way)
		r.add(ciphered(way, true), "pgcrypto."+way+"_iv")
	}
}

// ciphered is encrypt or decrypt of data, a key, perhaps an initial vector, and the
// cipher's name.
func ciphered(way string, withIV bool) builder {
	return fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		k, err := parseCipher(string(a[len(a)-1].B))
		if err != nil {
			return null, err
		}
		var iv []byte
		if withIV {
			iv = a[2].B
		}
		out, ok := k.run(way == "encrypt", a[0].B, a[1].B, iv)
		if !ok {
			return null, sqlerr.New(sqlerr.ExternalRoutineInvocation, "%s error: %sion failed", way, strings.ToUpper(way[:1])+way[1:])
		}
		return types.Datum{B: out}, nil
	})
}

// cipherKind is AES in a mode, with or without padding.
type cipherKind struct{ ecb, unpadded bool }

// otherCiphers are known to PostgreSQL and outdated.
var otherCiphers = []string{"bf", "blowfish", "des", "3des", "des3", "cast5"}

// parseCipher reads algorithm[-mode][/pad:padding].
func parseCipher(name string) (k cipherKind, err error) {
	unknown := sqlerr.New(sqlerr.InvalidParameterValue, "Cannot use \"%s\": No such cipher algorithm", name)
	parts := strings.Split(strings.ToLower(name), "/")
	algorithm, mode, _ := strings.Cut(parts[0], "-")
	if slices.Contains(otherCiphers, algorithm) {
		return k, sqlerr.Unsupported(-1, "cipher \"%s\"", algorithm).WithHint("Use \"aes\".")
	}
	if algorithm != "aes" && algorithm != "rijndael" {
		return k, unknown
	}
	switch mode {
	case "ecb":
		k.ecb = true
	case "", "cbc":
	default:
		return k, unknown
	}
	for _, p := range parts[1:] {
		switch p {
		case "pad:none":
			k.unpadded = true
		case "pad:pkcs":
			k.unpadded = false
		default:
			return k, unknown
		}
	}
	return k, nil
}

// run encrypts or decrypts; false for a key that is too long and for data of a wrong
// length or padding. Short keys and vectors are filled with zeros.
func (k cipherKind) run(encrypt bool, data, key, iv []byte) ([]byte, bool) {
	size := 32
	for _, n := range []int{16, 24} {
		if len(key) <= n {
			size = n
			break
		}
	}
	if len(key) > size {
		key = key[:size]
	}
	block, err := aes.NewCipher(append(bytes.Clone(key), make([]byte, size-len(key))...))
	if err != nil {
		return nil, false
	}
	const n = aes.BlockSize
	out := bytes.Clone(data)
	if encrypt && !k.unpadded {
		pad := n - len(out)%n
		out = append(out, bytes.Repeat([]byte{byte(pad)}, pad)...)
	}
	if len(out)%n != 0 {
		return nil, false
	}
	start := make([]byte, n)
	copy(start, iv)
	switch {
	case k.ecb:
		for i := 0; i < len(out); i += n {
			if encrypt {
				block.Encrypt(out[i:], out[i:])
			} else {
				block.Decrypt(out[i:], out[i:])
			}
		}
	case encrypt:
		cipher.NewCBCEncrypter(block, start).CryptBlocks(out, out)
	default:
		cipher.NewCBCDecrypter(block, start).CryptBlocks(out, out)
	}
	if encrypt || k.unpadded {
		return out, true
	}
	if len(out) == 0 {
		return nil, false
	}
	pad := int(out[len(out)-1])
	if pad < 1 || pad > n || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, false
	}
	return out[:len(out)-pad], true
}

// The alphabets that salts and hashes of passwords are written in.
const (
	bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	cryptAlphabet  = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

var bcryptEncoding = base64.NewEncoding(bcryptAlphabet).WithPadding(base64.NoPadding)

// The rounds of bcrypt are powers of two.
const (
	minBcryptCost, maxBcryptCost, defaultBcryptCost = 4, 31, 6
	md5Rounds                                       = 1000
	bcryptSaltLen                                   = 16
	bcryptPrefix                                    = len("$2a$06$")
)

// newSalt makes a salt of an algorithm; 0 rounds are the usual number.
func newSalt(algorithm string, rounds int) (string, error) {
	badRounds := sqlerr.New(sqlerr.InvalidParameterValue, "gen_salt: Incorrect number of rounds")
	switch algorithm {
	case "bf":
		if rounds == 0 {
			rounds = defaultBcryptCost
		}
		if rounds < minBcryptCost || rounds > maxBcryptCost {
			return "", badRounds
		}
		var b [bcryptSaltLen]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", err
		}
		cost := strconv.Itoa(rounds)
		return "$2a$" + strings.Repeat("0", 2-len(cost)) + cost + "$" + bcryptEncoding.EncodeToString(b[:]), nil
	case "md5":
		if rounds != 0 && rounds != md5Rounds {
			return "", badRounds
		}
		var b [6]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", err
		}
		return "$1$" + base64.NewEncoding(cryptAlphabet).EncodeToString(b[:]), nil
	case "des", "xdes":
		return "", desRefused()
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "gen_salt: Unknown salt algorithm")
}

func desRefused() error {
	return sqlerr.Unsupported(-1, "crypt with DES").WithHint("Use \"bf\".")
}

// crypt hashes a password by the algorithm and the salt that a salt, or a hash made
// before, begins with. What a password has behind a zero byte does not count.
func crypt(ctx context.Context, password []byte, salt string) (string, error) {
	switch {
	case strings.HasPrefix(salt, "$2a$"), strings.HasPrefix(salt, "$2x$"):
		if out, ok := bcrypt(ctx, password, salt); ctx.Err() != nil {
			return "", context.Cause(ctx)
		} else if ok {
			return out, nil
		}
	case strings.HasPrefix(salt, "$2"):
	case strings.HasPrefix(salt, "$1$"):
		return md5crypt(password, salt), nil
	case strings.HasPrefix(salt, "_"), len(salt) >= 2 && strings.IndexByte(cryptAlphabet, salt[0]) >= 0 && strings.IndexByte(cryptAlphabet, salt[1]) >= 0:
		return "", desRefused()
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid salt")
}

// bcrypt is the algorithm of Provos and Mazières (1999); false for a salt that is
// none. Its rounds, up to 2³¹, end with the context.
func bcrypt(ctx context.Context, password []byte, salt string) (string, bool) {
	const saltChars = 22
	if len(salt) < bcryptPrefix+saltChars || salt[:4] != "$2a$" || salt[6] != '$' {
		return "", false
	}
	cost, err := strconv.Atoi(salt[4:6])
	if err != nil || cost < minBcryptCost || cost > maxBcryptCost {
		return "", false
	}
	chars := salt[bcryptPrefix : bcryptPrefix+saltChars]
	raw, err := bcryptEncoding.DecodeString(chars)
	if err != nil {
		return "", false
	}
	const maxKey = 72
	key := append(bytes.Clone(password), 0)
	key = key[:min(len(key), maxKey)]
	c, err := blowfish.NewSaltedCipher(key, raw)
	if err != nil {
		return "", false
	}
	for range uint64(1) << cost {
		if ctx.Err() != nil {
			return "", false
		}
		blowfish.ExpandKey(key, c)
		blowfish.ExpandKey(raw, c)
	}
	sum := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(sum); i += blowfish.BlockSize {
		for range 64 {
			c.Encrypt(sum[i:], sum[i:])
		}
	}
	// The last character of the salt has four bits that do not count.
	return salt[:bcryptPrefix] + bcryptEncoding.EncodeToString(raw) + bcryptEncoding.EncodeToString(sum[:len(sum)-1]), true
}

// md5crypt is the algorithm of FreeBSD's crypt (P.-H. Kamp, 1994).
func md5crypt(password []byte, salt string) string {
	const magic, maxSalt = "$1$", 8
	salt, _, _ = strings.Cut(salt[len(magic):], "$")
	salt = salt[:min(len(salt), maxSalt)]
	inner := md5.New()
	inner.Write(password)
	inner.Write([]byte(salt))
	inner.Write(password)
	mixed := inner.Sum(nil)
	h := md5.New()
	h.Write(password)
	h.Write([]byte(magic + salt))
	for n := len(password); n > 0; n -= md5.Size {
		h.Write(mixed[:min(n, md5.Size)])
	}
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write([]byte{0})
		} else {
			h.Write(password[:1])
		}
	}
	sum := h.Sum(nil)
	for i := range md5Rounds {
		h.Reset()
		first, last := sum, password
		if i&1 != 0 {
			first, last = password, sum
		}
		h.Write(first)
		if i%3 != 0 {
			h.Write([]byte(salt))
		}
		if i%7 != 0 {
			h.Write(password)
		}
		h.Write(last)
		sum = h.Sum(nil)
	}
	out := []byte(magic + salt + "$")
	put := func(a, b, c byte, chars int) {
		for v := uint32(a)<<16 | uint32(b)<<8 | uint32(c); chars > 0; chars-- {
			out = append(out, cryptAlphabet[v&0x3f])
			v >>= 6
		}
	}
	for i := range 4 {
		put(sum[i], sum[i+6], sum[i+12], 4)
	}
	put(sum[4], sum[10], sum[5], 4)
	put(0, 0, sum[11], 2)
	return string(out)
}
