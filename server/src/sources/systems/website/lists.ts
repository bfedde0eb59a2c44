import type { Cheerio, CheerioAPI } from 'cheerio'
import { clean, type WebDocument } from '../../../catalog/built-in/web/document.ts'
import {
  listThings,
  readJsonLd,
  textOfProperty,
  type Thing,
  typesOf,
} from '../../../catalog/built-in/web/json-ld.ts'
import { fieldName, type ItemList, MAX_ITEMS } from './item-list.ts'
import { listRepeated } from './repeated.ts'

type Element = ReturnType<ReturnType<CheerioAPI>['children']>[number]

const MIN_ITEMS = 2
const MAX_TABLES = 100

/** Returns every list of a page that could be meant. */
export function findLists(document: WebDocument): ItemList[] {
  return [...listsOfThings(document), ...tablesOf(document), ...listRepeated(document)]
}

function listsOfThings({ elements }: WebDocument): ItemList[] {
  const byType = new Map<string, Thing[]>()
  for (const thing of listThings(readJsonLd(elements))) {
    for (const type of typesOf(thing)) byType.set(type, [...(byType.get(type) ?? []), thing])
  }
  return [...byType]
    .filter(([type, things]) => things.length >= MIN_ITEMS && !PARTS.test(type))
    .map(([type, things]) => ({ about: type, rank: 0, items: things.slice(0, MAX_ITEMS).map(itemOfThing) }))
}

/** Types of things that only describe other things. */
const PARTS =
  /^(ListItem|ItemList|BreadcrumbList|Offer|AggregateOffer|AggregateRating|Rating|ImageObject|PostalAddress|ContactPoint|EntryPoint|Review|SiteNavigationElement|WebPage|WebSite|Country|Place|QuantitativeValue|UnitPriceSpecification|Brand|Answer|SearchAction|ReadAction|GeoCoordinates|OpeningHoursSpecification|MonetaryAmount)$/

function itemOfThing(thing: Thing): Record<string, string> {
  const item: Record<string, string> = {}
  for (const name of Object.keys(thing)) {
    const text = name.startsWith('@') ? null : textOfProperty(thing, name)
    if (text !== null && fieldName(name) !== '') item[fieldName(name)] = text
  }
  // The price of a thing is in its offer.
  const offer = [thing['offers']].flat()[0]
  if (typeof offer === 'object' && offer !== null) {
    for (const name of ['price', 'priceCurrency', 'availability']) {
      const text = textOfProperty(offer as Thing, name)
      if (text !== null) item[fieldName(name)] ??= text
    }
  }
  return item
}

function tablesOf({ $, base }: WebDocument): ItemList[] {
  return $('table')
    .toArray()
    .slice(0, MAX_TABLES)
    .filter((table) => $(table).find('table').length === 0)
    .flatMap((table) => {
      const rows = $(table).find('tr').toArray()
      const head = rows.findIndex((row) => $(row).find('th').length > 1 || $(row).closest('thead').length > 0)
      const header = rows[Math.max(0, head)]
      if (header === undefined) return []
      const names = cellsOf($, header).map((cell, n) => fieldName($(cell).text()) || `column_${n + 1}`)
      const items = rows.slice(Math.max(0, head) + 1, MAX_ITEMS).flatMap((row) => {
        const cells = cellsOf($, row)
        if (cells.length !== names.length || names.length < 2) return []
        const pairs = cells.flatMap((cell, n): [string, string][] => {
          const name = names[n] ?? ''
          return [
            [name, clean($(cell).text()) ?? ''],
            ...linksIn($, $(cell), base).map((url): [string, string] => [`${name}_url`, url]),
          ]
        })
        return [Object.fromEntries(pairs.filter(([, text]) => text !== ''))]
      })
      return items.length === 0 ? [] : [{ about: around($, table), rank: 1, items }]
    })
}

const cellsOf = ($: CheerioAPI, row: Element) => $(row).children('th, td').toArray()

function linksIn($: CheerioAPI, element: Cheerio<Element>, base: URL): string[] {
  const anchors = element.is('a[href]') ? element : element.find('a[href]')
  return anchors
    .toArray()
    .flatMap((anchor) => {
      const url = URL.parse($(anchor).attr('href') ?? '', base.href)
      return url !== null && /^https?:$/.test(url.protocol) ? [url.href] : []
    })
    .slice(0, 1)
}

/** Returns the caption or preceding heading of a table, with its id, classes and label. */
function around($: CheerioAPI, element: Element): string {
  const one = $(element)
  const heading = one.find('caption').first().text() || one.prevAll('h1, h2, h3, h4').first().text()
  return [heading, one.attr('id') ?? '', one.attr('class') ?? '', one.attr('aria-label') ?? '']
    .join(' ')
    .trim()
}
