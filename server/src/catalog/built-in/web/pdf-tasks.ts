import { extractText, getDocumentProxy, getMeta, getResolvedPDFJS } from 'unpdf'

export type PdfText = { ok: true; title: string | null; text: string } | { ok: false; message: string }

// Loads the library now: the time limit of a document starts when this module is loaded.
await getResolvedPDFJS()

const MAX_PAGES = 60
const MAX_TEXT = 200_000
const UNREADABLE = { ok: false, message: 'the PDF cannot be read: it is damaged or protected' } as const

async function read(bytes: Uint8Array): Promise<PdfText> {
  // The library accepts no Buffer, but the bytes arrive as one.
  const document = await getDocumentProxy(new Uint8Array(bytes))
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

export const tasks = { pdf: (bytes: Uint8Array, _input: null) => read(bytes).catch(() => UNREADABLE) }
