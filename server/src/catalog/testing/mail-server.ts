import type { Socket } from 'node:net'
import { serveRaw } from '#test/doubles/loopback-server.ts'

export type MailServer = {
  port: number
  /** The commands that the server received, in order. */
  said: string[]
  accepted: () => number
}

export type MailRules = {
  greeting?: string
  /** The replies by the beginning of the command, in lower case. */
  replies?: Record<string, string>
  /** Returns the reply to a recipient. By default the addresses in `mailboxes` exist. */
  rcpt?: (address: string) => string
  mailboxes?: string[]
  onSocket?: (socket: Socket) => void
}

/** Serves mail on loopback with the replies that the test sets. */
export async function serveMail(rules: MailRules = {}): Promise<MailServer> {
  const said: string[] = []
  const mailboxes = rules.mailboxes ?? []
  const rcpt =
    rules.rcpt ??
    ((address: string) =>
      mailboxes.includes(address) ? '250 2.1.5 OK' : '550 5.1.1 The email account does not exist')
  const server = await serveRaw((socket) => {
    if (rules.onSocket !== undefined) {
      rules.onSocket(socket)
      return
    }
    socket.write(`${rules.greeting ?? '220-mx.test ESMTP\r\n220 ready'}\r\n`)
    let pending = ''
    socket.on('data', (data) => {
      pending += String(data)
      for (let at = pending.indexOf('\r\n'); at >= 0; at = pending.indexOf('\r\n')) {
        const line = pending.slice(0, at)
        pending = pending.slice(at + 2)
        said.push(line)
        const [, address] = /^RCPT TO:<(.*)>$/i.exec(line) ?? []
        const given = Object.entries(rules.replies ?? {}).find(([start]) =>
          line.toLowerCase().startsWith(start),
        )?.[1]
        const usual = line.startsWith('EHLO') ? '250-mx.test\r\n250-PIPELINING\r\n250 8BITMIME' : '250 OK'
        if (line === 'QUIT') socket.end('221 bye\r\n')
        else socket.write(`${given ?? (address === undefined ? usual : rcpt(address))}\r\n`)
      }
    })
  })
  return { port: server.port, said, accepted: server.accepted }
}
