import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { printTurn, type SpokenReply } from '#server/catalog/testing/chat-turn.ts'

export type Outside = { url: string; close(): void }

/** Listens on loopback with a backlog for many concurrent callers. */
export async function listenOnLoopback(server: Server): Promise<Outside> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * Returns the reply of a model. For a task of the web agent it reads the page that is named and answers from
 * it. For anything else it says that all is fine.
 */
function think(body: string): SpokenReply {
  if (body.includes('You answer from pages')) return { says: JSON.stringify({ founder: FOUND }) }
  if (!body.includes('read_page')) return { says: 'fine' }
  const url = /http:\/\/127[^\s"\\]+/.exec(body)?.[0] ?? ''
  return body.includes('<page number') ? { says: 'done' } : { calls: [{ name: 'read_page', input: { url } }] }
}
const FOUND = { value: 'Ada Byron', sources: [{ page: 1, quote: 'founded by Ada Byron' }], reason: null }

/** Serves a model on loopback, as OpenAI's chat completions, that responds after a delay. */
export async function serveModel(delayMs: number): Promise<Outside> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const answer = async () => {
      const reply = JSON.stringify(printTurn(think(await text(request))))
      await sleep(delayMs)
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
    }
    // A caller that is killed during its request needs no response.
    answer().catch(() => response.destroy())
  })
  return listenOnLoopback(server)
}

/** Serves a mail server on loopback that takes a while for each mail. */
export async function serveMail(delayMs: number): Promise<Outside> {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, _session, done) {
      stream.resume()
      stream.once('end', () => setTimeout(done, delayMs))
    },
  })
  // A sender that is killed in the middle of a mail leaves a broken connection.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, close: () => server.close() }
}
