import type { WebDocument } from './document.ts'
import { imageOf } from './organisation.ts'

export type Logo = { value: string; source: 'image' | 'icon' }

/** Returns the picture that a page calls its logo, else the icon of the site. */
export function findLogo({ $, url }: WebDocument): Logo | null {
  const marked = $('img')
    .toArray()
    .find((image) => {
      const said = ['class', 'id', 'alt', 'src'].map((name) => $(image).attr(name) ?? '').join(' ')
      return /logo/i.test(said) && !/partner|client|customer|payment|footer-logos/i.test(said)
    })
  const image = marked === undefined ? undefined : ($(marked).attr('src') ?? $(marked).attr('data-src'))
  const icon = $('link[rel~="apple-touch-icon"], link[rel="icon"][type="image/svg+xml"]').first().attr('href')
  const found = [image, icon].flatMap((address) => imageOf(address, url) ?? [])[0]
  return found === undefined ? null : { value: found, source: image === undefined ? 'icon' : 'image' }
}
