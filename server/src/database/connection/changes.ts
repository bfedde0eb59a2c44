import { type RawBuilder, sql } from 'kysely'
import { Client } from 'pg'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

const CHANNEL = 'loam_changes'
const RECONNECT_MS = 500

/** Says that something of a sheet has changed, when the caller's transaction ends. For a list of results or of returned values. */
export const announcing = (sheetId: RawBuilder<unknown> | string): RawBuilder<unknown> =>
  sql`pg_notify(${sql.lit(CHANNEL)}, ${sheetId}::text)`

/** The statement for many sheets at once, for those who gather changes. */
export const ANNOUNCE = `select pg_notify('${CHANNEL}', id) from unnest($1::text[]) id`

export type ChangeFeed = {
  /** Calls `listener` after each change of the sheet, and when changes may have been missed. Answers how to stop it. */
  watch(sheetId: string, listener: () => void): () => void
  /** How many listeners there are. */
  watched(): number
  close(): Promise<void>
}

/**
 * Hears of changes that any process announces. One connection, opened when somebody watches; when it is lost everybody is told
 * once it is back, since what happened meanwhile is unknown.
 */
export function createChangeFeed(databaseUrl: string, log: Log): ChangeFeed {
  const watchers = new Map<string, Set<() => void>>()
  let client: Client | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const tell = (listeners: Iterable<() => void> | undefined) => {
    for (const listener of listeners ?? []) listener()
  }

  async function listen(): Promise<void> {
    const connection = new Client({
      connectionString: databaseUrl,
      application_name: 'loam changes',
      keepAlive: true,
    })
    client = connection
    connection.on('notification', ({ payload = '' }) => tell(watchers.get(payload)))
    connection.on('error', () => undefined)
    connection.on('end', () => {
      if (client === connection) client = undefined
      if (!closed && watchers.size > 0) timer = setTimeout(open, RECONNECT_MS)
    })
    await connection.connect()
    await connection.query(`listen ${CHANNEL}`)
    for (const listeners of watchers.values()) tell(listeners)
  }

  function open(): void {
    if (client !== undefined || closed) return
    listen().catch((cause: unknown) => {
      log.warn({ cause: reasonOf(cause) }, 'changes are not heard at the moment; it is tried again')
      client?.end().catch(() => undefined)
      client = undefined
      if (!closed && watchers.size > 0) timer = setTimeout(open, RECONNECT_MS)
    })
  }

  return {
    watch(sheetId, listener) {
      const listeners = watchers.get(sheetId) ?? new Set()
      watchers.set(sheetId, listeners)
      listeners.add(listener)
      open()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) watchers.delete(sheetId)
      }
    },
    watched: () => [...watchers.values()].reduce((count, listeners) => count + listeners.size, 0),
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.end()
    },
  }
}
