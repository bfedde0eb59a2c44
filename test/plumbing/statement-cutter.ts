import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * The place of a cut. Before: the server never receives the statement. After: the server executes it, and
 * nobody receives the result.
 */
export type Cut = { at: number; side: 'before' | 'after' }

const QUERY = 0x51
const SYNC = 0x53

/**
 * Starts a proxy to PostgreSQL whose connections all break at a chosen statement, counted over all of them.
 * This shows what a process leaves behind if it is killed there. Statements are recognised by the messages
 * that end them in the protocol.
 */
export async function startStatementCutter(databaseUrl: string) {
  const target = parsePlace(databaseUrl)
  const open = new Set<Socket>()
  let cut: Cut | undefined
  let count = 0
  let isCut = false

  const breakAll = () => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const upstream = connect(target)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.on('data', (bytes) => client.write(bytes))
    const split = createMessageSplitter()
    client.on('data', (bytes) => {
      for (const { message, endsStatement } of split(bytes)) {
        if (isCut) return
        if (endsStatement) count += 1
        const hit = endsStatement && cut?.at === count ? cut.side : undefined
        if (hit === 'before') return breakAll()
        if (hit === 'after') {
          // The response of the server is read here and passed on to nobody.
          upstream.removeAllListeners('data')
          upstream.once('data', breakAll)
        }
        upstream.write(message)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    /** Counts from 1 again, and cuts there. Without a cut all statements pass. */
    arm(next?: Cut) {
      cut = next
      count = 0
      isCut = false
    },
    /** Returns the number of statements since then. */
    count: () => count,
    isCut: () => isCut,
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Parses the place of a server. A folder in place of the host means a socket in that folder. */
function parsePlace(databaseUrl: string): { path: string } | { host: string; port: number } {
  const { hostname, port, searchParams } = new URL(databaseUrl)
  const folder = searchParams.get('host')
  const number = port === '' ? 5432 : Number(port)
  return folder === null ? { host: hostname, port: number } : { path: `${folder}/.s.PGSQL.${number}` }
}

/**
 * Splits what a client sends into messages: a first one without a type, then each with its type and length.
 */
function createMessageSplitter() {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  return (bytes: Buffer): { message: Buffer; endsStatement: boolean }[] => {
    rest = Buffer.concat([rest, bytes])
    const found: { message: Buffer; endsStatement: boolean }[] = []
    for (;;) {
      const typed = isStarted ? 1 : 0
      if (rest.length < typed + 4) return found
      const length = typed + rest.readInt32BE(typed)
      if (rest.length < length) return found
      const message = rest.subarray(0, length)
      found.push({ message, endsStatement: isStarted && (message[0] === QUERY || message[0] === SYNC) })
      isStarted = true
      rest = rest.subarray(length)
    }
  }
}
