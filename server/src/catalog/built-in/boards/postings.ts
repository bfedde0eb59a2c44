import { isObject } from '../../../lib/json/object.ts'
import { clean } from '../web/document.ts'
import type { Extraction } from '../web/extraction.ts'
import { textOfProperty, textsOf, type Thing, typesOf } from '../web/json-ld.ts'
import { isoDate, type JobOpening, plain } from './board.ts'

/** Returns the openings that a page itself describes, as JobPosting of schema.org. */
export function findPostings({ things, url: page }: Pick<Extraction, 'things' | 'url'>): JobOpening[] {
  return things
    .filter((thing) => typesOf(thing).includes('JobPosting'))
    .flatMap((thing) => {
      const title = clean(textOfProperty(thing, 'title') ?? textOfProperty(thing, 'name') ?? '', 300)
      if (title === null) return []
      const address = URL.parse(textOfProperty(thing, 'url') ?? '', page)
      return [
        {
          title,
          location: placeOf(thing),
          department: textOfProperty(thing, 'occupationalCategory') ?? textOfProperty(thing, 'industry'),
          employment_type: textsOf(thing['employmentType']).join(', ') || null,
          remote: textOfProperty(thing, 'jobLocationType') === 'TELECOMMUTE' ? true : null,
          url: address?.href ?? page,
          posted_at: isoDate(textOfProperty(thing, 'datePosted')),
          source: 'website',
          text: plain(textOfProperty(thing, 'description')),
        },
      ]
    })
}

function placeOf(posting: Thing): string | null {
  const location: unknown = Array.isArray(posting['jobLocation'])
    ? posting['jobLocation'][0]
    : posting['jobLocation']
  const address = isObject(location) ? (location['address'] ?? location) : location
  if (!isObject(address)) return textsOf(address)[0] ?? null
  const parts = ['addressLocality', 'addressRegion', 'addressCountry'].flatMap(
    (name) => textsOf(address[name])[0] ?? [],
  )
  return clean(parts.join(', '), 200) ?? textsOf(address)[0] ?? null
}
