import { findBoardsOf } from '../boards/detection.ts'
import { findPostings } from '../boards/postings.ts'
import { feedsOf } from '../news/feed-links.ts'
import { detectTechnologies, type Traces, tracesOfPage } from '../technologies/detection.ts'
import { loadReaders } from './article.ts'
import type { CountryCode } from './countries.ts'
import { readDocument, type SentPage, type WebDocument } from './document.ts'
import { extract, extractContacts } from './extraction.ts'
import { toMarkdown } from './markdown.ts'

// Loads the libraries now: the time limit of a document starts when this module is loaded.
await Promise.all([loadReaders(), import('cheerio')])

export type PageOptions = {
  /** The country of national phone numbers, if it is known. */
  country?: CountryCode | null
  /** The traces in the site's DNS records, which show its technologies. */
  names?: Traces
}

/** The parts that a reader can extract from a page in addition to its outline. */
const PARTS = {
  extraction: (document: WebDocument, { country }: PageOptions) => extract(document, country ?? null),
  contacts: (document: WebDocument, { country }: PageOptions) => extractContacts(document, country ?? null),
  markdown: (document: WebDocument) => toMarkdown(document),
  feeds: feedsOf,
  boards: (document: WebDocument) =>
    findBoardsOf(document).map(({ board, company }) => ({ board: board.id, company })),
  postings: (document: WebDocument) => findPostings(extract(document)),
  technologies: (document: WebDocument, { names }: PageOptions) =>
    detectTechnologies(new Map([...tracesOfPage(document), ...(names ?? [])])),
}
export type Part = keyof typeof PARTS
export type Parts = { [Name in Part]: Awaited<ReturnType<(typeof PARTS)[Name]>> }

/** A page without its tree, in the form in which it leaves a reader. */
export type Outline = Pick<WebDocument, 'title' | 'description' | 'language'> & {
  base: string
  links: { url: string; text: string }[]
}

type Asked = Omit<SentPage, 'text'> & { parts: readonly Part[]; options: PageOptions }
type Read = { ok: true; outline: Outline; parts: Partial<Parts> } | { ok: false; message: string }

export const tasks = {
  async page(text: string, { parts, options, ...page }: Asked): Promise<Read> {
    const read = await readDocument({ ...page, text })
    if (!read.ok) return read
    const { base, links, title, description, language } = read.document
    const found: [Part, unknown][] = []
    for (const name of parts) found.push([name, await PARTS[name](read.document, options)])
    return {
      ok: true,
      outline: {
        title,
        description,
        language,
        base: base.href,
        links: links.map(({ url, text: linkText }) => ({ url: url.href, text: linkText })),
      },
      parts: Object.fromEntries(found),
    }
  },
}
