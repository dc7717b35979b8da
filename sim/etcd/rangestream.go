package etcd

import (
	"context"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// RangeStream answers in one part: etcd's answer is one revision, however many parts it has.
// kube-apiserver lists with it since 1.37 (EtcdRangeStream; etcd3, streamChunks).
func (s *straight) RangeStream(ctx context.Context, q *pb.RangeRequest, _ ...grpc.CallOption) (pb.KV_RangeStreamClient, error) {
	return inOnePiece(s.Range(ctx, q))
}

// RangeStream answers in one part.
func (k *kv) RangeStream(ctx context.Context, q *pb.RangeRequest, _ ...grpc.CallOption) (pb.KV_RangeStreamClient, error) {
	return inOnePiece(k.Range(ctx, q))
}

func inOnePiece(a *pb.RangeResponse, err error) (pb.KV_RangeStreamClient, error) {
	return &once{answer: a}, err
}

// once is a stream of one answer.
type once struct {
	grpc.ClientStream
	answer *pb.RangeResponse
}

func (o *once) Recv() (*pb.RangeStreamResponse, error) {
	if o.answer == nil {
		return nil, io.EOF
	}
	a := o.answer
	o.answer = nil
	return &pb.RangeStreamResponse{RangeResponse: a}, nil
}
