import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'

export type SmtpReply = { code: number; text: string }

const MAX_LINES = 100
const MAX_TEXT = 4_000

/**
 * Reads the replies of a mail server one at a time. A reply is null if the connection ends or the server sends nothing in
 * time.
 */
export function startDialogue(socket: Duplex, stepMs: number) {
  const replies: SmtpReply[] = []
  let waiting: ((reply: SmtpReply | null) => void) | null = null
  let ended = false
  let lines: string[] = []

  const settle = (reply: SmtpReply | null) => {
    const answer = waiting
    waiting = null
    if (answer !== null) answer(reply)
    else if (reply !== null) replies.push(reply)
  }
  const end = () => {
    ended = true
    settle(null)
  }
  // A server that sends too much is disconnected before any of its lines is parsed.
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > 64_000) socket.destroy()
  })
  const reader = createInterface({ input: socket, crlfDelay: Infinity })
  reader.on('line', (line) => {
    const [, code, more, text = ''] = /^(\d{3})([ -]?)(.*)$/s.exec(line) ?? []
    if (code === undefined || lines.length >= MAX_LINES) {
      socket.destroy()
      return
    }
    lines.push(text)
    if (more === '-') return
    settle({ code: Number(code), text: lines.join(' ').slice(0, MAX_TEXT) })
    lines = []
  })
  socket.on('close', end)

  const next = (): Promise<SmtpReply | null> => {
    const ready = replies.shift()
    if (ready !== undefined || ended) return Promise.resolve(ready ?? null)
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(null), stepMs)
      waiting = (reply) => {
        clearTimeout(timer)
        resolve(reply)
      }
    })
  }
  return {
    next,
    ask: (command: string): Promise<SmtpReply | null> => {
      if (!ended) socket.write(`${command}\r\n`)
      return next()
    },
    close: () => {
      reader.close()
      socket.end('QUIT\r\n')
      setTimeout(() => socket.destroy(), 1_000).unref()
    },
  }
}
