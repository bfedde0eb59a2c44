import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DatabaseReport, inspectDatabase } from '#server/database/connection/inspection.ts'
import { newestSchemaVersion } from '#server/database/connection/migrate.ts'
import { requireSessions, SessionError } from '#server/database/connection/sessions.ts'
import { openEmbedded } from '#server/database/embedded/embedded.ts'
import type { Config } from '#server/lib/config/config.ts'
import { reasonOf } from '#server/lib/errors.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Inspects the database as it is: unlike other commands, this one neither creates nor migrates it. */
export async function checkDatabase(config: Config): Promise<Check[]> {
  if (config.DATABASE_URL === undefined && !existsSync(join(config.LOAM_DATA_DIR, 'postgres'))) {
    return [warn('database', 'the embedded database does not exist yet', 'the first start creates it')]
  }
  try {
    const report = await inspect(config)
    const sessions = config.DATABASE_URL === undefined ? [] : [await checkSessions(config.DATABASE_URL)]
    return [checkServer(report, config), checkRole(report), ...sessions, checkSchema(report)]
  } catch (cause) {
    const fix =
      config.DATABASE_URL === undefined
        ? `see ${join(config.LOAM_DATA_DIR, 'postgres.log')}`
        : 'check that PostgreSQL runs and that DATABASE_URL names it, its database, user and password'
    return [fail('database', reasonOf(cause), fix)]
  }
}

async function inspect(config: Config): Promise<DatabaseReport> {
  if (config.DATABASE_URL !== undefined) return inspectDatabase(config.DATABASE_URL)
  const embedded = await openEmbedded({ dataDir: config.LOAM_DATA_DIR, log: () => {} })
  try {
    return await inspectDatabase(embedded.url)
  } finally {
    await embedded.stop()
  }
}

function checkServer({ version, versionNumber, encoding }: DatabaseReport, config: Config): Check {
  const kind = config.DATABASE_URL === undefined ? 'embedded' : 'from DATABASE_URL'
  const detail = `PostgreSQL ${version}, ${encoding}, ${kind}`
  if (versionNumber < 150_000) return fail('database', detail, 'use PostgreSQL 15 or later')
  if (encoding !== 'UTF8') return fail('database', detail, 'create the database with ENCODING UTF8')
  return ok('database', detail)
}

function checkRole({ role, bypassesRowSecurity }: DatabaseReport): Check {
  if (!bypassesRowSecurity) return ok('database role', `${role}, bound by row-level security`)
  return warn(
    'database role',
    `${role} is a superuser or has BYPASSRLS: row-level security does not keep organisations apart`,
    'connect as an ordinary role that owns the database',
  )
}

async function checkSessions(url: string): Promise<Check> {
  try {
    await requireSessions(url)
    return ok('database sessions', 'settings of a session survive its transactions')
  } catch (cause) {
    if (!(cause instanceof SessionError)) throw cause
    return fail('database sessions', cause.message, cause.fix)
  }
}

function checkSchema({ schemaVersion }: DatabaseReport): Check {
  const newest = newestSchemaVersion()
  if (schemaVersion === newest) return ok('schema', `version ${schemaVersion}`)
  if (schemaVersion > newest) {
    const detail = `version ${schemaVersion}, but this program supports only up to ${newest}`
    return fail('schema', detail, 'use a newer Loam on this database')
  }
  const detail = schemaVersion === 0 ? 'none yet' : `version ${schemaVersion} of ${newest}`
  return warn('schema', detail, 'the next start migrates it')
}
