import { Client } from 'pg'
import { AppError } from '../../../lib/errors.ts'
import { CopyIn } from '../../connection/copy-in.ts'
import { listColumns, readVersions } from './dump.ts'
import { listTables, qualify, readSequences, type Sequence, type Table } from './tables.ts'

/** Fills a migrated database that holds no organisation yet. No row is visible before `commit`. */
export type Load = {
  /** Adds complete lines of a COPY and returns the number of rows. */
  add(table: Table, lines: Buffer): Promise<number>
  commit(): Promise<void>
  /** Closes the connection. Without an earlier commit, the database stays as it was. */
  close(): Promise<void>
}

/** The tables, sequences and version that an archive contains. */
type Archived = { tables: Table[]; sequences: Sequence[]; queueVersion: string }

type Rules = {
  schema: string
  name: string
  forced: boolean
  foreign: { name: string; definition: string }[]
}

export async function openLoad(databaseUrl: string, archive: Archived): Promise<Load> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'loam restore',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    options: '-c idle_in_transaction_session_timeout=0 -c statement_timeout=0',
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(`select set_config('loam.org', '*', false)`)
    await client.query('begin')
    await requireEmpty(client)
    await requireSameShape(client, archive)
    const rules = await readRules(client)
    await suspend(client, rules, archive.tables)
    return {
      async add(table, lines) {
        const text = `copy ${qualify(table)} (${listColumns(table)}) from stdin`
        return client.query(new CopyIn(text, lines)).done
      },
      async commit() {
        for (const sequence of archive.sequences) {
          const { last_value, is_called } = sequence
          await client.query('select setval($1::regclass, $2, $3)', [
            qualify(sequence),
            last_value,
            is_called,
          ])
        }
        await resume(client, rules)
        await client.query('commit')
      },
      close: () => client.end(),
    }
  } catch (cause) {
    await client.end()
    throw cause
  }
}

async function requireEmpty(client: Client): Promise<void> {
  const { rows } = await client.query<{ used: boolean }>('select exists (select from organisations) as used')
  if (rows[0]?.used !== false) {
    throw new AppError('Conflict', 'The database is not empty: restore into a new one')
  }
}

async function requireSameShape(client: Client, archive: Archived): Promise<void> {
  const { queueVersion } = await readVersions(client)
  if (queueVersion !== archive.queueVersion) {
    throw new AppError(
      'Unprocessable Entity',
      `The archive has jobs of version ${archive.queueVersion} of the job queue, this program has ${queueVersion}: restore it with the Loam that made it, then start this one on it`,
    )
  }
  const here = new Map((await listTables(client)).map((table) => [qualify(table), new Set(table.columns)]))
  const unknownColumns = archive.tables.flatMap((table) => {
    const columns = here.get(qualify(table))
    return table.columns
      .filter((column) => columns?.has(column) !== true)
      .map((column) => `${qualify(table)}.${column}`)
  })
  if (unknownColumns.length > 0) {
    throw new AppError(
      'Unprocessable Entity',
      `The archive has unknown columns: ${unknownColumns.join(', ')}. Restore the archive with the version of Loam that made it`,
    )
  }
  // The database may hold other tables than an installation's. Those are neither emptied nor changed.
  const knownNames = new Set([...here.keys(), ...(await readSequences(client)).map(qualify)])
  const otherNames = [...archive.tables, ...archive.sequences]
    .map(qualify)
    .filter((name) => !knownNames.has(name))
  if (otherNames.length > 0) {
    throw new AppError(
      'Unprocessable Entity',
      `The archive has tables or sequences that are no part of an installation: ${otherNames.join(', ')}`,
    )
  }
}

/**
 * Reads the rules that would refuse or change rows while they are loaded: row-level security, foreign keys (tables come in
 * any order), and triggers of the queue.
 */
async function readRules(client: Client): Promise<Rules[]> {
  const { rows } = await client.query<Rules>(
    `select n.nspname as schema, c.relname as name, c.relforcerowsecurity as forced,
       coalesce((select jsonb_agg(jsonb_build_object('name', k.conname, 'definition', pg_get_constraintdef(k.oid)))
         from pg_constraint k where k.conrelid = c.oid and k.contype = 'f'), '[]') as foreign
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname = any($1)`,
    [[...new Set((await listTables(client)).map(({ schema }) => schema))]],
  )
  return rows
}

async function suspend(client: Client, rules: Rules[], archived: Table[]): Promise<void> {
  for (const { forced, foreign, ...table } of rules) {
    const alter = (change: string) => client.query(`alter table ${qualify(table)} ${change}`)
    if (forced) await alter('no force row level security')
    for (const { name } of foreign) await alter(`drop constraint "${name}"`)
    await alter('disable trigger user')
  }
  // Migrations may have added rows of their own to these tables. A table that is missing in the archive keeps its rows: a
  // queue newer than the archive knows by them that it was set up.
  await client.query(`truncate ${archived.map(qualify).join(', ')}`)
}

async function resume(client: Client, rules: Rules[]): Promise<void> {
  for (const { forced, foreign, ...table } of rules) {
    const alter = (change: string) => client.query(`alter table ${qualify(table)} ${change}`)
    await alter('enable trigger user')
    for (const { name, definition } of foreign) await alter(`add constraint "${name}" ${definition}`)
    if (forced) await alter('force row level security')
  }
}
