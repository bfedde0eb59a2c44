import type { WorkerEvents } from 'graphile-worker'
import type { Client } from 'pg'
import { QUEUES } from './jobs.ts'

/** The channel on which graphile-worker announces jobs of any queue. */
const SHARED_CHANNEL = 'jobs:insert'
export const getChannel = (schema: string): string => `${SHARED_CHANNEL}/${schema}`

/**
 * Makes each queue announce its jobs on a channel of its own. A run adds dozens of groups, and otherwise each of them would
 * wake every pool of all other queues, and each worker of those would look for a job that does not exist.
 */
export async function separateWakes(client: Client): Promise<void> {
  const { rows } = await client.query<{ definition: string; schema: string }>(
    `select pg_get_functiondef(p.oid) as definition, n.nspname as schema
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = any($1) and p.prosrc like $2`,
    [Object.values(QUEUES), `%'${SHARED_CHANNEL}'%`],
  )
  for (const { definition, schema } of rows)
    await client.query(definition.replaceAll(`'${SHARED_CHANNEL}'`, `'${getChannel(schema)}'`))
}

/**
 * Makes a pool treat a notification on its own queue's channel as one on the shared channel, which graphile-worker listens
 * to.
 */
export function listenToOwnQueue(events: WorkerEvents, schema: string): void {
  const channel = getChannel(schema)
  events.on('pool:listen:notification', ({ message }) => {
    if (message.channel === channel) message.channel = SHARED_CHANNEL
  })
}
