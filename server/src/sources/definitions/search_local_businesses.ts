import { defineSource } from '../define.ts'
import { businesses, checkPlace } from '../systems/places/businesses.ts'
import { googleBusinesses } from '../systems/places/google.ts'
import { overpassBusinesses } from '../systems/places/overpass.ts'
import { serperBusinesses } from '../systems/places/serper.ts'

export default defineSource({
  slug: 'search_local_businesses',
  name: 'Search local businesses',
  description:
    'Businesses of a kind in a place or around a point: by OpenStreetMap without a key, by Google Places or Serper with one.',
  mode: 'once',
  shape: businesses,
  check: checkPlace,
  pulls: [overpassBusinesses, googleBusinesses, serperBusinesses],
})
