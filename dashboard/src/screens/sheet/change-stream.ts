import type { z } from 'zod'
import type { SheetChange as SheetChangeSchema } from '#contract/changes.ts'
import { API, type SheetId, sheetPath } from '../../api/calls.ts'

export type SheetChange = z.infer<typeof SheetChangeSchema>

/** The polling interval while there is no stream, and the interval at which a closed stream is reopened. */
const POLL_MS = 2000

type Watcher = {
  /** Receives each change, or null when polling, where it is unknown whether anything has changed. */
  onChange: (change: SheetChange | null) => void
  /** Receives true when live changes begin to arrive, and false when they stop. */
  onStreaming: (isStreaming: boolean) => void
}
type Message = { change?: SheetChange; streaming: boolean }

/**
 * Reports each change of the sheet, and polls while there is no stream. Only one tab of a browser holds the stream and
 * forwards its messages to the others, because a browser opens at most six connections to a host.
 */
export function watchSheet(sheet: SheetId, { onChange, onStreaming }: Watcher): () => void {
  const name = `loam.changes.${sheet.sheetId}`
  const channel = new BroadcastChannel(name)
  const ended = new AbortController()
  let isStreaming = false

  const receive = ({ streaming, change }: Message) => {
    if (streaming !== isStreaming) onStreaming(streaming)
    isStreaming = streaming
    if (change !== undefined) onChange(change)
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => receive(data))
  const poll = setInterval(() => {
    if (!isStreaming && document.visibilityState === 'visible') onChange(null)
  }, POLL_MS)

  const broadcast = (message: Message) => {
    receive(message)
    // A broadcast channel reaches only its own origin, so there is no target origin to give.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    channel.postMessage(message)
  }
  const holdStream = () =>
    new Promise<void>((resolve) => {
      let stream = openStream()
      // The browser reconnects by itself, but not after an error response, such as from a proxy whose server is down.
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
    stream.addEventListener('open', () => broadcast({ streaming: true }))
    stream.addEventListener('error', () => broadcast({ streaming: false }))
    stream.addEventListener('change', ({ data }) => {
      broadcast({ streaming: true, change: JSON.parse(data) as SheetChange })
    })
    return stream
  }
  // Browsers offer no locks over plain http, so there each tab holds a stream of its own.
  if (isSecureContext) navigator.locks.request(name, { signal: ended.signal }, holdStream).catch(() => {})
  else void holdStream()

  return () => {
    ended.abort()
    clearInterval(poll)
    channel.close()
  }
}
