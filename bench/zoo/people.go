package zoo

import (
	"fmt"
	"strings"
)

var people = []Column{
	{Name: "person", Group: "people", open: openPerson},
	{Name: "company", Group: "people", HeldOut: true, open: openCompany},
	{Name: "address", Group: "people", open: openAddress},
	{Name: "address_eu", Group: "people", HeldOut: true, open: openAddressEU},
	{Name: "phone", Group: "people", open: openPhone},
	{Name: "phone_mixed", Group: "people", HeldOut: true, open: openPhoneMixed},
	{Name: "email", Group: "people", open: openEmail},
}

var firstNames = strings.Fields(`James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph
	Jessica Thomas Sarah Charles Karen Christopher Lisa Daniel Nancy Matthew Betty Anthony Sandra Mark Margaret Donald Ashley Steven
	Kimberly Andrew Emily Paul Donna Joshua Michelle Kenneth Carol Kevin Amanda Brian Melissa George Deborah Timothy Stephanie Ronald
	Rebecca Jason Sharon Edward Laura Jeffrey Cynthia Ryan Dorothy Jacob Amy Gary Kathleen Nicholas Angela Eric Shirley Jonathan Emma
	Stephen Brenda Larry Pamela Justin Nicole Scott Anna Brandon Samantha Benjamin Katherine Samuel Christine Gregory Debra Alexander
	Rachel Patrick Carolyn Frank Janet Raymond Maria Jack Olivia Dennis Heather Jerry Helen Tyler Catherine Aaron Diane Jose Julie Adam
	Victoria Nathan Joyce Henry Lauren Zachary Kelly Douglas Christina Peter Ruth Kyle Joan Noah Virginia Ethan Judith Jeremy Evelyn Mia
	Walter Hannah Christian Andrea Keith Megan Roger Cheryl Terry Jacqueline Austin Madison Sean Teresa Gerald Abigail Carl Sophia Dylan`)

var lastNames = strings.Fields(`Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson
	Anderson Thomas Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis Robinson Walker Young Allen
	King Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter Roberts Gomez Phillips
	Evans Turner Diaz Parker Cruz Edwards Collins Reyes Stewart Morris Morales Murphy Cook Rogers Gutierrez Ortiz Morgan Cooper Peterson
	Bailey Reed Kelly Howard Ramos Kim Cox Ward Richardson Watson Brooks Chavez Wood James Bennett Gray Mendoza Ruiz Hughes Price
	Alvarez Castillo Sanders Patel Myers Long Ross Foster Jimenez Powell Jenkins Perry Russell Sullivan Bell Coleman Butler Henderson
	Barnes Fisher Vasquez Simmons Romero Jordan Patterson Alexander Hamilton Graham Reynolds Griffin Wallace Moreno West Cole Hayes`)

// names makes the names of persons, with a long tail of rare ones.
func (g *gen) names() func() (first, last string) {
	lasts := g.vocabulary(nil, 20_000)
	for i, w := range lasts {
		lasts[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	lasts = append(append([]string{}, lastNames...), lasts...)
	first, last := g.zipf(1.2, len(firstNames)), g.zipf(1.15, len(lasts))
	return func() (string, string) { return firstNames[first()], lasts[last()] }
}

func openPerson(g *gen) (next, error) {
	name := g.names()
	return func(b []byte) []byte {
		first, last := name()
		b = append(b, first...)
		if g.chance(4) {
			b = append(b, ' ', byte('A'+g.IntN(26)), '.')
		}
		b = append(append(b, ' '), last...)
		if g.chance(25) {
			b = append(append(b, ' '), one(g, []string{"Jr.", "Sr.", "III", "PhD", "MD"})...)
		}
		return b
	}, nil
}

func openCompany(g *gen) (next, error) {
	name := g.names()
	fields := strings.Fields("Software Logistics Foods Consulting Energy Capital Partners Media Systems Pharma Motors Insurance Textiles Design Labs Steel")
	forms := []string{"Inc.", "LLC", "Ltd", "GmbH", "& Co. KG", "Corp.", "S.A.", "plc", "Group", "AG"}
	return func(b []byte) []byte {
		_, last := name()
		b = append(b, last...)
		if g.chance(4) {
			_, other := name()
			b = append(append(b, " & "...), other...)
		}
		if !g.chance(3) {
			b = append(append(b, ' '), skewed(g, fields)...)
		}
		return append(append(b, ' '), skewed(g, forms)...)
	}, nil
}

func openAddress(g *gen) (next, error) {
	places, err := g.places()
	if err != nil {
		return nil, err
	}
	g.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	streets := strings.Fields("Main Oak Pine Maple Cedar Elm Washington Lake Hill Park View Walnut Spring North Ridge Church Willow Mill Sunset Railroad Jackson River Highland Franklin Dogwood Hickory Chestnut Center Cherry Lincoln")
	for _, w := range g.vocabulary(nil, 3000) {
		streets = append(streets, strings.ToUpper(w[:1])+w[1:])
	}
	kinds := strings.Fields("St Ave Rd Dr Ln Blvd Ct Way Pl Cir Ter Pkwy")
	street, at := g.zipf(1.2, len(streets)), g.zipf(1.1, len(places))
	return func(b []byte) []byte {
		p := places[at()]
		b = fmt.Appendf(b, "%d %s %s", 1+int(g.around(900, 1.3)), streets[street()], skewed(g, kinds))
		if g.chance(5) {
			b = fmt.Appendf(b, " Apt %d%c", 1+g.below(40), 'A'+g.IntN(6))
		}
		return fmt.Appendf(b, ", %s, %s %s", p.city, p.state, p.zip)
	}, nil
}

func openAddressEU(g *gen) (next, error) {
	stems := []string{"Bahnhof", "Haupt", "Garten", "Dorf", "Schul", "Berg", "Kirch", "Wald", "Ring", "Linden", "Mühlen", "Goethe", "Schiller", "Wiesen", "Rosen", "Bäcker", "Königs", "Brücken"}
	for _, w := range g.vocabulary(nil, 2000) {
		stems = append(stems, strings.ToUpper(w[:1])+w[1:])
	}
	ends := []string{"straße", "weg", "platz", "gasse", "allee", "ufer", "str."}
	towns := []string{"Berlin", "Hamburg", "München", "Köln", "Frankfurt am Main", "Stuttgart", "Düsseldorf", "Leipzig", "Nürnberg", "Zürich", "Wien", "Graz", "Łódź", "Kraków", "Lyon", "Besançon", "Malmö", "Ålborg", "Gdańsk", "Brno"}
	zips := make([][]string, len(towns))
	for i := range zips {
		for range 20 {
			zips[i] = append(zips[i], fmt.Sprintf("%05d", 1000+i*4500+g.IntN(300)))
		}
	}
	stem := g.zipf(1.2, len(stems))
	return func(b []byte) []byte {
		town := g.below(len(towns))
		b = fmt.Appendf(b, "%s%s %d", stems[stem()], skewed(g, ends), 1+g.below(160))
		if g.chance(8) {
			b = append(b, byte('a'+g.IntN(4)))
		}
		return fmt.Appendf(b, "\n%s %s", skewed(g, zips[town]), towns[town])
	}, nil
}

// areas are area codes, the first ones with more subscribers.
func (g *gen) areas() []int {
	out := make([]int, 280)
	for i := range out {
		out[i] = 200 + g.IntN(790)
	}
	return out
}

func openPhone(g *gen) (next, error) {
	areas := g.areas()
	return func(b []byte) []byte {
		return fmt.Appendf(b, "(%03d) %03d-%04d", skewed(g, areas), 200+g.IntN(800), g.IntN(10_000))
	}, nil
}

func openPhoneMixed(g *gen) (next, error) {
	areas := g.areas()
	return func(b []byte) []byte {
		area := skewed(g, areas)
		switch g.below(6) {
		case 0:
			return fmt.Appendf(b, "+1-%03d-%03d-%04d", area, 200+g.IntN(800), g.IntN(10_000))
		case 1:
			return fmt.Appendf(b, "+49 %d %d", 30+g.below(900), 100_000+g.IntN(90_000_000))
		case 2:
			return fmt.Appendf(b, "0%d/%d", 30+g.below(900), 1000+g.IntN(9_000_000))
		case 3:
			return fmt.Appendf(b, "%03d.%03d.%04d", area, 200+g.IntN(800), g.IntN(10_000))
		case 4:
			return fmt.Appendf(b, "+44 7%03d %06d", g.IntN(1000), g.IntN(1_000_000))
		}
		return fmt.Appendf(b, "%03d%03d%04d x%d", area, 200+g.IntN(800), g.IntN(10_000), g.IntN(1000))
	}, nil
}

func openEmail(g *gen) (next, error) {
	name := g.names()
	domains := strings.Fields("gmail.com yahoo.com hotmail.com outlook.com aol.com icloud.com comcast.net gmx.de web.de proton.me mail.ru qq.com")
	for _, w := range g.vocabulary(nil, 8000) {
		domains = append(domains, w+one(g, []string{".com", ".com", ".com", ".org", ".net", ".io", ".de", ".co.uk"}))
	}
	domain := g.zipf(1.3, len(domains))
	return func(b []byte) []byte {
		first, last := name()
		first, last = strings.ToLower(first), strings.ToLower(last)
		switch g.below(5) {
		case 0:
			b = append(append(append(b, first...), '.'), last...)
		case 1:
			b = append(append(b, first[0]), last...)
		case 2:
			b = fmt.Appendf(b, "%s%s%d", first, last, 50+g.IntN(50))
		case 3:
			b = fmt.Appendf(b, "%s_%d", last, g.below(10_000))
		default:
			b = append(append(b, first...), last[0])
		}
		return append(append(b, '@'), domains[domain()]...)
	}, nil
}
