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
	cacheGroup                       // what Stripe.Group keeps
)

// Group is what open makes of the packed group of a node, or made of it before, which takes about size bytes. All its members need it.
func (s *Stripe) Group(id uint32, open func() (group any, size int64, err error)) (any, error) {
	key := cacheKey{cacheGroup, s.index, id}
	if g, ok := s.f.cache.Get(key); ok {
		return g, nil
	}
	g, size, err := open()
	if err == nil {
		s.f.cache.Put(key, g, size)
	}
	return g, err
}
