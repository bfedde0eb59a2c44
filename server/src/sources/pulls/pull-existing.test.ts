import { describe, expect, it, onTestFinished } from 'vitest'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { loadSources } from '#server/sources/registry.ts'
import type { Account, Thing } from '#server/sources/testing/account.ts'
import { SEARCHES } from '#server/sources/testing/search-accounts.ts'
import { SYSTEMS } from '#server/sources/testing/system-accounts.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { makeSourceApp } from './testing/source-app.ts'

const catalogue = await loadSources()
const INCREMENTAL = [...SYSTEMS, ...SEARCHES].filter(({ slug }) => catalogue.get(slug)?.mode !== 'once')

const SECOND = 1000
const HOUR = 3600 * SECOND
/** The ages of records that existed before the source. Some changed just before it was created. */
const AGES = [30 * 24 * HOUR, 26 * HOUR, HOUR, 40 * 60 * SECOND, 4 * 60 * SECOND, 2 * SECOND]

const envName = (provider: string) => `LOAM_PROVIDER_URL_${provider.toUpperCase()}`

async function connect(
  { app }: Awaited<ReturnType<typeof makeSourceApp>>,
  org: TestOrg,
  { slug }: Account,
  fields: Record<string, string>,
) {
  const { store, sealer } = app.services
  for (const { provider } of catalogue.get(slug)?.pulls ?? []) {
    if (!provider.supportsOwnKey) continue
    const made = { orgId: org.orgId, provider, name: provider.id, ownerId: null, shared: true, fields }
    await addConnection(store.system, sealer, OPERATOR, made)
  }
}

/** Creates a source with `pull_existing: false` on an account that has old records. */
async function open(account: Account) {
  const now = Date.now()
  const things: Thing[] = AGES.map((age, n) => ({ id: n + 1, at: now - age }))
  const { body, settings, add } = await account.open(things)
  const urls = Object.entries(settings.urls ?? {}).map(([id, url]): [string, string] => [envName(id), url])
  const sources = await makeSourceApp(Object.fromEntries(urls), catalogue)
  const org = await sources.app.makeOrg()
  if (settings.fields !== null) await connect(sources, org, account, settings.fields ?? { secret: 'a-key' })
  const recurs = catalogue.get(account.slug)?.mode === 'recurring' ? {} : { schedule: 'hourly' }
  const id = await sources.create(org, account.slug, { ...body, ...recurs, pull_existing: false })
  onTestFinished(async () => void (await org.call('PATCH', `/sources/${id}/status`, { status: 'paused' })))
  return {
    pull: async (times: number) => {
      for (let n = 0; n < times; n += 1) {
        await sources.set(id, `next_pull_at = now()`)
        await sources.pull(org, id)
      }
      const { lead_count, last_error } = await sources.show(org, id)
      return { lead_count, last_error }
    },
    add: async () => {
      const thing = { id: things.length + 1, at: Date.now() }
      things.push(thing)
      await add?.(thing)
    },
  }
}

describe.each(INCREMENTAL)('pull_existing: false of $name', (account) => {
  it('never imports what is older than the source, however many pulls find nothing', async () => {
    const { pull, add } = await open(account)
    expect(await pull(1)).toEqual({ lead_count: 0, last_error: null })
    expect(await pull(5)).toEqual({ lead_count: 0, last_error: null })
    await add()
    expect(await pull(1)).toEqual({ lead_count: 1, last_error: null })
    await add()
    expect(await pull(5)).toEqual({ lead_count: 2, last_error: null })
  }, 60_000)
})

it('the members of a HubSpot list are noted, because the time they were added is unknown', () => {
  const [pull] = catalogue.get('import_from_hubspot')?.pulls ?? []
  const body = { object_type: 'contacts', properties: ['email'] }
  expect(pull?.skipExisting(new Date(), body)).toMatchObject({ notes: false })
  expect(pull?.skipExisting(new Date(), { ...body, list_id: '7' })).toBeNull()
})
