import type { Duplex } from 'node:stream'
import pg from 'pg'
import type { Egress } from '../../../lib/egress/egress.ts'
import { EgressFault } from '../../../lib/egress/failures.ts'
import type { ProviderContext } from '../../provider/context.ts'
import type { ProviderReply } from '../../provider/reply.ts'
import { type Refusal, refusalOfFailure } from '../../provider/reply.ts'
import type { Address } from './address.ts'
import { guardReading, queryBounded, type Texts } from './bounded-query.ts'
import { isWithoutTls, refusalOf } from './refusals.ts'

export type Statement = {
  text: string
  values: (string | null)[]
  limit: number
  maxBytes?: number | undefined
}
/** `isCut` means that there are more rows, which do not fit into memory. */
export type Rows = { rows: Texts[]; isCut: boolean }

const HANDSHAKE_MS = 10_000
const STATEMENT_MS = 60_000
/** The rows fetched at once: few until their size is known. */
const FIRST_FETCHED = 4
const FETCHED = 100
const MAX_BYTES = 8_000_000

/** Runs one statement in a read-only transaction. Only the egress decides where the connection goes. */
export async function runStatement(
  { egress, signal }: ProviderContext,
  address: Address,
  statement: Statement,
): Promise<ProviderReply<Rows>> {
  const tls = address.tls !== 'disable'
  const first = await runOnce(egress, signal, address, { statement, tls })
  if (first.ok || address.tls !== 'prefer' || !isWithoutTls(first.refusal)) return first
  return runOnce(egress, signal, address, { statement, tls: false })
}

async function runOnce(
  egress: Egress,
  signal: AbortSignal,
  address: Address,
  { statement, tls }: { statement: Statement; tls: boolean },
): Promise<ProviderReply<Rows>> {
  const { host, port } = address
  const connected = await egress.connect({ host, port, signal })
  if (!connected.ok) return { ok: false, refusal: refusalOfFailure(connected) }
  const { socket } = connected
  const client = openClient(address, socket, tls)
  // A broken connection also fails the current statement. Without this listener it would end the process.
  client.on('error', () => undefined)
  const refuse = (fault: EgressFault) => socket.destroy(fault)
  guardReading(client, refuse)
  const cut = () => socket.destroy()
  signal.addEventListener('abort', cut)
  try {
    await client.connect()
    return { ok: true, body: await readRows(client, statement, refuse) }
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

function openClient({ tls: mode, ...address }: Address, socket: Duplex, tls: boolean): pg.Client {
  // The socket is already connected, so the driver must not resolve and connect again.
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

/**
 * Reads rows in small batches, so that long ones never fill the memory. Returns the rows before one that is too long.
 */
async function readRows(
  client: pg.Client,
  { text, values, limit, maxBytes = MAX_BYTES }: Statement,
  refuse: (fault: EgressFault) => void,
): Promise<Rows> {
  const run = (sql: string, parameters: Statement['values'] = [], most = 0) => {
    // The extended protocol runs exactly one statement, whatever the text contains.
    const config: pg.QueryConfig & { queryMode: 'extended' } = {
      text: sql,
      values: parameters,
      queryMode: 'extended',
      types: { getTypeParser: () => String },
    }
    return queryBounded(client, config, { rows: most, refuse })
  }
  await run('begin transaction read only')
  await run(`declare page no scroll cursor for ${text}`, values)
  const rows: Rows['rows'] = []
  let bytes = 0
  for (;;) {
    const most = rows.length === 0 ? FIRST_FETCHED : fitting(rows.length, maxBytes - bytes, bytes)
    const wanted = Math.min(most, limit - rows.length)
    let fetched: Texts[]
    try {
      fetched = wanted === 0 ? [] : await run(`fetch ${wanted} from page`, [], wanted)
    } catch (cause) {
      const isTooLarge = cause instanceof EgressFault && cause.kind === 'too_large'
      if (isTooLarge && rows.length > 0) return { rows, isCut: true }
      throw cause
    }
    rows.push(...fetched)
    for (const row of fetched) for (const value of Object.values(row)) bytes += value?.length ?? 0
    if (fetched.length < wanted || rows.length >= limit) break
    if (bytes > maxBytes) return { rows, isCut: true }
  }
  await run('rollback')
  return { rows, isCut: false }
}

/** Returns how many rows of the size of those before fit into the remaining bytes; at least one. */
function fitting(count: number, bytesLeft: number, bytes: number): number {
  return Math.min(FETCHED, Math.max(1, Math.ceil((bytesLeft * count) / Math.max(1, bytes))))
}
