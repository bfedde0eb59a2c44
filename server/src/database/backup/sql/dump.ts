import { Client } from 'pg'
import type { FileKey } from '../../../files/store/files.ts'
import { CopyOut, type Lines } from '../../connection/copy-out.ts'
import { QUEUE_VERSION } from '../../queue/queue-migrations.ts'
import { qualify, type Sequence, type Table, listTables, readSequences } from './tables.ts'

/** The whole database as of one moment. It lasts until it is closed. */
export type Dump = {
  schemaVersion: number
  /** The version of the package that owns the tables of the job queues. */
  queueVersion: string
  tables: Table[]
  sequences: Sequence[]
  /** The files in the storage that the snapshot names. */
  uploads: FileKey[]
  exports: { org_id: string; export_id: string; attempt: number }[]
  copy(table: Table): AsyncIterable<Lines>
  close(): void
}

/** Opens a dump on a connection of its own, in one read-only transaction that blocks no other. */
export async function openDump(databaseUrl: string): Promise<Dump> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'loam backup',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    // Reading files may take minutes, and the transaction is idle meanwhile.
    options:
      '-c idle_in_transaction_session_timeout=0 -c statement_timeout=0 -c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres',
  })
  // A connection lost while idle fails the next query.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(`select set_config('loam.org', '*', false)`)
    await client.query('begin isolation level repeatable read read only')
    return {
      ...(await readVersions(client)),
      tables: await listTables(client),
      sequences: await readSequences(client),
      uploads: await readUploads(client),
      exports: await readExports(client),
      copy: (table) =>
        client.query(new CopyOut(`copy ${qualify(table)} (${listColumns(table)}) to stdout`, '\n')),
      // A COPY may be in progress. Only the end of its connection stops it.
      close: () => client.connection.stream.destroy(),
    }
  } catch (cause) {
    await client.end()
    throw cause
  }
}

export const listColumns = ({ columns }: Table): string =>
  columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ')

/** Reads the versions of the schema and of the job queue's package, as `migrateQueue` recorded it. */
export async function readVersions(client: Client): Promise<{ schemaVersion: number; queueVersion: string }> {
  const { rows } = await client.query<{ schema_version: number; queue_version: string | null }>(
    `select (select max(version) from schema_migrations) as schema_version,
       (select value ->> 0 from settings where name = $1) as queue_version`,
    [QUEUE_VERSION],
  )
  return { schemaVersion: rows[0]?.schema_version ?? 0, queueVersion: rows[0]?.queue_version ?? '' }
}

async function readUploads(client: Client): Promise<FileKey[]> {
  const { rows } = await client.query<FileKey>(
    'select org_id, file_ref from files where size_bytes is not null order by 1, 2',
  )
  return rows
}

async function readExports(client: Client): Promise<Dump['exports']> {
  const { rows } = await client.query<Dump['exports'][number]>(
    `select org_id, export_id, attempt from exports where status = 'completed' order by 1, 2`,
  )
  return rows
}
