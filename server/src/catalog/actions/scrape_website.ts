import { INSTALL_CHROMIUM } from '../../lib/find-chromium.ts'
import { fetchHome } from '../built-in/web/page-fetch.ts'
import { readPage } from '../built-in/web/read-page.ts'
import { readAddresses } from '../built-in/web/site.ts'
import { listedPages, rankPages, readPages } from '../built-in/web/useful-pages.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, retry } from '../outcome.ts'
import { output } from '../outputs.ts'

const MAX_LINKS = 500
const MAX_JSON_LD = 200_000
const MAX_MARKDOWN = 400_000
const PARTS = ['contacts', 'markdown'] as const

export default defineAction({
  id: 'scrape_website',
  name: 'Scrape website',
  description:
    'Reads a page, or several pages of a site, as Markdown, with contacts and structured data. Respects robots.txt.',
  category: 'web',
  synonyms: ['extract', 'crawl', 'read page', 'html', 'markdown', 'emails', 'contacts', 'web page'],
  timeoutSeconds: 180,
  inputs: {
    url: field.text({
      type: 'url',
      required: true,
      label: 'Page URL',
      help: 'The page to read.',
      placeholder: 'https://acme.com/about',
    }),
    max_pages: field.number({
      min: 1,
      max: 20,
      whole: true,
      default: 1,
      label: 'Pages to read',
      help: 'This page first, then those about the company.',
      placeholder: '1',
      details: 'Default 1.',
    }),
    render: field.choice(['none', 'browser'], {
      labels: { none: 'Without a browser', browser: 'With a browser' },
      default: 'none',
      label: 'Rendering',
      help: 'Use a browser for pages that need scripts.',
      details: '`none` (default) or `browser`.',
      advanced: true,
    }),
  },
  outputs: {
    title: output.text('The title of the page.'),
    description: output.text('Its description.'),
    markdown: output.text('Its readable content as Markdown.'),
    emails: output.list('Email addresses.'),
    phones: output.list('Phone numbers, +4930123456.'),
    social_links: output.list('The URLs of its pages on social networks.'),
    json_ld: output.list('Its JSON-LD, a block each.'),
    links: output.list('The URLs of its links.'),
  },
  async run({ inputs, context }) {
    const { browser } = context.pages
    if (inputs.render === 'browser' && browser === null) {
      const message = `render: no browser is found here; ${INSTALL_CHROMIUM}, or choose none`
      return { kind: 'unrunnable', message }
    }
    const draw = inputs.render === 'browser' ? browser : null
    const result = await fetchHome(context, readAddresses(inputs.url))
    if (!result.ok) return result.outcome
    const drawn = draw === null ? null : await draw.draw(context, result.page.url)
    if (drawn?.ok === false) return drawn.later ? retry(drawn.message) : failed(drawn.message)
    const read = await readPage(
      context,
      { ...result.page, ...(drawn !== null && { text: drawn.html }) },
      PARTS,
    )
    if (!read.ok) return failed(read.message)
    const first = read.page
    const more = (inputs.max_pages ?? 1) - 1
    const further = more === 0 ? [] : rankPages(first, await listedPages(context, first))
    const pages = [
      first,
      ...(await readPages(context, further, { most: more, parts: PARTS }, { browser: draw })),
    ]
    const all = <Value>(pick: (page: (typeof pages)[number]) => Value[], most: number) =>
      [...new Set(pages.flatMap(pick))].slice(0, most)
    const texts = pages.map(({ url, markdown }) => ({ url: url.href, text: markdown }))
    return done({
      title: first.title,
      description: first.description,
      markdown: joinMarkdown(texts),
      emails: all(({ contacts }) => contacts.emails, 100),
      phones: all(({ contacts }) => contacts.phones, 50),
      social_links: all(({ contacts }) => contacts.socialLinks, 50),
      json_ld: withinSize(pages.flatMap(({ contacts }) => contacts.jsonLd)),
      links: all((page) => page.links.map(({ url }) => url.href), MAX_LINKS),
    })
  },
})

/** Joins the pages. A single page is returned unchanged; several are returned with the address of each. */
function joinMarkdown(pages: { url: string; text: string }[]): string {
  const [first] = pages
  if (first !== undefined && pages.length === 1) return first.text
  const parts = pages.map(({ url, text }) => `Source: ${url}\n\n${text}`)
  return parts.join('\n\n---\n\n').slice(0, MAX_MARKDOWN).toWellFormed()
}

/** Returns the blocks that fit as a whole. */
function withinSize(blocks: unknown[]): unknown[] {
  let size = 0
  return blocks.filter((block) => {
    size += JSON.stringify(block).length
    return size <= MAX_JSON_LD
  })
}
