import { parentPort, workerData } from 'node:worker_threads'
import { extractText, getDocumentProxy, getMeta } from 'unpdf'
import type { PdfText } from './pdf-text.ts'

const MAX_PAGES = 60
const MAX_TEXT = 200_000

/** Runs in a thread of its own. */
async function read(bytes: Uint8Array): Promise<PdfText> {
  const document = await getDocumentProxy(bytes)
  if (document.numPages > MAX_PAGES * 20) return { ok: false, message: 'the PDF has too many pages' }
  const { text } = await extractText(document, { mergePages: false })
  const { info } = await getMeta(document)
  const title: unknown = info['Title']
  return {
    ok: true,
    title: typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 300) : null,
    text: text.slice(0, MAX_PAGES).join('\n\n').slice(0, MAX_TEXT).toWellFormed(),
  }
}

if (parentPort === null) throw new Error('pdf-worker.ts runs as a worker thread')
const port = parentPort
const UNREADABLE = { ok: false, message: 'the PDF cannot be read: it is damaged or protected' } as const
port.postMessage((await read(workerData as Uint8Array).catch(() => UNREADABLE)) satisfies PdfText)
