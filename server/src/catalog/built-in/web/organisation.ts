import { isObject } from '../../../lib/json/object.ts'
import { textOfProperty, textsOf, type Thing, typesOf } from './json-ld.ts'

/** Matches the types of schema.org that are organisations: the general ones, and all kinds of local businesses. */
const ORGANISATION =
  /^(\w*Organization|Corporation|\w*Business|\w*Store|\w*Shop|\w*Company|\w*Agency|\w*Agent|\w*Service|Airline|Consortium|NGO|\w*School|CollegeOrUniversity|\w*Restaurant|Bakery|BarOrPub|Brewery|CafeOrCoffeeShop|Winery|Hotel|Hostel|Motel|Resort|LodgingBusiness|Dentist|Physician|Hospital|\w*Clinic|Pharmacy|Attorney|Notary|BankOrCreditUnion|Library|Museum|Brand|\w*Contractor|Electrician|Plumber|Locksmith|AutoRepair|\w*Salon|ExerciseGym|HealthClub|Optician|VeterinaryCare|Florist|Project)$/
const NOT_THE_COMPANY = /^(SearchAction|GovernmentService|BroadcastService|WebService|FinancialService)$/
/** Matches general types, which do not tell what an organisation does. */
const PLAIN =
  /^(Organization|Corporation|LocalBusiness|Brand|NGO|Store|OnlineBusiness|ProfessionalService|Service|Project)$/

/**
 * Returns the organisation that owns the site. One with the site's own address comes first, then the one with the most
 * details.
 */
export function findOrganisation(things: readonly Thing[], host: string): Thing | null {
  const known = things.filter((thing) =>
    typesOf(thing).some((type) => ORGANISATION.test(type) && !NOT_THE_COMPANY.test(type)),
  )
  const ranked = known
    .map((thing, place) => ({ thing, score: richness(thing, host) - place / 100 }))
    .filter(
      ({ thing }) => textOfProperty(thing, 'name') !== null || textOfProperty(thing, 'legalName') !== null,
    )
    .sort((a, b) => b.score - a.score)
  return ranked[0]?.thing ?? null
}

const TELLING = [
  'logo',
  'address',
  'telephone',
  'email',
  'sameAs',
  'description',
  'foundingDate',
  'contactPoint',
  'legalName',
]

function richness(thing: Thing, host: string): number {
  const described = TELLING.filter((name) => textsOf(thing[name]).length > 0 || isObject(thing[name])).length
  const addresses = [...textsOf(thing['url']), ...textsOf(thing['@id'])]
  const own = addresses.some((address) => bareHost(URL.parse(address)?.hostname ?? '') === bareHost(host))
  const isService = typesOf(thing).every((type) => /Service$|^Brand$/.test(type))
  return described + (own ? 5 : 0) - (isService ? 4 : 0)
}

const bareHost = (host: string) => host.replace(/^www\./, '')

/** Returns the kind of business in words: `AutoRepair` is "auto repair". Returns null for general types. */
export function businessKind(thing: Thing): string | null {
  const type = typesOf(thing).find((name) => !PLAIN.test(name))
  return type === undefined ? null : type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

/** Returns the address of an image that is given as an address or as an ImageObject. */
export function imageOf(value: unknown, base: URL): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value
  const image = isObject(first) ? (first['url'] ?? first['contentUrl'] ?? first['@id']) : first
  const [address] = textsOf(image)
  const url = address === undefined ? null : URL.parse(address, base.href)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}
