package shardfile

// cacheKey names an element of the metadata that is kept parsed. Stripe -1 stands
// for the shard itself.
type cacheKey struct {
	kind   cacheKind
	stripe int
	id     uint32
}

type cacheKind uint8

const (
	cacheFieldList  cacheKind = iota // *fieldList
	cacheDescriptor                  // *shardpb.StripeFieldDescriptor
)
