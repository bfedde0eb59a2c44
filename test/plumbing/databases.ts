import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { atEnd } from './at-end.ts'
import { databaseUrl, type Target } from './global-setup.ts'

export const targets = (): Target[] => inject('targets')

export type DatabaseOptions = { target?: Target | undefined; template?: string }

/**
 * Creates a database for the calling test file, empty or a copy of a template. It is dropped at the end of
 * the file.
 */
export async function createDatabase({
  target = targets()[0],
  template,
}: DatabaseOptions = {}): Promise<string> {
  if (target === undefined) throw new Error('the global set-up started no PostgreSQL')
  const { url } = target
  const name = `test_${randomBytes(8).toString('hex')}`
  await run(
    url,
    `create database ${name}${template === undefined ? '' : ` template ${template} strategy file_copy`}`,
  )
  atEnd(() => dropDatabase(url, name))
  return databaseUrl(url, name)
}

const NOT_OURS = '42501'
const ATTEMPTS = 5

/**
 * Drops a database by force, since a test may have lost a connection. We may not end an autovacuum worker by
 * force, but a plain drop, which asks it to leave, is allowed.
 */
async function dropDatabase(url: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(url, `drop database ${name} ${attempt % 2 === 1 ? 'with (force)' : ''}`)
    } catch (cause) {
      if (attempt === ATTEMPTS || (attempt % 2 === 1 && !isNotOurs(cause))) throw cause
    }
  }
}

const isNotOurs = (cause: unknown) => cause instanceof pg.DatabaseError && cause.code === NOT_OURS

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
