import type { z } from 'zod'
import type { SheetChange as SheetChangeSchema } from '#contract/changes.ts'
import { API } from '../../api/client.ts'
import { type SheetId, sheetPath } from '../../api/sheet.ts'

export type SheetChange = z.infer<typeof SheetChangeSchema>

/** While no stream says otherwise, changes are looked for this often, and the stream is tried again. */
const POLL_MS = 2000

type Watcher = {
  /** Null: whether anything changed is not known. */
  onChange: (change: SheetChange | null) => void
  /** Whether changes are heard of as they happen. */
  onStreaming: (isStreaming: boolean) => void
}
type Told = { change?: SheetChange; streaming: boolean }

/**
 * Tells of each change of the sheet. Of the tabs of a browser one holds the stream, for a browser opens six connections at most;
 * it tells the others. Without a stream it polls.
 */
export function watchSheet(sheet: SheetId, { onChange, onStreaming }: Watcher): () => void {
  const name = `loam.changes.${sheet.sheetId}`
  const channel = new BroadcastChannel(name)
  const ended = new AbortController()
  let isStreaming = false

  const hear = ({ streaming, change }: Told) => {
    if (streaming !== isStreaming) onStreaming(streaming)
    isStreaming = streaming
    if (change !== undefined) onChange(change)
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Told>) => hear(data))
  const poll = setInterval(() => {
    if (!isStreaming && document.visibilityState === 'visible') onChange(null)
  }, POLL_MS)

  const say = (told: Told) => {
    hear(told)
    // A channel has no other origin to name.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    channel.postMessage(told)
  }
  const hold = () =>
    new Promise<void>((resolve) => {
      let stream = openStream()
      // A browser comes back by itself unless it was refused, as by a proxy whose server is away.
      const reopen = setInterval(() => {
        if (stream.readyState === EventSource.CLOSED) stream = openStream()
      }, POLL_MS)
      ended.signal.addEventListener('abort', () => {
        clearInterval(reopen)
        stream.close()
        resolve()
      })
    })
  function openStream(): EventSource {
    const stream = new EventSource(`${API}${sheetPath(sheet)}/changes`)
    stream.addEventListener('open', () => say({ streaming: true }))
    stream.addEventListener('error', () => say({ streaming: false }))
    stream.addEventListener('change', ({ data }) => {
      say({ streaming: true, change: JSON.parse(data) as SheetChange })
    })
    return stream
  }
  // Over plain http browsers have no locks: there each tab holds a stream of its own.
  if (isSecureContext) navigator.locks.request(name, { signal: ended.signal }, hold).catch(() => {})
  else void hold()

  return () => {
    ended.abort()
    clearInterval(poll)
    channel.close()
  }
}
