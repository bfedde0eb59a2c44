import type { Socket } from 'node:net'
import pg from 'pg'
import type { Egress } from '../../../lib/egress/egress.ts'
import type { ProviderContext } from '../../provider/context.ts'
import type { ProviderReply } from '../../provider/provider.ts'
import { type Refusal, refusalOfFailure } from '../../provider/reply.ts'
import type { Address } from './address.ts'
import { isWithoutTls, refusalOf } from './refusals.ts'

export type Statement = {
  text: string
  values: (string | null)[]
  limit: number
  maxBytes?: number | undefined
}
/** `isCut`: there are more rows than these, which are as many as fit into memory. */
export type Rows = { rows: Record<string, string | null>[]; isCut: boolean }

const HANDSHAKE_MS = 10_000
const STATEMENT_MS = 60_000
const FETCHED = 100
const MAX_BYTES = 8_000_000

/** Runs one statement in a transaction that can only read. Where the connection goes is decided by egress alone. */
export async function runStatement(
  { egress, signal }: ProviderContext,
  address: Address,
  statement: Statement,
): Promise<ProviderReply<Rows>> {
  const tls = address.tls !== 'disable'
  const first = await runOnce(egress, signal, address, statement, tls)
  if (first.ok || address.tls !== 'prefer' || !isWithoutTls(first.refusal)) return first
  return runOnce(egress, signal, address, statement, false)
}

async function runOnce(
  egress: Egress,
  signal: AbortSignal,
  address: Address,
  statement: Statement,
  tls: boolean,
): Promise<ProviderReply<Rows>> {
  const { host, port } = address
  const connected = await egress.connect({ host, port, signal })
  if (!connected.ok) return { ok: false, refusal: refusalOfFailure(connected) }
  const { socket } = connected
  const client = openClient(address, socket, tls)
  // A connection that breaks fails the statement at hand as well; without a listener it would end the process.
  client.on('error', () => undefined)
  const cut = () => socket.destroy()
  signal.addEventListener('abort', cut)
  try {
    await client.connect()
    return { ok: true, body: await readRows(client, statement) }
  } catch (cause) {
    return { ok: false, refusal: describe(cause, signal, address) }
  } finally {
    signal.removeEventListener('abort', cut)
    await client.end().catch(() => undefined)
    socket.destroy()
  }
}

function describe(cause: unknown, signal: AbortSignal, address: Address): Refusal {
  if (signal.aborted) return { kind: 'error', message: 'the call was cancelled', transient: true }
  return refusalOf(cause, [address.password])
}

function openClient({ tls: mode, ...address }: Address, socket: Socket, tls: boolean): pg.Client {
  // The socket is connected already: the driver must not resolve and connect once more.
  const stream = Object.assign(socket, {
    connect: () => {
      setImmediate(() => socket.emit('connect'))
      return socket
    },
  })
  return new pg.Client({
    ...address,
    stream: () => stream,
    ssl: tls ? { rejectUnauthorized: mode === 'verify-ca' || mode === 'verify-full' } : false,
    application_name: 'loam',
    connectionTimeoutMillis: HANDSHAKE_MS,
    query_timeout: STATEMENT_MS + HANDSHAKE_MS,
    options: `-c default_transaction_read_only=on -c statement_timeout=${STATEMENT_MS} -c timezone=UTC -c datestyle=ISO`,
  })
}

/** Rows come some at a time, so that long ones never fill the memory. */
async function readRows(
  client: pg.Client,
  { text, values, limit, maxBytes = MAX_BYTES }: Statement,
): Promise<Rows> {
  const run = (sql: string, parameters: Statement['values'] = []) => {
    // One statement and no more, whatever the text says.
    const config: pg.QueryConfig & { queryMode: 'extended' } = {
      text: sql,
      values: parameters,
      queryMode: 'extended',
      types: { getTypeParser: () => String },
    }
    return client.query<Record<string, string | null>>(config)
  }
  await run('begin transaction read only')
  await run(`declare page no scroll cursor for ${text}`, values)
  const rows: Rows['rows'] = []
  let bytes = 0
  for (;;) {
    const wanted = Math.min(FETCHED, limit - rows.length)
    const fetched = wanted === 0 ? [] : (await run(`fetch ${wanted} from page`)).rows
    rows.push(...fetched)
    for (const row of fetched) for (const value of Object.values(row)) bytes += value?.length ?? 0
    if (fetched.length < wanted || rows.length >= limit) break
    if (bytes > maxBytes) return { rows, isCut: true }
  }
  await run('rollback')
  return { rows, isCut: false }
}
