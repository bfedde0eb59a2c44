import type { Client } from 'pg'
import { escapeIdentifier } from 'pg'
import { z } from 'zod'
import { QUEUES } from '../../queue/jobs.ts'

/** A table with the columns that hold data. Generated columns follow from these. */
export const Table = z.object({ schema: z.string(), name: z.string(), columns: z.array(z.string()) })
export type Table = z.infer<typeof Table>

export const Sequence = z.object({
  schema: z.string(),
  name: z.string(),
  last_value: z.string(),
  is_called: z.boolean(),
})
export type Sequence = z.infer<typeof Sequence>

const SCHEMAS = ['public', ...Object.values(QUEUES)]

export const qualify = ({ schema, name }: { schema: string; name: string }): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`

/** Lists all tables that hold data of an installation, including those of the job queues. */
export async function listTables(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select n.nspname as schema, c.relname as name,
       array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind = 'r' and n.nspname = any($1)
     group by 1, 2 order by 1, 2`,
    [SCHEMAS],
  )
  return rows
}

/**
 * Reads the positions of the sequences. Sequences belong to no snapshot: read after the snapshot was taken, they are at least
 * as far as its rows.
 */
export async function readSequences(client: Client): Promise<Sequence[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    'select schemaname as schema, sequencename as name from pg_sequences where schemaname = any($1) order by 1, 2',
    [SCHEMAS],
  )
  const sequences: Sequence[] = []
  for (const sequence of rows) {
    const state = await client.query<Pick<Sequence, 'last_value' | 'is_called'>>(
      `select last_value::text, is_called from ${qualify(sequence)}`,
    )
    sequences.push(...state.rows.map((row) => ({ ...sequence, ...row })))
  }
  return sequences
}
