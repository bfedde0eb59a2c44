import { tasksOf } from '../../../lib/readers/readers.ts'
import type { Fetching } from './page-fetch.ts'
import type { PdfText, tasks } from './pdf-tasks.ts'

const readIn = tasksOf<typeof tasks>(new URL('pdf-tasks.ts', import.meta.url))

/**
 * Returns the text of a PDF, page by page. A file that is made to exhaust its reader ends that reader and nothing else.
 */
export async function readPdf({ owner = '', signal }: Fetching, bytes: Uint8Array): Promise<PdfText> {
  const read = await readIn('pdf', { owner, signal, document: bytes, what: 'document' }, null)
  return read.ok ? read.value : read
}
