import { connect, createServer, type Socket } from 'node:net'
import { type AddressInfo } from 'node:net'
import { atEnd } from '../plumbing/at-end.ts'

const HEAD = 5
const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(HEAD)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const SAID_HELLO = Buffer.concat([
  message('R', Buffer.from([0, 0, 0, 0])),
  message('S', Buffer.from('client_encoding\0UTF8\0')),
  message('Z', Buffer.from('I')),
])

type Client = { socket: Socket; server: Server | null; waiting: Buffer[] }
type Server = { socket: Socket; client: Client | null }

/**
 * Starts a pooler in transaction mode, like PgBouncer: each transaction of a client goes to the server
 * connection that was used longest ago, and settings that clients send when they connect are dropped. Returns
 * the address of the database behind it.
 */
export async function startTransactionPooler(url: string, connections = 2): Promise<string> {
  const { username, pathname, searchParams } = new URL(url)
  const path = `${searchParams.get('host')}/.s.PGSQL.${searchParams.get('port') ?? '5432'}`
  const servers = await Promise.all(
    Array.from({ length: connections }, () =>
      openServer(path, decodeURIComponent(username), pathname.slice(1)),
    ),
  )
  const free = [...servers]
  const queue: Client[] = []

  function send(client: Client): void {
    client.server ??= free.shift() ?? null
    const { server } = client
    if (server === null) return void queue.push(client)
    server.client = client
    for (const part of client.waiting.splice(0)) server.socket.write(part)
  }

  for (const server of servers) {
    readMessages(server.socket, (type, whole) => {
      const { client } = server
      client?.socket.write(whole)
      if (type !== 'Z' || whole.at(-1) !== 'I'.charCodeAt(0) || client === null) return
      client.server = null
      server.client = null
      free.push(server)
      const next = queue.shift()
      if (next !== undefined) send(next)
    })
  }

  const pooler = createServer((socket) => {
    const client: Client = { socket, server: null, waiting: [] }
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(SAID_HELLO)
      readMessages(socket, (type, whole) => {
        if (type === 'X') return void socket.end()
        client.waiting.push(whole)
        if (type === 'Q' || type === 'S') send(client)
      })
    })
  })
  await new Promise<void>((resolve) => void pooler.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    pooler.close()
    for (const { socket } of servers) socket.destroy()
  })
  const pooled = new URL(url)
  pooled.search = ''
  pooled.host = `127.0.0.1:${(pooler.address() as AddressInfo).port}`
  return pooled.href
}

async function openServer(path: string, user: string, database: string): Promise<Server> {
  const socket = connect(path)
  const body = Buffer.from(`\0\x03\0\0user\0${user}\0database\0${database}\0\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  socket.write(Buffer.concat([length, body]))
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    const onData = (chunk: Buffer) => {
      if (chunk.at(-HEAD - 1) !== 'Z'.charCodeAt(0)) return
      socket.off('data', onData)
      resolve()
    }
    socket.on('data', onData)
  })
  return { socket: socket.on('error', () => undefined), client: null }
}

function readMessages(socket: Socket, take: (type: string, whole: Buffer) => void): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= HEAD) {
      const end = 1 + rest.readInt32BE(1)
      if (rest.length < end) return
      const whole = rest.subarray(0, end)
      rest = rest.subarray(end)
      take(String.fromCharCode(whole[0] ?? 0), whole)
    }
  })
}
