import { tasksOf } from '../../../lib/readers/readers.ts'
import type { Link, SentPage } from './document.ts'
import type { Fetching } from './page-fetch.ts'
import type { PageOptions, Part, Parts, tasks } from './page-tasks.ts'

/** A page that a reader has read, with the requested parts. */
export type ReadPage<Name extends Part = never> = {
  url: URL
  /** The base of the page's relative addresses. */
  base: URL
  title: string | null
  description: string | null
  language: string | null
  links: Link[]
} & Pick<Parts, Name>

export type PageResult<Name extends Part> =
  | { ok: true; page: ReadPage<Name> }
  | { ok: false; message: string }

const readIn = tasksOf<typeof tasks>(new URL('page-tasks.ts', import.meta.url))

/** Reads a page in a separate reader. No part of it is parsed in this process. */
export async function readPage<Name extends Part = never>(
  { owner = '', signal }: Fetching,
  { url, text, headers, cookies }: SentPage,
  parts: readonly Name[] = [],
  options: PageOptions = {},
): Promise<PageResult<Name>> {
  const input = { url, headers, cookies, parts, options }
  const read = await readIn('page', { owner, signal, document: text, what: 'page' }, input)
  if (!read.ok) return read
  if (!read.value.ok) return read.value
  const { outline, parts: found } = read.value
  const links = outline.links.map((link) => ({ url: new URL(link.url), text: link.text }))
  const page = {
    ...outline,
    ...(found as Pick<Parts, Name>),
    url: new URL(url),
    base: new URL(outline.base),
    links,
  }
  return { ok: true, page }
}
