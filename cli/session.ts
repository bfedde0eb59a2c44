import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { z } from 'zod'
import type { Db } from '#server/database/connection/db.ts'
import { MigrationError } from '#server/database/connection/migrate.ts'
import type { Storage } from '#server/files/storage/storage.ts'
import { type Config, readConfig } from '#server/lib/config/config.ts'
import { AppError, invalid, notFound, reasonOf } from '#server/lib/errors.ts'
import { createLog } from '#server/lib/log.ts'
import type { Sealer } from '#server/lib/security/secrets.ts'
import { findMember, type Member } from '#server/organisation/store/members.ts'
import { listOrganisations, listOrganisationsOf } from '#server/organisation/store/organisations.ts'
import { readServer } from '#server/process/running-server.ts'
import { openWorkspace, type Workspace } from '#server/process/workspace.ts'
import { UnreachableError } from './diagnosis.ts'
import { readFlags } from './flags.ts'
import { type CommandOutput, printOutput } from './output.ts'
import { type Terminal, terminalOf } from './terminal.ts'

export type Session = {
  config: Config
  db: Db
  databaseUrl: string
  storage: Storage
  sealer: Sealer
  terminal: Terminal
}

/**
 * Returns a commander action that reads the flags, runs `work` in the open workspace and prints its output.
 */
export function inSession<Flags>(
  schema: z.ZodType<Flags>,
  work: (session: Session, flags: Flags) => Promise<CommandOutput>,
  { mayCreate = false }: { mayCreate?: boolean } = {},
) {
  return async function act(this: Command): Promise<void> {
    const flags = readFlags(this, schema)
    const terminal = terminalOf(this)
    const config = readConfig(commandEnvironment(terminal))
    if (!mayCreate) requireData(config)
    const workspace = await open(config, terminal)
    try {
      const { store, databaseUrl, storage, sealer } = workspace
      const session = { config, db: store.system, databaseUrl, storage, sealer, terminal }
      const output = await work(session, flags)
      printOutput(output, terminal, wantsJson(this))
    } finally {
      await workspace.close()
    }
  }
}

export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: true }>().json === true
}

/**
 * Returns the environment of a command. The data folder is that of the checkout, from whatever folder the
 * command is called. Settings that only the running server was given apply to the command too: allowed
 * private hosts, addresses of providers, its own address.
 */
export function commandEnvironment({ env }: Terminal): Record<string, string | undefined> {
  const dataDir = env['LOAM_DATA_DIR'] || fileURLToPath(new URL('../data', import.meta.url))
  return { ...readServer(dataDir)?.settings, ...env, LOAM_DATA_DIR: dataDir }
}

/**
 * Throws if the data folder is empty: a command in the wrong folder would create an empty database there and
 * find nothing in it.
 */
function requireData({ DATABASE_URL, LOAM_DATA_DIR }: Config): void {
  if (DATABASE_URL !== undefined || existsSync(join(LOAM_DATA_DIR, 'postgres'))) return
  throw new UnreachableError(
    `There is no data in ${LOAM_DATA_DIR} yet: start the server once with npm start, or set LOAM_DATA_DIR to the folder of the server`,
  )
}

async function open(config: Config, { env, stderr }: Terminal): Promise<Workspace> {
  const log = createLog(env['LOAM_LOG_LEVEL'] ? config.LOAM_LOG_LEVEL : 'warn', stderr)
  try {
    return await openWorkspace(config, log, 'command')
  } catch (cause) {
    if (cause instanceof MigrationError) throw cause
    throw new UnreachableError(`The database cannot be opened: ${reasonOf(cause)}`, { cause })
  }
}

const MAX_LISTED = 20

export type Organisation = { org_id: string; name: string }

/** Finds the organisation: the one named, the only one of that member, or the only one that exists. */
export async function resolveOrganisation(
  db: Db,
  by: { org?: string | undefined; email?: string | undefined },
): Promise<Organisation> {
  const all = await listOrganisations(db)
  if (by.org !== undefined) {
    const named = all.find(({ org_id }) => org_id === by.org)
    if (named === undefined) throw notFound(`Organisation ${by.org}`)
    return named
  }
  const theirs = by.email === undefined ? [] : await listOrganisationsOf(db, by.email)
  const candidates = theirs.length > 0 ? theirs : all
  const [only, second] = candidates
  if (only === undefined) {
    throw new AppError(
      'Not Found',
      'There is no organisation yet: start the server once, or use loam org create',
    )
  }
  if (second === undefined) return only
  const listed = candidates.slice(0, MAX_LISTED).map(({ org_id, name }) => `  ${org_id}  ${name}`)
  const more = candidates.length > MAX_LISTED ? ['  and more: see loam org list'] : []
  throw invalid(
    'org',
    ['there are several organisations; pass --org with one of:', ...listed, ...more].join('\n'),
  )
}

export async function requireMember(db: Db, org: Organisation, email: string): Promise<Member> {
  const member = await findMember(db, org.org_id, email)
  if (member === undefined) throw notFound(`Member ${email} of ${org.name}`)
  return member
}
