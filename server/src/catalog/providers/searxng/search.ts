import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { searxng } from './provider.ts'

const Reply = z.object({
  results: z.array(z.object({ url: z.string(), title: WireText, content: WireText })),
})

export const searxngSearch = defineAdapter(search, searxng, {
  price: 0.5,
  run: (ask, { query, limit, country }) => {
    const asked = { format: 'json', q: query, language: toLocale(country) }
    return ask({ path: '/search', query: asked }, Reply, ({ results }) =>
      entries(
        results.map(({ url, title, content }) => ({ title: title ?? '', url, snippet: content ?? '' })),
        limit,
      ),
    )
  },
})

/**
 * Returns the locale of a country, `de-AT` for `at`. SearXNG accepts a country only with a language, so its usual
 * language is used.
 */
function toLocale(country: string): string | undefined {
  if (!/^[a-z]{2}$/i.test(country)) return undefined
  const { language, region } = new Intl.Locale(`und-${country}`).maximize()
  return language === 'und' ? undefined : `${language}-${region ?? country.toUpperCase()}`
}
