import { Worker } from 'node:worker_threads'

export type PdfText = { ok: true; title: string | null; text: string } | { ok: false; message: string }

const MAX_MS = 15_000
const MAX_MEGABYTES = 256

/**
 * The text of a PDF, page by page. It is read in a thread of its own with little memory and time: a file that was made to
 * exhaust whoever reads it ends that thread and nothing else.
 */
export async function readPdf(bytes: Uint8Array, signal: AbortSignal): Promise<PdfText> {
  const worker = new Worker(new URL('pdf-worker.ts', import.meta.url), {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    stderr: true,
    stdout: true,
  })
  const answer = Promise.withResolvers<PdfText>()
  const fail = (message: string) => answer.resolve({ ok: false, message })
  const timer = setTimeout(() => fail(`the PDF could not be read within ${MAX_MS / 1000} s`), MAX_MS)
  const onAbort = () => fail('the reading of the PDF was called off')
  signal.addEventListener('abort', onAbort)
  worker.once('message', (text: PdfText) => answer.resolve(text))
  worker.once('error', () => fail('the PDF cannot be read'))
  worker.once('exit', () => fail('the PDF cannot be read'))
  try {
    return await answer.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}
