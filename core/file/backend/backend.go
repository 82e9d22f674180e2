// Package backend opens where a site keeps the bytes of its files, as its
// configuration says: a folder, or a part of a bucket.
package backend

import (
	"bytes"
	"encoding/json"
	"io"

	"armature/core/file"
	"armature/core/file/s3"
	"armature/core/site"
)

// Setting is the site setting that says where files are kept.
const Setting = "file_storage"

// Storage is a place for files that is closed with the site.
type Storage interface {
	file.Storage
	io.Closer
}

// Open opens where a site keeps the bytes of its files: the folder dir, or a part
// of a bucket that is named as the site's folder.
func Open(config *site.Config, folder, dir string) (Storage, error) {
	bucket, named, err := options(config, folder)
	if err != nil {
		return nil, err
	}
	if !named {
		return file.OpenDisk(dir)
	}
	return s3.Open(bucket), nil
}

// Bucket is where in object storage a site keeps its files, whose folder has a
// name; empty where it keeps them on disk.
func Bucket(config *site.Config, folder string) (bucket, prefix string) {
	o, named, err := options(config, folder)
	if err != nil || !named {
		return "", ""
	}
	return o.Bucket, o.Prefix
}

func options(config *site.Config, folder string) (bucket s3.Options, named bool, err error) {
	bucket, named, err = s3.Parse(Settings(config))
	if bucket.Prefix == "" {
		bucket.Prefix = folder + "/"
	}
	return bucket, named, err
}

// Settings is what a configuration says of it; nil: nothing.
func Settings(c *site.Config) json.RawMessage {
	raw, _ := c.Get(Setting)
	return raw
}

// Check refuses a configuration that names a place which cannot be.
func Check(c *site.Config) error {
	_, _, err := s3.Parse(Settings(c))
	return err
}

// Same reports whether two configurations name the same place for files.
func Same(a, b *site.Config) bool { return bytes.Equal(Settings(a), Settings(b)) }
