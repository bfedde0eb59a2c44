import type { WorkerEvents } from 'graphile-worker'
import type { Client } from 'pg'
import { QUEUES } from './jobs.ts'

/** Where graphile-worker says that there are jobs, whatever queue they are of. */
const SHARED_CHANNEL = 'jobs:insert'
export const channelOf = (schema: string): string => `${SHARED_CHANNEL}/${schema}`

/**
 * Has each queue say on a channel of its own that it has jobs: a run adds its groups by the dozen, and every pool of all other
 * queues would be woken as many times, each worker of it to look for a job that is not there.
 */
export async function separateWakes(client: Client): Promise<void> {
  const { rows } = await client.query<{ definition: string; schema: string }>(
    `select pg_get_functiondef(p.oid) as definition, n.nspname as schema
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = any($1) and p.prosrc like $2`,
    [Object.values(QUEUES), `%'${SHARED_CHANNEL}'%`],
  )
  for (const { definition, schema } of rows)
    await client.query(definition.replaceAll(`'${SHARED_CHANNEL}'`, `'${channelOf(schema)}'`))
}

/** Has the pool that tells of these events take what its connection hears of its queue for what it listens to itself. */
export function hearOwnQueue(events: WorkerEvents, schema: string): void {
  const channel = channelOf(schema)
  events.on('pool:listen:notification', ({ message }) => {
    if (message.channel === channel) message.channel = SHARED_CHANNEL
  })
}
