import type { WebDocument } from './document.ts'
import { imageOf } from './organisation.ts'

export type Logo = { value: string; source: 'image' | 'icon' }

const ICONS = 'link[rel~="apple-touch-icon"], link[rel="icon"][type="image/svg+xml"]'

/** Returns the image that a page marks as its logo, else the icon of the site. */
export function findLogo({ $, elements, url }: WebDocument): Logo | null {
  const marked = elements.named('img').find(({ attribs }) => {
    const description = ['class', 'id', 'alt', 'src'].map((name) => attribs?.[name] ?? '').join(' ')
    return /logo/i.test(description) && !/partner|client|customer|payment|footer-logos/i.test(description)
  })
  const image = marked?.attribs?.['src'] ?? marked?.attribs?.['data-src']
  const mayHaveIcon = elements.named('link').length > 0
  const icon = mayHaveIcon ? $(ICONS).first().attr('href') : undefined
  const found = [image, icon].flatMap((address) => imageOf(address, url) ?? [])[0]
  return found === undefined ? null : { value: found, source: image === undefined ? 'icon' : 'image' }
}
