/** The tags that name the kind of business of an element, the most specific first. */
export const CATEGORIES = ['shop', 'amenity', 'office', 'craft', 'healthcare', 'leisure', 'tourism'] as const

/** Common words for which OpenStreetMap has another one. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  coffee_shop: 'cafe',
  gym: 'fitness_centre',
  fitness_center: 'fitness_centre',
  barber: 'hairdresser',
  barber_shop: 'hairdresser',
  hair_salon: 'hairdresser',
  beauty_salon: 'beauty',
  bookstore: 'books',
  book_shop: 'books',
  grocery_store: 'supermarket',
  gas_station: 'fuel',
  petrol_station: 'fuel',
  law_firm: 'lawyer',
  real_estate_agency: 'estate_agent',
  real_estate_agent: 'estate_agent',
  travel_agent: 'travel_agency',
  vet: 'veterinary',
  physician: 'doctors',
  drugstore: 'chemist',
  auto_repair: 'car_repair',
  car_dealer: 'car',
  car_dealership: 'car',
  day_care: 'kindergarten',
  plumbing: 'plumber',
}

type Wanted = { text: string; kind: string; area: string; after: number; size: number }

/**
 * Prints a query for named elements whose category or cuisine matches, and for businesses with the text in their name.
 */
export function printQuery({ text, kind, area, after, size }: Wanted): string {
  // Only letters, digits and spaces remain: nothing that the query language or its regular expressions would interpret.
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  const value = words.replaceAll(' ', '_')
  const single = value
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|ss|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
  const values = [...new Set([value, single, OTHER_WORDS[value], OTHER_WORDS[single]])].filter(Boolean)
  const category = `^(${CATEGORIES.join('|')})$`
  const where = `${area}(if:id()>${after})`
  return [
    '[out:json][timeout:25];(',
    `${kind}["name"][~"^(${CATEGORIES.join('|')}|cuisine)$"~"(^|;)(${values.join('|')})s?(;|$)",i]${where};`,
    `${kind}["name"~"${words}",i][~"${category}"~"."]${where};`,
    `);out tags center asc ${size};`,
  ].join('')
}
