import type { WebDocument } from '../../../catalog/built-in/web/document.ts'
import { isSameSite } from '../../../catalog/built-in/web/site.ts'

/** Returns the next page on the same site: from rel=next, or from a link with such a label. */
export function findNextPage({ $, base, url, links }: WebDocument): string | null {
  const related = $('link[rel~="next"][href], a[rel~="next"][href]').first().attr('href')
  const labelled = $('a[aria-label][href]')
    .filter((_, anchor) => NEXT.test($(anchor).attr('aria-label') ?? ''))
    .first()
    .attr('href')
  const named = links.find(({ text }) => NEXT.test(text))?.url.href
  const found = URL.parse(related ?? labelled ?? named ?? '', base.href)
  if (found === null || !/^https?:$/.test(found.protocol) || !isSameSite(found, url)) return null
  found.hash = ''
  return found.href === url.href ? null : found.href
}

const NEXT =
  /^\s*(?:(?:next|next page|older|older posts|more results|weiter|nächste(?: seite)?|suivant|page suivante|siguiente|successivo|volgende|próxima|次へ|下一页)\s*[›»>→]?|[›»>→])\s*$/iu
