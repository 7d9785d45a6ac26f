package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/catalog/types/vec"
	"kvsqld/wire"
)

// pieces is a client that sends data in pieces of a given size.
type pieces struct {
	data []byte
	size int
	own  []byte // handed out, overwritten by the next call
}

func (p *pieces) Next() ([]byte, error) {
	for i := range p.own {
		p.own[i] = '#'
	}
	if len(p.data) == 0 {
		return nil, io.EOF
	}
	n := min(p.size, len(p.data))
	p.own = append(p.own[:0], p.data[:n]...)
	p.data = p.data[n:]
	return p.own, nil
}

func (p *pieces) Await(time.Duration) bool { return true }

var _ wire.CopyReader = (*pieces)(nil)

// null is how NULL is shown among decoded fields.
const null = "<NULL>"

// decodeAll returns the rows of text or csv data, with the line number of each.
func decodeAll(o *copyOptions, data []byte, size int) (rows [][]string, numbers []int64, err error) {
	src := &copySource{r: &pieces{data: data, size: size}}
	lines := newLineReader(src, o)
	in := &copyIn{opts: o}
	in.text = textFields{delim: o.delim, null: o.null}
	in.csv = csvFields{delim: o.delim, quote: o.quote, escape: o.escape, null: o.null}
	for {
		line, err := lines.next()
		if err == io.EOF {
			return rows, numbers, nil
		}
		if err != nil {
			return rows, append(numbers, lines.number), err
		}
		fields, err := in.split(line)
		if err != nil {
			return rows, append(numbers, lines.number), err
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			if row[i] = string(f); f == nil {
				row[i] = null
			}
		}
		rows, numbers = append(rows, row), append(numbers, lines.number)
		if len(rows)%3 == 0 {
			src.release()
		}
	}
}

func textOptions() *copyOptions {
	return &copyOptions{delim: '\t', quote: '"', escape: '"', null: `\N`}
}

func csvOptions() *copyOptions {
	return &copyOptions{format: copyCSV, delim: ',', quote: '"', escape: '"'}
}

// show joins decoded rows: fields by |, rows by a slash.
func showRows(rows [][]string) string {
	var out []string
	for _, r := range rows {
		out = append(out, strings.Join(r, "|"))
	}
	return strings.Join(out, "/")
}

type decodeTest struct {
	name, in, want string
	err            string // SQLSTATE and message
	line           int64  // of the error
}

func runDecodeTests(t *testing.T, o *copyOptions, tests []decodeTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 1000} {
				rows, numbers, err := decodeAll(o, []byte(tt.in), size)
				got := ""
				if err != nil {
					got = string(sqlerr.CodeOf(err)) + " " + err.Error()
				}
				if got != tt.err {
					t.Fatalf("in pieces of %d: error %q, want %q", size, got, tt.err)
				}
				if tt.err != "" {
					if n := numbers[len(numbers)-1]; n != tt.line {
						t.Errorf("in pieces of %d: error in line %d, want %d", size, n, tt.line)
					}
					continue
				}
				if got := showRows(rows); got != tt.want {
					t.Errorf("in pieces of %d: %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

// The expectations are PostgreSQL 15's answers.
func TestTextDecoding(t *testing.T) {
	const (
		nl      = "22P04 literal newline found in data"
		cr      = "22P04 literal carriage return found in data"
		corrupt = "22P04 end-of-copy marker corrupt"
		style   = "22P04 end-of-copy marker does not match previous newline style"
		badUTF8 = `22021 invalid byte sequence for encoding "UTF8": 0xff`
	)
	runDecodeTests(t, textOptions(), []decodeTest{
		{name: "no data"},
		{name: "rows", in: "1\ta\n2\tb\n", want: "1|a/2|b"},
		{name: "the last line may lack its end", in: "1\ta\n2\tb", want: "1|a/2|b"},
		{name: "an empty line is an empty field", in: "a\n\nb\n", want: "a//b"},
		{name: "null and empty", in: "\\N\t\t\\N\n\\N", want: null + "||" + null + "/" + null},
		{name: "null only as a whole field", in: "\\Nx\tx\\N\n", want: "Nx|xN"},
		{name: "letters", in: `a\bb\ff\nn\rr\tt\vv` + "\n", want: "a\bb\ff\nn\rr\tt\vv"},
		{name: "other escapes are themselves", in: `\q\\\"\8` + "\n", want: `q\"8`},
		{name: "octal", in: `\101\1012\7\60x\477` + "\n", want: "AA2\a0x?"},
		{name: "hexadecimal", in: `\x41\x4g\xg\x` + "\n", want: "A\x04gxgx"},
		{name: "letters of UTF-8 by numbers", in: `\xc3\xa9\303\251` + "\n", want: "éé"},
		{name: "an escaped newline is data", in: "a\\\nb\tc\n", want: "a\nb|c"},
		{name: "an escaped delimiter is data", in: "a\\\tb\tc\n", want: "a\tb|c"},
		{name: "a backslash at the end of the data", in: "a\\", want: "a"},
		{name: "end marker", in: "1\n\\.\nrest", want: "1"},
		{name: "end marker after data", in: "1\n2\\.\nrest", want: "1/2"},
		{name: "end marker alone", in: "\\.\n"},
		{name: "end marker before the end of the data", in: "1\n\\.", err: corrupt, line: 2},
		{name: "end marker with something behind", in: "1\n\\.x\n", err: corrupt, line: 2},
		{name: "end marker of another style", in: "1\n\\.\r", err: style, line: 2},
		{name: "carriage return and newline", in: "1\ta\r\n2\tb\r\n", want: "1|a/2|b"},
		{name: "end marker after them", in: "1\r\n\\.\r\nx", want: "1"},
		{name: "end marker cut off after them", in: "1\r\n\\.\r", err: corrupt, line: 2},
		{name: "end marker with a newline only", in: "1\r\n\\.\n", err: style, line: 2},
		{name: "carriage returns", in: "1\ta\r2\tb\r", want: "1|a/2|b"},
		{name: "an escaped carriage return is data", in: "1\\\r\n2\n", want: "1\r/2"},
		{name: "newline among carriage returns", in: "1\r2\n", err: nl, line: 2},
		{name: "newline among pairs", in: "1\r\n2\n", err: nl, line: 2},
		{name: "carriage return among newlines", in: "1\n2\r\n", err: cr, line: 2},
		{name: "carriage return among pairs", in: "1\r\n2\r3", err: cr, line: 2},
		{name: "quotes mean nothing", in: "\"a\tb\"\n", want: "\"a|b\""},
		{name: "bad text", in: "a\nb\xff\n", err: badUTF8, line: 2},
		{name: "bad text by number", in: "a\nb\\377\n", err: badUTF8, line: 2},
		{name: "zero by number", in: "a\nb\\0\n", err: `22021 invalid byte sequence for encoding "UTF8": 0x00`, line: 2},
	})
	o := textOptions()
	o.delim, o.null = '|', ""
	runDecodeTests(t, o, []decodeTest{
		{name: "another delimiter and null", in: "a|b\t||\\N\n", want: "a|b\t|" + null + "|N"},
		{name: "an escaped delimiter", in: "a\\|b|c\n", want: "a|b|c"},
	})
}

func TestCSVDecoding(t *testing.T) {
	const (
		open = "22P04 unterminated CSV quoted field"
		nl   = "22P04 unquoted newline found in data"
		cr   = "22P04 unquoted carriage return found in data"
	)
	runDecodeTests(t, csvOptions(), []decodeTest{
		{name: "no data"},
		{name: "rows", in: "1,a\n2,b\n", want: "1|a/2|b"},
		{name: "the last line may lack its end", in: "1,a\n2,b", want: "1|a/2|b"},
		{name: "null and empty", in: ",\"\",\n\"\"\n\n", want: null + "||" + null + "//" + null},
		{name: "quotes", in: "\"a,b\",\"c\"\n", want: "a,b|c"},
		{name: "quotes within", in: "\"a\"\"b\",c\"d,\"e,\"f\"g\n", want: `a"b|cd,e|fg`},
		{name: "two quoted parts", in: "\"abc\"xx\"d,e\",3\n", want: "abcxxd,e|3"},
		{name: "newlines in quotes", in: "1,\"a\nb\"\n2,\"\n\"\n", want: "1|a\nb/2|\n"},
		{name: "pairs in quotes", in: "1,\"a\r\nb\"\r\n2,c\r\n", want: "1|a\r\nb/2|c"},
		{name: "backslashes are data", in: `\N,a\nb,\\` + "\n", want: `\N|a\nb|\\`},
		{name: "blanks are data", in: " a , \"b\" \n", want: " a | b "},
		{name: "end marker", in: "1\n\\.\nrest", want: "1"},
		{name: "no end marker", in: "1\nx\\.\n\\.x\n\"\\.\"\n\\.", want: `1/x\./\.x/\./\.`},
		{name: "carriage returns", in: "1\r2\r", want: "1/2"},
		{name: "open quote", in: "1,\"a\n2,b\n", err: open, line: 1},
		{name: "open quote later", in: "1,a\n2,\"b\nc\n", err: open, line: 4},
		{name: "newline among pairs", in: "1\r\n2\n", err: nl, line: 2},
		{name: "newline among carriage returns", in: "1\r2\n", err: nl, line: 2},
		{name: "carriage return among newlines", in: "1\n2\r\n", err: cr, line: 2},
	})
	o := csvOptions()
	o.delim, o.quote, o.escape, o.null = ';', '\'', '/', "nil"
	runDecodeTests(t, o, []decodeTest{
		{name: "all options", in: "nil;'nil';'a;b';'it/'s //x/y';\"\n", want: null + `|nil|a;b|it's /x/y|"`},
		{name: "escaped quotes do not open", in: "a;'b/'\nc'\nd\n", want: "a|b'\nc/d"},
		{name: "doubled quotes are two parts", in: "'a''b'\n", want: "ab"},
	})
}

// Pieces of any size give the same rows, and no input is a panic.
func fuzzDecoding(f *testing.F, o *copyOptions) {
	for _, s := range []string{"1\ta\n", "a\\tb\\\nc\r\n", "\"a\"\"b\",\n\\.\n", "\"x\r\ny\",2\r\n", "\\N\\x4\\377"} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		rows, numbers, err := decodeAll(o, data, len(data)+1)
		rows2, numbers2, err2 := decodeAll(o, data, int(size)+1)
		if fmt.Sprint(rows, numbers, err) != fmt.Sprint(rows2, numbers2, err2) {
			t.Fatalf("%q in pieces of %d: %q %v %v, at once %q %v %v", data, int(size)+1, rows2, numbers2, err2, rows, numbers, err)
		}
	})
}

func FuzzTextDecoding(f *testing.F) { fuzzDecoding(f, textOptions()) }

func FuzzCSVDecoding(f *testing.F) { fuzzDecoding(f, csvOptions()) }

// What is written is read back.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a", "b\tc", "\\N", uint8(1))
	f.Add("\"", "x,y\r\n", "", uint8(2))
	f.Add("\\.", "\\", "\n", uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c string, size uint8) {
		row := []string{a, b, c, null}
		for _, v := range row[:3] {
			if charset.CheckUTF8([]byte(v)) != nil || v == null {
				t.Skip()
			}
		}
		for _, o := range []*copyOptions{
			textOptions(), {delim: '|', null: "x", quote: '"'}, csvOptions(),
			{format: copyCSV, delim: '|', quote: '\'', escape: '\\', null: "a"},
		} {
			for _, width := range []int{1, 4} {
				if o.format == copyText && slices.Contains(row[:width], "x") && o.null == "x" {
					continue // what looks like NULL is NULL, as with PostgreSQL
				}
				want := [][]string{row[:width], {"end", "", "", ""}}
				want[1] = want[1][:width]
				var data []byte
				for _, r := range want {
					data = encodeRow(data, o, r)
				}
				got, _, err := decodeAll(o, data, int(size)+1)
				if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
					t.Fatalf("%+v: %q is %q, %v after a round trip by %q", o, want, got, err, data)
				}
			}
		}
	})
}

// encodeRow writes a row as COPY TO does.
func encodeRow(dst []byte, o *copyOptions, row []string) []byte {
	k := &copyOut{opts: o, forms: make([]textForm, len(row)), force: make([]bool, len(row)), fmt: types.DefaultFmt, buf: dst}
	b := &vec.Batch{N: 1}
	for _, s := range row {
		v := vec.New(types.TText, 1)
		if v.B[0] = []byte(s); s == null {
			v.Nulls.Set(0)
		}
		b.Cols = append(b.Cols, v)
	}
	if o.format == copyCSV {
		k.csv = newCSVWriter(o)
		k.csvRow(b, 0)
	} else {
		k.text = newTextWriter(o.delim)
		k.textRow(b, 0)
	}
	return k.buf
}

// decodeBinary returns the rows of binary data.
func decodeBinary(data []byte, size, want int) (rows [][]string, err error) {
	b := binaryFields{src: &copySource{r: &pieces{data: data, size: size}}}
	if err := b.header(); err != nil {
		return nil, err
	}
	for {
		if err := b.next(want); err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, err
		}
		row := make([]string, want)
		for i := range row {
			f, err := b.field()
			if err != nil {
				return rows, err
			}
			if row[i] = string(f); f == nil {
				row[i] = null
			}
		}
		rows = append(rows, row)
		b.src.release()
	}
}

func TestBinaryDecoding(t *testing.T) {
	const head = copyBinaryHeader
	for _, tt := range []struct{ name, in, want, err string }{
		{name: "no rows", in: head + "\xff\xff"},
		{name: "no end", in: head},
		{name: "rows", in: head + "\x00\x02\x00\x00\x00\x01a\xff\xff\xff\xff\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02bc\xff\xff", want: "a|" + null + "/|bc"},
		{name: "extension", in: copySignature + "\x00\x00\x00\x00\x00\x00\x00\x03abc\xff\xff"},
		{name: "no file", in: "", err: "COPY file signature not recognized"},
		{name: "another file", in: strings.Repeat("x", 30), err: "COPY file signature not recognized"},
		{name: "flags cut off", in: copySignature + "\x00", err: "invalid COPY file header (missing flags)"},
		{name: "length cut off", in: copySignature + "\x00\x00\x00\x00\x00", err: "invalid COPY file header (missing length)"},
		{name: "extension cut off", in: copySignature + "\x00\x00\x00\x00\x00\x00\x00\x03ab", err: "invalid COPY file header (wrong length)"},
		{name: "with OIDs", in: copySignature + "\x00\x01\x00\x00\x00\x00\x00\x00", err: "invalid COPY file header (WITH OIDS)"},
		{name: "critical flags", in: copySignature + "\x00\x02\x00\x00\x00\x00\x00\x00", err: "unrecognized critical flags in COPY file header"},
		{name: "field count", in: head + "\x00\x03", err: "row field count is 3, expected 2"},
		{name: "field cut off", in: head + "\x00\x02\x00\x00\x00\x05ab", err: "unexpected EOF in COPY data"},
		{name: "size cut off", in: head + "\x00\x02\x00\x00", err: "unexpected EOF in COPY data"},
		{name: "negative size", in: head + "\x00\x02\xff\xff\xff\xfe", err: "invalid field size"},
		{name: "data after the end", in: head + "\xff\xffx", err: "received copy data after EOF marker"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 5, 1000} {
				rows, err := decodeBinary([]byte(tt.in), size, 2)
				got := ""
				if err != nil {
					got = err.Error()
					if sqlerr.CodeOf(err) != sqlerr.BadCopyFileFormat {
						t.Errorf("SQLSTATE %s", sqlerr.CodeOf(err))
					}
				}
				if got != tt.err || err == nil && showRows(rows) != tt.want {
					t.Errorf("in pieces of %d: %q, error %q; want %q, error %q", size, showRows(rows), got, tt.want, tt.err)
				}
			}
		})
	}
}

func FuzzBinaryDecoding(f *testing.F) {
	f.Add([]byte("\x00\x02\x00\x00\x00\x01a\xff\xff\xff\xff"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		data = append([]byte(copyBinaryHeader), data...)
		rows, err := decodeBinary(data, len(data), 2)
		rows2, err2 := decodeBinary(data, int(size)+1, 2)
		if fmt.Sprint(rows, err) != fmt.Sprint(rows2, err2) {
			t.Fatalf("%q in pieces of %d: %q %v, at once %q %v", data, int(size)+1, rows2, err2, rows, err)
		}
	})
}

// What is read without the type's input function is what that would read.
func FuzzPlainForms(f *testing.F) {
	for _, s := range []string{"0", "-17", "007", "123456789012345678", "9999999999", "-0", "1.50", ".5", "5.", "-1e3", "2024-02-29", "2023-02-29", "1900-02-29",
		"0001-01-01", "9999-12-31", "2024-02-29 23:59:59.123456", "2024-12-31T00:00:00.5", "2024-01-01 00:00:00.", "2024-01-01 24:00:00", "2024-01-01 00:00:60",
		"2024-01-01 00:00:00+00", "t", "f", "true", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380A11", "0000.00", "99.999", "-12345678901234567.8"} {
		f.Add(s)
	}
	numeric := func(p, s int32) types.T { return types.T{OID: types.ONumeric, Mod: (p<<16 | s) + 4} }
	ts := []types.T{types.TBool, types.TInt2, types.TInt4, types.TInt8, types.TFloat8, types.TNumeric, numeric(5, 2), numeric(18, 0), numeric(18, 18),
		types.TDate, types.TTimestamp, types.TTimestamptz, types.TUUID, types.TText, {OID: types.OVarchar, Mod: 4 + 3}}
	f.Fuzz(func(t *testing.T, text string) {
		if charset.CheckUTF8([]byte(text)) != nil {
			t.Skip()
		}
		parse := func(t types.T, s string) (types.Datum, error) { return types.Parse(t, s, types.DefaultFmt) }
		for _, typ := range ts {
			c := &copyColumn{t: typ, v: vec.New(typ, 0), read: parse}
			c.plainForms(types.DefaultFmt)
			c.reset(2)
			want, werr := parse(typ, text)
			if err := c.text(1, []byte(text)); fmt.Sprint(err) != fmt.Sprint(werr) {
				t.Fatalf("%q as %s: error %v, want %v", text, types.FormatType(typ), err, werr)
			} else if err != nil {
				continue
			}
			got := types.AppendText(nil, c.v.Get(1), nil)
			if w := types.AppendText(nil, want, nil); !bytes.Equal(got, w) {
				t.Fatalf("%q as %s is %s, want %s", text, types.FormatType(typ), got, w)
			}
		}
	})
}

// A client that fails is heard, at whatever point.
func TestReadErrors(t *testing.T) {
	gone := errors.New("gone")
	for n := range 12 {
		data := []byte("1\ta\\tb\r\n\\.\r\n")[:n]
		src := &copySource{r: failing{&pieces{data: data, size: 1}, gone}}
		lines := newLineReader(src, textOptions())
		err := error(nil)
		for err == nil {
			_, err = lines.next()
		}
		if err != gone {
			t.Errorf("after %q: %v", data, err)
		}
	}
}

type failing struct {
	*pieces
	err error
}

func (f failing) Next() ([]byte, error) {
	p, err := f.pieces.Next()
	if err == io.EOF {
		err = f.err
	}
	return p, err
}
