package catalog

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// fileKey is a file within a database. A person may keep the files on a file
// system that folds case, so that names differ by more than that.
type fileKey struct {
	db   types.OID
	name string
}

// eachFile calls f for the files of a table and its indexes.
func eachFile(t *Table, f func(oid types.OID, file string, space SpaceID) error) error {
	owner := t.OID
	if root := t.clusterRoot(); root != nil {
		owner = root.OID // its file is the file of all that are stored with it
	}
	if err := f(owner, t.File, t.Space); err != nil {
		return err
	}
	if k := t.Cluster; k != nil && k.Parent == 0 {
		if err := f(t.RowType, k.File, k.Regions); err != nil {
			return err
		}
	}
	for _, ix := range t.Indexes {
		if err := f(ix.OID, ix.File, ix.Space); err != nil {
			return err
		}
	}
	for _, g := range t.Groups {
		if err := f(t.OID, g.File, g.Space); err != nil {
			return err
		}
	}
	return nil
}

// linkFiles enters an object's files, or fails where one belongs to another table or
// index (C8).
func (s *Snapshot) linkFiles(o Object) error {
	t := StorageOf(o)
	if t == nil {
		return nil
	}
	return eachFile(t, func(oid types.OID, file string, space SpaceID) error {
		if file != "" {
			k := fileKey{t.DB, strings.ToLower(file)}
			if other, taken := s.files.lookup(k); taken && other != oid {
				return sqlerr.New(sqlerr.DuplicateObject, "file \"%s\" is used twice", k.name)
			}
			s.files.set(k, oid)
		}
		if space != 0 {
			if other, taken := s.spaces.lookup(space); taken && other != oid {
				return sqlerr.New(sqlerr.DuplicateObject, "key space %d is used twice", space)
			}
			s.spaces.set(space, oid)
		}
		return nil
	})
}

// unlinkFiles takes an object's files out, but for one that it shares with the table
// that it is stored with.
func (s *Snapshot) unlinkFiles(o Object) {
	t := StorageOf(o)
	if t == nil {
		return
	}
	root := t.clusterRoot()
	eachFile(t, func(oid types.OID, file string, space SpaceID) error {
		if root != nil && root.OID == oid && root.OID != t.OID {
			return nil
		}
		if k := (fileKey{t.DB, strings.ToLower(file)}); s.files.get(k) == oid {
			s.files.delete(k)
		}
		if s.spaces.get(space) == oid {
			s.spaces.delete(space)
		}
		return nil
	})
}
