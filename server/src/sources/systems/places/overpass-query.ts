/** Tags that say what kind of business an element is, the most telling first. */
export const CATEGORIES = ['shop', 'amenity', 'office', 'craft', 'healthcare', 'leisure', 'tourism'] as const

/** What people say where OpenStreetMap has another word. */
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

/** Named elements whose category or cuisine is what is sought, or businesses that have it in their names. */
export function printQuery({ text, kind, area, after, size }: Wanted): string {
  // Only letters, digits and blanks are left: nothing that the query language or its regular expressions would read.
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
