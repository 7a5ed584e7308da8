package synthetic

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// HitsCounter is the site that some questions about [Hits] ask for, with 0.7 % of the rows, and HitsPage is one of its pages.
const (
	HitsCounter = 62
	HitsPage    = "http://site62.example.ru/"
)

// HitsUser is a user of [Hits].
func HitsUser() int64 { return newVisitor(1 << 10).id }

// HitsHash is the hash of a URL in [Hits].
func HitsHash(text string) int64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return int64(h.Sum64())
}

// numbers are the small columns of visitors and hits.
type numbers = map[string]int

// visitor is a user of the sites.
type visitor struct {
	id             int64
	ip, region     int32
	phone          string
	settings       numbers
	agent, cookies string
}

// hit is a row.
type hit struct {
	*visitor
	counter, day, second       int
	title, url, referer, query string
	numbers                    numbers
}

// hitColumn is a column: its values are of one of these types.
type hitColumn struct {
	name  string
	value func(rnd *rand.Rand, h *hit) any // int16, int32, int64, string, arrow.Date32, arrow.Timestamp
}

func ofVisitor(name string) hitColumn {
	return hitColumn{name, func(_ *rand.Rand, h *hit) any { return int16(h.settings[name]) }}
}

func ofHit(name string) hitColumn {
	return hitColumn{name, func(_ *rand.Rand, h *hit) any { return int16(h.numbers[name]) }}
}

const firstDay = 15887 // 1 July 2013

// hitColumns are those columns of ClickBench's table that the questions use, and as many of the others: a question asks for all columns.
var hitColumns = []hitColumn{
	{"WatchID", func(rnd *rand.Rand, _ *hit) any { return int64(4611686018427387904 + rnd.Uint64N(1<<62)) }},
	ofVisitor("JavaEnable"),
	{"Title", func(_ *rand.Rand, h *hit) any { return h.title }},
	{"GoodEvent", func(*rand.Rand, *hit) any { return int16(1) }},
	{"EventTime", func(_ *rand.Rand, h *hit) any {
		return arrow.Timestamp((int64(firstDay+h.day)*86400 + int64(h.second)) * 1e6)
	}},
	{"EventDate", func(_ *rand.Rand, h *hit) any { return arrow.Date32(firstDay + h.day) }},
	{"CounterID", func(_ *rand.Rand, h *hit) any { return int32(h.counter) }},
	{"ClientIP", func(_ *rand.Rand, h *hit) any { return h.ip }},
	{"RegionID", func(_ *rand.Rand, h *hit) any { return h.region }},
	{"UserID", func(_ *rand.Rand, h *hit) any { return h.id }},
	ofVisitor("OS"), ofVisitor("UserAgent"),
	{"URL", func(_ *rand.Rand, h *hit) any { return h.url }},
	{"Referer", func(_ *rand.Rand, h *hit) any { return h.referer }},
	ofHit("IsRefresh"), ofHit("RefererCategoryID"), ofHit("URLCategoryID"),
	{"URLRegionID", func(_ *rand.Rand, h *hit) any { return int32(h.counter % 230) }},
	ofVisitor("ResolutionWidth"), ofVisitor("ResolutionHeight"), ofVisitor("ResolutionDepth"), ofVisitor("FlashMajor"), ofVisitor("UserAgentMajor"),
	{"UserAgentMinor", func(_ *rand.Rand, h *hit) any { return h.agent }},
	ofVisitor("CookieEnable"), ofVisitor("IsMobile"), ofVisitor("MobilePhone"),
	{"MobilePhoneModel", func(_ *rand.Rand, h *hit) any { return h.phone }},
	{"Params", func(*rand.Rand, *hit) any { return "" }},
	{"IPNetworkID", func(_ *rand.Rand, h *hit) any { return h.ip >> 9 }},
	ofHit("TraficSourceID"), ofHit("SearchEngineID"),
	{"SearchPhrase", func(_ *rand.Rand, h *hit) any { return h.query }},
	ofHit("AdvEngineID"), ofHit("IsArtifical"), ofVisitor("WindowClientWidth"), ofVisitor("WindowClientHeight"),
	{"ClientTimeZone", func(_ *rand.Rand, h *hit) any { return int16(h.region % 12 * 60) }},
	{"HID", func(rnd *rand.Rand, _ *hit) any { return int32(rnd.Uint32()) }},
	ofHit("IsLink"), ofHit("IsDownload"), ofHit("DontCountHits"),
	{"SendTiming", func(rnd *rand.Rand, _ *hit) any { return int32(skewed(rnd, 4000) * rnd.IntN(2)) }},
	{"FetchTiming", func(rnd *rand.Rand, _ *hit) any { return int32(skewed(rnd, 900) * rnd.IntN(2)) }},
	{"BrowserLanguage", func(_ *rand.Rand, h *hit) any { return h.cookies }},
	{"RefererHash", func(_ *rand.Rand, h *hit) any { return HitsHash(h.referer) }},
	{"URLHash", func(_ *rand.Rand, h *hit) any { return HitsHash(h.url) }},
}

// newVisitor makes a visitor, the same one each time.
func newVisitor(number uint64) *visitor {
	rnd := rand.New(rand.NewPCG(number, 62))
	v := &visitor{id: int64(rnd.Uint64() >> 1), ip: int32(rnd.Uint32()), region: int32(skewed(rnd, 9000))}
	if rnd.IntN(5) < 2 {
		v.region = 229 // a city has many of the visitors
	}
	v.settings = numbers{"JavaEnable": rnd.IntN(2), "OS": skewed(rnd, 90), "UserAgent": skewed(rnd, 80), "ResolutionDepth": 32 - 8*(rnd.IntN(8)/7),
		"FlashMajor": skewed(rnd, 12), "UserAgentMajor": skewed(rnd, 60), "CookieEnable": min(1, rnd.IntN(50))}
	size := screens[skewed(rnd, len(screens))]
	v.settings["ResolutionWidth"], v.settings["ResolutionHeight"] = size[0], size[1]
	v.settings["WindowClientWidth"], v.settings["WindowClientHeight"] = size[0]-rnd.IntN(40), max(0, size[1]-80-rnd.IntN(200))
	v.agent, v.cookies = [...]string{"", "0", "D", "9", "5"}[skewed(rnd, 5)], [...]string{"ru", "en", "uk", ""}[skewed(rnd, 4)]
	if rnd.IntN(18) == 0 {
		model := skewed(rnd, 166)
		v.phone = [...]string{"iPhone", "iPad", "Galaxy", "Lumia", "Nexus"}[model%5] + strings.Repeat(fmt.Sprint(" ", model), min(1, model/5))
		v.settings["IsMobile"], v.settings["MobilePhone"] = 1, 1+model%60
	}
	return v
}

var screens = [][2]int{{1366, 768}, {1280, 1024}, {1920, 1080}, {1024, 768}, {1280, 800}, {1440, 900}, {1680, 1050}, {1600, 900}, {1368, 768}, {1152, 864}, {800, 600}, {320, 480}, {768, 1024}, {2560, 1440}, {0, 0}}

var words = strings.Fields(`карта смотреть онлайн бесплатно купить цена фото скачать москва недвижимость отзывы фильм погода работа
	новости сайт игры музыка авто ремонт квартира дача рецепт как сделать телефон магазин расписание автобус одежда platform samsung iphone
	google video galaxy windows hotel cheap диван холодильник лечение симптомы школа 2013 официальный форум в на для и с по россии спб`)

// phrase are the words of a number.
func phrase(n uint64) string {
	rnd := rand.New(rand.NewPCG(n, 7))
	out := make([]string, 1+rnd.IntN(6))
	for i := range out {
		out[i] = words[skewed(rnd, len(words))]
	}
	return strings.Join(out, " ")
}

// page is the URL and the title of a page of a site.
func page(counter int, n uint64) (url, title string) {
	site := fmt.Sprintf("http://site%d.example.ru/", counter)
	if n == 0 {
		return site, "Главная страница — " + phrase(uint64(counter))
	}
	rnd := rand.New(rand.NewPCG(n, uint64(counter)))
	title = phrase(n) + " - " + phrase(uint64(counter))
	if rnd.IntN(2000) == 0 {
		title = "Google " + title
	}
	kind := [...]string{"catalog", "news", "realty/leaf", "forum/topic", "search", "auto_cars", "index.php"}[rnd.IntN(7)]
	switch rnd.IntN(4) {
	case 0:
		return fmt.Sprintf("%s%s/%d/%d.html", site, kind, rnd.IntN(400), n), title
	case 1:
		return fmt.Sprintf("%s%s?page=%d&group_id=%d&sort=%x", site, kind, rnd.IntN(20), n, rnd.Uint32N(1<<16)), title
	case 2:
		if rnd.IntN(3000) == 0 {
			kind = "redirect?to=google"
		}
		return fmt.Sprintf("%s%s/%x-%d", site, kind, rnd.Uint64(), n), title
	}
	return fmt.Sprintf("%s%s/item_id=%d&lang=ru", site, kind, n), title
}

// Hits makes rows with the columns and distributions of the table of web analytics that ClickBench asks 43 questions about, as they are described
// publicly: in the order of counters, days and users; a few large sites among thousands; most texts of searches empty; identifiers of users and pages by the
// hundred thousand.
func Hits(d *suite.Dataset, rows int) {
	rnd := rand.New(rand.NewPCG(20130701, 99_997_497))
	b := newHitBuilder(d)
	defer b.Release()
	// Sizes of sites fall like those of cities.
	counters, total := max(rows/15_000, 10), 0.0
	weight := func(i int) float64 { return 1 / float64(i+3) }
	for i := range counters {
		total += weight(i)
	}
	for i := range counters {
		number, size := 10+i*7+i%3, int(float64(rows)*0.993*weight((i*37)%counters)/total)
		if number > HitsCounter && number-HitsCounter <= 7 {
			b.site(rnd, HitsCounter, rows*7/1000, rows)
		}
		if number != HitsCounter {
			b.site(rnd, number, size, rows)
		}
	}
	b.flush()
}

type hitBuilder struct {
	*array.RecordBuilder
	d *suite.Dataset
}

func newHitBuilder(d *suite.Dataset) *hitBuilder {
	types := map[string]arrow.DataType{
		"int16": arrow.PrimitiveTypes.Int16, "int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64, "string": arrow.BinaryTypes.String,
		"arrow.Date32": arrow.FixedWidthTypes.Date32, "arrow.Timestamp": arrow.FixedWidthTypes.Timestamp_us,
	}
	var fields []arrow.Field
	sample := &hit{visitor: newVisitor(0)}
	for _, c := range hitColumns {
		dt := types[fmt.Sprintf("%T", c.value(rand.New(rand.NewPCG(0, 0)), sample))]
		if c.name == "EventTime" {
			dt = &arrow.TimestampType{Unit: arrow.Microsecond}
		}
		fields = append(fields, arrow.Field{Name: c.name, Type: dt})
	}
	d.Schema = arrow.NewSchema(fields, nil)
	return &hitBuilder{array.NewRecordBuilder(memory.DefaultAllocator, d.Schema), d}
}

func (b *hitBuilder) flush() {
	if b.Field(0).Len() > 0 {
		b.d.Batches = append(b.d.Batches, b.NewRecordBatch())
	}
}

func (b *hitBuilder) add(rnd *rand.Rand, h *hit) {
	for i, c := range hitColumns {
		switch v := c.value(rnd, h).(type) {
		case int16:
			b.Field(i).(*array.Int16Builder).Append(v)
		case int32:
			b.Field(i).(*array.Int32Builder).Append(v)
		case int64:
			b.Field(i).(*array.Int64Builder).Append(v)
		case string:
			b.Field(i).(*array.StringBuilder).Append(v)
		case arrow.Date32:
			b.Field(i).(*array.Date32Builder).Append(v)
		case arrow.Timestamp:
			b.Field(i).(*array.TimestampBuilder).Append(v)
		}
	}
	if b.Field(0).Len() == suite.BatchRows {
		b.flush()
	}
}

// site adds the hits of a site, of a table with as many rows as all sites have.
func (b *hitBuilder) site(rnd *rand.Rand, counter, hits, rows int) {
	pages := rand.NewZipf(rnd, 1.1, 4, uint64(max(hits/2, 20)))
	phrases := rand.NewZipf(rnd, 1.05, 10, uint64(max(rows/12, 20)))
	visitors := rows/6 + 1
	for day := range 31 {
		n := hits * (day + 1) / 31
		n -= hits * day / 31
		var session []*visitor
		for range n/5 + 1 {
			session = append(session, newVisitor(uint64(rnd.IntN(visitors))))
		}
		slices.SortFunc(session, func(x, y *visitor) int { return cmp.Compare(x.id, y.id) })
		for i, v := range session {
			b.session(rnd, &hit{visitor: v, counter: counter, day: day}, n*(i+1)/len(session)-n*i/len(session), pages, phrases)
		}
	}
}

// hitFlags are 1 in one of so many hits.
var hitFlags = []struct {
	name  string
	oneOf int
}{{"IsRefresh", 8}, {"IsLink", 25}, {"IsDownload", 600}, {"DontCountHits", 14}, {"IsArtifical", 20}}

// session adds hits of a visitor, who comes from another page, or a search, or from nowhere.
func (b *hitBuilder) session(rnd *rand.Rand, h *hit, hits int, pages, phrases *rand.Zipf) {
	h.second = skewed(rnd, 80_000)
	for i := range hits {
		from := h.url
		h.url, h.title = page(h.counter, pages.Uint64())
		h.query, h.referer, h.numbers = "", "", numbers{"RefererCategoryID": skewed(rnd, 3) * 9, "URLCategoryID": h.counter % 14}
		switch rnd.IntN(8) {
		case 0: // a search, whose phrase stays for a page or two
			h.query = phrase(phrases.Uint64())
			engine := skewed(rnd, 40)
			h.referer = fmt.Sprintf("http://yandex.ru/yandsearch?text=%s&lr=%d", strings.ReplaceAll(h.query, " ", "+"), h.region)
			h.numbers["SearchEngineID"], h.numbers["TraficSourceID"] = 2+engine, 2
		case 1:
			h.numbers["TraficSourceID"] = rnd.IntN(9) - 1
			if rnd.IntN(20) == 0 {
				h.numbers["AdvEngineID"] = 1 + skewed(rnd, 60)
			}
		default:
			if h.referer = from; i == 0 {
				h.referer, _ = page(skewed(rnd, 700), uint64(skewed(rnd, 1000)))
				if rnd.IntN(3) == 0 {
					h.referer = strings.Replace(h.referer, "http://", "https://www.", 1)
				}
			}
		}
		for _, f := range hitFlags {
			if rnd.IntN(f.oneOf) == 0 {
				h.numbers[f.name] = 1
			}
		}
		h.second = min(h.second+rnd.IntN(90), 86_399)
		b.add(rnd, h)
	}
}
