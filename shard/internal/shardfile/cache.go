package shardfile

// cacheKey identifies an element of the cache of parsed metadata. Stripe -1 is the whole shard.
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
