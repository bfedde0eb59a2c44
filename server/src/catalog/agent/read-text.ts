import { tasksOf } from '../../lib/readers/readers.ts'
import type { SentPage } from '../built-in/web/document.ts'
import type { Fetching } from '../built-in/web/page-fetch.ts'
import type { PageText, tasks } from './page-text.ts'

const readIn = tasksOf<typeof tasks>(new URL('page-text.ts', import.meta.url))

/** Returns the text that people see on a page, as Markdown. A separate reader does the work. */
export async function readText(
  { owner = '', signal }: Fetching,
  { text, url, headers, cookies }: SentPage,
): Promise<{ ok: true; value: PageText } | { ok: false; message: string }> {
  const reading = { owner, signal, document: text, what: 'page' } as const
  const read = await readIn('text', reading, { url, headers, cookies })
  return read.ok ? read.value : read
}
