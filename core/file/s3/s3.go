// Package s3 keeps files in an S3-compatible object storage.
//
// Every file is one object, sent with its length from a spooled file, in a single
// request as a rule: an object appears whole or not at all, and nothing is held in
// memory.
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
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

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
	if err := o.check(); err != nil {
		return o, false, fmt.Errorf("file_storage: %w", err)
	}
	return o, true, nil
}

// Scheme begins the URL of a bucket.
const Scheme = "s3://"

// ParseURL reads s3://BUCKET/PREFIX, which may say endpoint, region and
// virtual_host as a query. Who may use it is not in it: a URL is shown.
func ParseURL(text string) (o Options, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return o, fmt.Errorf("the URL of the bucket cannot be read: %w", err)
	}
	q := u.Query()
	for key := range q {
		if key != "endpoint" && key != "region" && key != "virtual_host" {
			return o, fmt.Errorf("the URL of the bucket says %s: it may say endpoint, region and virtual_host", key)
		}
	}
	switch {
	case u.Scheme+"://" != Scheme || u.Host == "":
		return o, errors.New("the URL of a bucket has the form s3://BUCKET/PREFIX?endpoint=https://HOST")
	case u.User != nil:
		return o, errors.New("the URL of a bucket names nobody: its credentials are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	o = Options{
		Endpoint: q.Get("endpoint"), Region: q.Get("region"), Bucket: u.Host, Prefix: strings.TrimPrefix(u.Path, "/"),
		VirtualHost: q.Has("virtual_host") && q.Get("virtual_host") != "0" && q.Get("virtual_host") != "false",
	}
	return o, o.check()
}

// check refuses an endpoint that cannot be one.
func (o Options) check() error {
	if o.Endpoint == "" {
		return nil
	}
	if u, err := url.Parse(o.Endpoint); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%q is not the URL of an endpoint", o.Endpoint)
	}
	return nil
}

// Bucket is a file.Storage.
type Bucket struct {
	client *s3.Client
	bucket string
	prefix string

	atOnce, minPart int64 // bytes; fewer in tests
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
	return &Bucket{client: s3.New(options), bucket: o.Bucket, prefix: o.Prefix, atOnce: atOnce, minPart: minPart}
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
	var status interface{ HTTPStatusCode() int }
	switch {
	case isMissing(err):
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

func isMissing(err error) bool {
	var said smithy.APIError // copying knows no error of its own for it
	return errors.As(err, &said) && said.ErrorCode() == "NoSuchKey"
}

// Move implements file.Storage: the server copies the object, which it does up to
// the size of one that is sent in a single request.
func (b *Bucket) Move(ctx context.Context, from, to string) error {
	_, err := b.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: &b.bucket, Key: aws.String(b.prefix + to), CopySource: aws.String(b.bucket + "/" + escaped(b.prefix+from)),
	})
	if isMissing(err) {
		return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	return b.Delete(ctx, from)
}

// escaped is a key as a path of a URL.
func escaped(key string) string { return (&url.URL{Path: key}).EscapedPath() }

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
