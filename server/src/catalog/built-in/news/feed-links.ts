import type { WebDocument } from '../web/document.ts'

/** Returns the addresses of the feeds that a page declares. */
export function feedsOf({ $, url }: WebDocument): string[] {
  return $('link[rel~="alternate"][href]')
    .toArray()
    .filter((link) => /(rss|atom|rdf)\+xml/i.test($(link).attr('type') ?? ''))
    .flatMap((link) => URL.parse($(link).attr('href') ?? '', url.href)?.href ?? [])
    .filter((address) => !/comments\/feed|\/comments\//i.test(address))
}
