import { type RawBuilder, sql } from 'kysely'
import { Client } from 'pg'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

const CHANNEL = 'loam_changes'
const RECONNECT_MS = 500

/**
 * Announces a change of a sheet when the caller's transaction commits. Use the expression in a select list or a
 * `returning` list.
 */
export const announcing = (sheetId: RawBuilder<unknown> | string): RawBuilder<unknown> =>
  sql`pg_notify(${sql.lit(CHANNEL)}, ${sheetId}::text)`

/** The statement that announces changes of many sheets at once, for callers that collect them. */
export const ANNOUNCE = `select pg_notify('${CHANNEL}', id) from unnest($1::text[]) id`

export type ChangeFeed = {
  /**
   * Calls `listener` after each change of the sheet, and when changes may have been missed. Returns a function that
   * stops it.
   */
  watch(sheetId: string, listener: () => void): () => void
  /** Returns the number of listeners. */
  watched(): number
  close(): Promise<void>
}

/**
 * Receives the changes that any process announces, on one connection, which is opened when the first listener is
 * added. After the connection was lost, all listeners are called once it is back, because changes may have been
 * missed meanwhile.
 */
export function createChangeFeed(databaseUrl: string, log: Log): ChangeFeed {
  const watchers = new Map<string, Set<() => void>>()
  let client: Client | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const notify = (listeners: Iterable<() => void> | undefined) => {
    for (const listener of listeners ?? []) listener()
  }

  async function listen(): Promise<void> {
    const connection = new Client({
      connectionString: databaseUrl,
      application_name: 'loam changes',
      keepAlive: true,
    })
    client = connection
    connection.on('notification', ({ payload = '' }) => notify(watchers.get(payload)))
    connection.on('error', () => undefined)
    connection.on('end', () => {
      if (client === connection) client = undefined
      if (!closed && watchers.size > 0) timer = setTimeout(open, RECONNECT_MS)
    })
    await connection.connect()
    await connection.query(`listen ${CHANNEL}`)
    for (const listeners of watchers.values()) notify(listeners)
  }

  function open(): void {
    if (client !== undefined || closed) return
    listen().catch((cause: unknown) => {
      log.warn({ cause: reasonOf(cause) }, 'cannot listen for changes of sheets; reconnecting')
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
