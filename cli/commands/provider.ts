import type { Command } from 'commander'
import { z } from 'zod'
import { createKey, type ProviderKey } from '#server/catalog/provider/access.ts'
import type { Provider } from '#server/catalog/provider/provider.ts'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import { listSamples, USUAL_SUBJECT } from '#server/catalog/waterfalls/samples.ts'
import { invalid } from '#server/lib/errors.ts'
import { plural } from '#server/lib/plural.ts'
import { RATE_DAYS, readHitRates } from '#server/money/store/provider-tallies.ts'
import { openConnection } from '#server/organisation/connection-keys.ts'
import { pickProvider } from '#server/organisation/connections.ts'
import { findConnection, listConnections } from '#server/organisation/store/connections.ts'
import { withNetwork } from '#server/process/network.ts'
import { EXIT } from '../failure.ts'
import { examples, Org } from '../flags.ts'
import { formatTable } from '../output.ts'
import { type Checked, type CheckResult, checkProvider } from '../provider-check.ts'
import { inSession, resolveOrganisation, type Session } from '../session.ts'

const MAX_DAYS = 90
const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const

const StatsFlags = z.strictObject({
  org: Org,
  days: z.coerce.number().int().min(1).max(MAX_DAYS).default(RATE_DAYS),
  action: z.string().exactOptional(),
})

const CheckFlags = z.strictObject({
  name: z.string().exactOptional(),
  org: Org,
  record: z.string().min(1).exactOptional(),
  domain: z.string().min(3).exactOptional(),
  person: z.string().min(3).exactOptional(),
  linkedin: z.url().exactOptional(),
})

export function define(provider: Command): void {
  provider.addHelpText('after', examples('loam provider stats', 'loam provider check hunter'))

  provider
    .command('stats')
    .description('Show what each provider found for an organisation, its price and its speed')
    .option('--days <number>', `number of days, including today (default ${RATE_DAYS}, at most ${MAX_DAYS})`)
    .option('--action <action_id>', 'only this action of the catalogue')
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam provider stats', 'loam provider stats --action person_work_email_waterfall --json'),
    )
    .action(
      inSession(StatsFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const rates = await readHitRates(db, org_id, { days: flags.days, action: flags.action })
        return {
          data: rates,
          text: () =>
            formatTable(
              ['ACTION', 'PROVIDER', 'ASKED', 'FOUND', 'VERIFIED', 'CREDITS/FIND', 'P50'],
              rates.map((rate) => [
                rate.action,
                rate.provider,
                String(rate.asked),
                `${rate.found} (${Math.round((100 * rate.found) / rate.asked)}%)`,
                String(rate.verified),
                rate.price_per_find === null ? '-' : String(rate.price_per_find),
                rate.p50_ms === null ? '-' : `${rate.p50_ms} ms`,
              ]),
              `No provider was asked in the last ${plural(flags.days, 'day')}.`,
            ),
        }
      }),
    )

  provider
    .command('check')
    .description('Ask each provider one small real question, and report replies whose shape has changed')
    .argument('[name]', 'only this provider, by its id or name')
    .option(
      '--record <folder>',
      'write the replies to this folder, without secrets, addresses and phone numbers',
    )
    .option('--domain <domain>', `the company to ask about (default ${USUAL_SUBJECT.domain})`)
    .option(
      '--person <name>',
      'a person at that company; with --linkedin, questions about people are asked too',
    )
    .option('--linkedin <url>', 'the LinkedIn profile of that person')
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam provider check', 'loam provider check hunter --record samples') +
        '\nProviders may charge for each answer.\n',
    )
    .action(
      inSession(CheckFlags, async (session, flags) => {
        const results = await checkAll(session, flags)
        const unfit = results.some(({ result }) => result === 'unfit')
        return {
          ...(unfit ? { exit: EXIT.failed } : {}),
          data: results,
          text: () =>
            formatTable(
              ['PROVIDER', 'QUESTION', 'RESULT', 'AT', 'MESSAGE'],
              results.map(({ provider: id, question, result, at, message }) => [
                id,
                question,
                result,
                at ?? '',
                message,
              ]),
              'No provider has a key here: set LOAM_PROVIDER_KEY_<NAME>, or loam connection add.',
            ),
        }
      }),
    )
}

async function checkAll(session: Session, flags: z.output<typeof CheckFlags>): Promise<CheckResult[]> {
  if ((flags.person === undefined) !== (flags.linkedin === undefined)) {
    throw invalid(flags.person === undefined ? 'person' : 'linkedin', 'give --person and --linkedin together')
  }
  const all = await loadProviders()
  const wanted = flags.name === undefined ? all : [pickProvider(all, flags.name)]
  const keys = await findKeys(session, wanted, flags)
  const { person: fullName, linkedin: linkedinUrl, domain = USUAL_SUBJECT.domain } = flags
  const person = fullName === undefined || linkedinUrl === undefined ? undefined : { fullName, linkedinUrl }
  const samples = listSamples({ ...USUAL_SUBJECT, domain, person }, new Date())
  const checked = wanted.flatMap((provider): Checked[] => {
    const key = keys.get(provider.id)
    const own = samples.filter((sample) => sample.provider.id === provider.id)
    return key === undefined ? [] : [{ provider, key, samples: own }]
  })
  if (flags.name !== undefined && checked.length === 0) {
    throw invalid(
      'name',
      `${flags.name} has no key here: set LOAM_PROVIDER_KEY_<NAME>, or loam connection add`,
    )
  }
  return withNetwork(session.config, async ({ egress }) => {
    const results: CheckResult[] = []
    for (const one of checked) results.push(...(await checkProvider(one, egress, flags.record)))
    return results
  })
}

/**
 * Returns the keys of the installation, and those of the organisation's connections for providers without
 * one.
 */
async function findKeys(
  session: Session,
  providers: readonly Provider[],
  flags: { org?: string | undefined },
): Promise<Map<string, ProviderKey>> {
  const { db, sealer, config } = session
  const keys = new Map(
    [...config.providerKeys].map(([id, secret]) => [id, createKey('platform', { secret })] as const),
  )
  for (const { id, auth, needsAddress } of providers) {
    // A provider that needs no key is asked if its address is known.
    const isPlaced = !needsAddress || config.providerUrls.has(id)
    if (auth.kind === 'none' && isPlaced && !keys.has(id)) keys.set(id, createKey('none', {}))
  }
  const { org_id } = await resolveOrganisation(db, flags)
  for (const { connection_id, provider } of await listConnections(db, org_id)) {
    const record = keys.has(provider) ? undefined : await findConnection(db, connection_id)
    const key = record === undefined ? null : openConnection(db, sealer, record)
    if (key !== null) keys.set(provider, key)
  }
  return keys
}
