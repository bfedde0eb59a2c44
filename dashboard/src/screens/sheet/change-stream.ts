import type { z } from 'zod'
import type { SheetChange as SheetChangeSchema } from '#contract/changes.ts'
import { API } from '../../api/client.ts'
import { type SheetId, sheetPath } from '../../api/sheet.ts'

type SheetChange = z.infer<typeof SheetChangeSchema>

/** While no stream says otherwise, changes are looked for this often. */
const POLL_MS = 2000
/** The first of several is told at once; those that follow, together. */
const MIN_GAP_MS = 200

/**
 * Calls back after each change of the sheet. Of the tabs of a browser one holds the stream, for a browser opens six connections at
 * most; it tells the others. Without a stream it polls.
 */
export function watchSheet(sheet: SheetId, onChange: (change: SheetChange | null) => void): () => void {
  const name = `loam.changes.${sheet.sheetId}`
  const channel = new BroadcastChannel(name)
  const ended = new AbortController()
  let isStreaming = false
  let last = 0
  let waiting: ReturnType<typeof setTimeout> | undefined
  let latest: SheetChange | null = null

  const tell = (change: SheetChange | null) => {
    latest = change ?? latest
    if (waiting !== undefined) return
    waiting = setTimeout(
      () => {
        waiting = undefined
        last = Date.now()
        onChange(latest)
      },
      Math.max(0, last + MIN_GAP_MS - Date.now()),
    )
  }
  channel.addEventListener(
    'message',
    ({ data }: MessageEvent<{ change?: SheetChange; streaming: boolean }>) => {
      isStreaming = data.streaming
      if (data.change !== undefined) tell(data.change)
    },
  )
  const poll = setInterval(() => {
    if (!isStreaming && document.visibilityState === 'visible') tell(null)
  }, POLL_MS)

  const hold = () =>
    new Promise<void>((resolve) => {
      const stream = new EventSource(`${API}${sheetPath(sheet)}/changes`)
      const say = (streaming: boolean, change?: SheetChange) => {
        isStreaming = streaming
        // A channel has no other origin to name.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        channel.postMessage({ streaming, ...(change === undefined ? {} : { change }) })
      }
      stream.addEventListener('open', () => say(true))
      stream.addEventListener('error', () => say(false))
      stream.addEventListener('change', ({ data }) => {
        const change = JSON.parse(data) as SheetChange
        say(true, change)
        tell(change)
      })
      ended.signal.addEventListener('abort', () => {
        stream.close()
        resolve()
      })
    })
  // Over plain http browsers have no locks: there each tab holds a stream of its own.
  if (isSecureContext) navigator.locks.request(name, { signal: ended.signal }, hold).catch(() => {})
  else void hold()

  return () => {
    ended.abort()
    clearInterval(poll)
    clearTimeout(waiting)
    channel.close()
  }
}
