// Package s3 keeps files in an S3-compatible object storage.
//
// Every file is one object, sent with its length from a spooled file in a single
// request: an object appears whole or not at all, and nothing is held in memory.
// The endpoint is the operator's own choice, so it may be a private address.
package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"armature/core/file"
)

// Options say where the bucket is. They are the object that a site's
// configuration has under "file_storage".
type Options struct {
	Endpoint  string `json:"endpoint"` // URL; empty: Amazon's own
	Region    string `json:"region"`   // empty: us-east-1
	Bucket    string `json:"bucket"`
	Prefix    string `json:"prefix"` // of every key; sites that share a bucket need one each
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	// VirtualHost puts the bucket into the host name; servers of one's own mostly
	// want it in the path.
	VirtualHost bool `json:"virtual_host"`
}

// Parse reads the configuration; ok is false where it names no bucket, and files
// are on disk.
func Parse(raw json.RawMessage) (o Options, ok bool, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return o, false, nil
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, false, errors.New(`file_storage must be an object such as {"endpoint": "https://...", "bucket": "...", "access_key": "...", "secret_key": "..."}`)
	}
	if o.Bucket == "" {
		return o, false, errors.New("file_storage names no bucket")
	}
	if o.Endpoint != "" {
		if u, err := url.Parse(o.Endpoint); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return o, false, fmt.Errorf("file_storage: %q is not the URL of an endpoint", o.Endpoint)
		}
	}
	return o, true, nil
}

// Bucket is a file.Storage.
type Bucket struct {
	client *s3.Client
	bucket string
	prefix string
}

var _ file.Storage = (*Bucket)(nil)

// Open makes the storage; it does not connect.
func Open(o Options) *Bucket {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	options := s3.Options{
		Region:       o.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(o.AccessKey, o.SecretKey, ""),
		UsePathStyle: !o.VirtualHost,
		HTTPClient:   &http.Client{Transport: transport()},
		// Checksums beside the signed SHA-256 are an extension that not every
		// server knows.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if o.Endpoint != "" {
		options.BaseEndpoint = aws.String(o.Endpoint)
	}
	return &Bucket{client: s3.New(options), bucket: o.Bucket, prefix: o.Prefix}
}

// transport bounds what a server that does not answer can hold up; contents may
// take as long as the request they are part of.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 30 * time.Second
	t.MaxIdleConnsPerHost = 32
	return t
}

// Close ends idle connections.
func (b *Bucket) Close() error {
	b.client.Options().HTTPClient.(*http.Client).CloseIdleConnections()
	return nil
}

// Put implements file.Storage.
func (b *Bucket) Put(ctx context.Context, key, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.bucket, Key: aws.String(b.prefix + key), Body: f, ContentLength: aws.Int64(info.Size()),
	})
	return err
}

// Open implements file.Storage.
func (b *Bucket) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &b.bucket, Key: aws.String(b.prefix + key)}
	if offset > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := b.client.GetObject(ctx, in)
	if err == nil {
		return out.Body, nil
	}
	var missing *types.NoSuchKey
	var status interface{ HTTPStatusCode() int }
	switch {
	case errors.As(err, &missing):
		return nil, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	case errors.As(err, &status) && status.HTTPStatusCode() == http.StatusRequestedRangeNotSatisfiable:
		return io.NopCloser(strings.NewReader("")), nil // at the end, as of a file
	}
	return nil, err
}

// Delete implements file.Storage.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: aws.String(b.prefix + key)})
	return err
}

// List implements file.Storage.
func (b *Bucket) List(ctx context.Context, prefix string, fn func(file.Object) error) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{
		Bucket: &b.bucket, Prefix: aws.String(b.prefix + prefix),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			object := file.Object{
				Key: strings.TrimPrefix(aws.ToString(o.Key), b.prefix), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified),
			}
			if err := fn(object); err != nil {
				return err
			}
		}
	}
	return nil
}
