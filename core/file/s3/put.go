package s3

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// atOnce is how many bytes are sent in one request; more go in parts. Servers take
// 5 GiB in one request, and 10000 parts.
const (
	atOnce   = 1 << 30
	minPart  = 64 << 20
	maxParts = 10_000
)

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
	if info.Size() > b.atOnce {
		return b.putParts(ctx, key, f, info.Size())
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.bucket, Key: aws.String(b.prefix + key), Body: f, ContentLength: aws.Int64(info.Size()),
	})
	return err
}

// putParts sends an object in parts, one after the other. It appears with the last
// one; what is broken off is taken back.
func (b *Bucket) putParts(ctx context.Context, key string, f io.ReaderAt, size int64) error {
	name := aws.String(b.prefix + key)
	begun, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.bucket, Key: name})
	if err != nil {
		return err
	}
	parts, err := b.sendParts(ctx, name, begun.UploadId, f, size)
	if err == nil {
		_, err = b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &b.bucket, Key: name, UploadId: begun.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
	}
	if err == nil {
		return nil
	}
	_, failed := b.client.AbortMultipartUpload(context.WithoutCancel(ctx), &s3.AbortMultipartUploadInput{Bucket: &b.bucket, Key: name, UploadId: begun.UploadId})
	return errors.Join(err, failed)
}

func (b *Bucket) sendParts(ctx context.Context, name, upload *string, f io.ReaderAt, size int64) (parts []types.CompletedPart, err error) {
	part := max(b.minPart, (size+maxParts-1)/maxParts)
	for at := int64(0); at < size; at += part {
		number := aws.Int32(int32(len(parts) + 1))
		length := min(part, size-at)
		sent, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &b.bucket, Key: name, UploadId: upload, PartNumber: number,
			Body: io.NewSectionReader(f, at, length), ContentLength: aws.Int64(length),
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, types.CompletedPart{ETag: sent.ETag, PartNumber: number})
	}
	return parts, nil
}
