/** One server-sent event. */
export type ServerEvent = { id: string | null; event: string; data: string }

export type EventReader = {
  onRetry: (ms: number) => void
  /** Runs whenever something arrives, also a comment that only keeps the connection open. */
  onAlive: () => void
}

/** Reads the events of a stream until it ends. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { onRetry, onAlive }: EventReader,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let lines: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onAlive()
      rest += decoder.decode(value, { stream: true })
      const parts = rest.split(/\r\n|\n|\r(?!$)/)
      rest = parts.pop() ?? ''
      for (const line of parts) {
        if (line !== '') {
          lines.push(line)
          continue
        }
        const event = parseEvent(lines, onRetry)
        lines = []
        if (event !== null) yield event
      }
    }
  } finally {
    // The connection may already be gone, which ends the stream as well.
    await reader.cancel().catch(() => undefined)
  }
}

/** Returns the event of its lines, or null if they have no data. */
function parseEvent(lines: string[], onRetry: (ms: number) => void): ServerEvent | null {
  const data: string[] = []
  let event = 'message'
  let id: string | null = null
  for (const line of lines) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') id = value
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value))
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') }
}
