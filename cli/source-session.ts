import { z } from 'zod'
import type { ProviderGate, ProviderKeys } from '#server/catalog/provider/access.ts'
import type { Db } from '#server/database/connection/db.ts'
import { AppError, invalid, notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { withNetwork } from '#server/process/network.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import type { Source } from '#server/sources/define.ts'
import { readSourceState } from '#server/sources/pulls/state.ts'
import type { SourceServices } from '#server/sources/reach.ts'
import { loadSources, type SourceCatalogue } from '#server/sources/registry.ts'
import { findOrganisationOfSource, findSource, type SourceRecord } from '#server/sources/store/sources.ts'
import { readJsonFile } from './json-file.ts'
import type { CommandOutput } from './output.ts'
import { serverAddress } from './server-address.ts'
import { requireMember, resolveOrganisation, type Session } from './session.ts'
import { formatSourceState } from './source-output.ts'

export const SourceId = z
  .string()
  .toLowerCase()
  .refine(isUuid, 'must be a UUID, as `loam source list` shows it')

export const OneSource = z.strictObject({ id: SourceId })
export const SOURCE = ['<id>', 'the source, as `loam source list` shows it'] as const

export const Pair = z.array(z.string().regex(/^[^=]+=/, 'must have the form name=value'))

/** Returns the body of a source: the object in a file, overridden by single fields. */
export function readBody(flags: { body?: string; set?: string[] }): Record<string, unknown> {
  const file =
    flags.body === undefined ? {} : readJsonFile(flags.body, 'body', z.record(z.string(), z.unknown()))
  return { ...file, ...readPairs(flags.set ?? []) }
}

/**
 * Reads pairs. Values that are valid JSON are parsed: `max_count=5` is a number, `tags=["a"]` a list,
 * `list=people` a text.
 */
export function readPairs(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim(), readValue(pair.slice(at + 1))]
    }),
  )
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

export async function requireSource(db: Db, id: string): Promise<SourceRecord> {
  const orgId = await findOrganisationOfSource(db, id)
  const found = orgId === undefined ? undefined : await findSource(db, { org_id: orgId, instance_id: id })
  if (found === undefined) throw notFound(`Source ${id}`)
  return found
}

/** Prints the state of a source and its warnings. */
export async function showState(
  { db, sealer, config }: Session,
  record: SourceRecord,
): Promise<CommandOutput> {
  const publicUrl = config.LOAM_PUBLIC_URL ?? serverAddress(config)
  const means = { sources: await loadSources(), sealer, publicUrl }
  const { state, warnings } = await readSourceState(db, record, means)
  return {
    data: warnings.length === 0 ? state : { ...state, warnings },
    text: () => [formatSourceState(state), ...warnings.map(({ message }) => message)].join('\n'),
  }
}

export function pickSource(sources: SourceCatalogue, slug: string): Source {
  const found = sources.get(slug)
  if (found !== undefined) return found
  const slugs = sources.list().map((one) => one.slug)
  throw new AppError('Not Found', `There is no source ${slug}; there are: ${slugs.join(', ')}`)
}

/**
 * A gate without limits. The limits among workers exist for thousands of calls, and an operator makes one.
 */
const OPEN_GATE: ProviderGate = { enter: async () => ({ kind: 'entered', leave: () => undefined }) }
const TIMEOUT_MS = 60_000

type ProviderTools = {
  sources: SourceCatalogue
  orgId: string
  memberId: string | null
  keys: ProviderKeys
  services: SourceServices
}

/** Runs `work` with everything needed to call providers, for a member or for the organisation itself. */
export async function withProviders<Result>(
  { config, db, sealer }: Session,
  flags: { org?: string | undefined; email?: string | undefined },
  work: (tools: ProviderTools) => Promise<Result>,
): Promise<Result> {
  const org = await resolveOrganisation(db, flags)
  const member = flags.email === undefined ? null : await requireMember(db, org, flags.email)
  const owner = { org_id: org.org_id, member_id: member?.member_id ?? null }
  return withNetwork(config, async (network) =>
    work({
      sources: await loadSources(),
      orgId: owner.org_id,
      memberId: owner.member_id,
      keys: createRunEnvironment({ system: db }, sealer, config.providerKeys).keysOfMember(owner),
      services: {
        ...network,
        gate: OPEN_GATE,
        now: () => new Date(),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
    }),
  )
}

/** Reads `input.company=name` for each input to fill. */
export function readMapping(pairs: readonly string[]): Record<string, string> {
  if (pairs.length === 0) throw invalid('map', 'must name at least one, as --map input.company=name')
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim(), pair.slice(at + 1)]
    }),
  )
}
