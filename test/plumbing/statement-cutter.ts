import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Before: the server never hears the statement. After: it does, and nobody hears what became of it. */
export type Cut = { at: number; side: 'before' | 'after' }

const QUERY = 0x51
const SYNC = 0x53

/**
 * A PostgreSQL whose connections all break at a statement of one's choice, counted over all of them: what a process leaves behind
 * that is killed there. Statements are told by the messages that end them on the wire.
 */
export async function startStatementCutter(databaseUrl: string) {
  const target = placeOf(databaseUrl)
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
    const split = messagesOf()
    client.on('data', (bytes) => {
      for (const { message, endsStatement } of split(bytes)) {
        if (isCut) return
        if (endsStatement) count += 1
        const hit = endsStatement && cut?.at === count ? cut.side : undefined
        if (hit === 'before') return breakAll()
        if (hit === 'after') {
          // What the server answers is heard here, and passed on to nobody.
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
    /** Counts from 1 again, and cuts there; without a cut everything passes. */
    arm(next?: Cut) {
      cut = next
      count = 0
      isCut = false
    },
    /** How many statements there were since. */
    count: () => count,
    isCut: () => isCut,
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A folder in place of the host means a socket in it. */
function placeOf(databaseUrl: string): { path: string } | { host: string; port: number } {
  const { hostname, port, searchParams } = new URL(databaseUrl)
  const folder = searchParams.get('host')
  const number = port === '' ? 5432 : Number(port)
  return folder === null ? { host: hostname, port: number } : { path: `${folder}/.s.PGSQL.${number}` }
}

/** Cuts what a client sends into messages: a first one without a type, then each with its type and length. */
function messagesOf() {
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
