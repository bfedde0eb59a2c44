import { LRUCache } from 'lru-cache'
import type { PriceChange } from '#contract/prices.ts'
import { AGENT, listPrices, repriceCatalogue } from '../catalog/configuration/price-list.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db } from '../database/connection/db.ts'
import { AppError, invalid } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest-name.ts'
import {
  changePrices,
  findPriceVersion,
  getLatestPriceVersion,
  type PriceVersion,
} from './store/price-versions.ts'

/** A version of the prices, and the catalogue with these prices. */
export type PricedCatalogue = PriceVersion & { catalogue: Catalogue }

export type PriceBook = {
  /** Returns the prices of runs that are enqueued now. */
  current(db: Db): Promise<PricedCatalogue>
  find(db: Db, version: number): Promise<PricedCatalogue | undefined>
  /**
   * Returns the catalogue with the prices of a version. If the version does not exist, it returns the program's own
   * catalogue.
   */
  catalogueAt(db: Db, version: number): Promise<Catalogue>
}

const MAX_KNOWN = 100

/** Creates a price book. Versions never change, so each is read once. */
export function createPriceBook(catalogue: Catalogue): PriceBook {
  const known = new LRUCache<number, PricedCatalogue>({ max: MAX_KNOWN })
  const keep = (found: PriceVersion): PricedCatalogue => {
    const priced = { ...found, catalogue: repriceCatalogue(catalogue, found.prices) }
    known.set(found.version, priced)
    return priced
  }
  const find = async (db: Db, version: number) => {
    const priced = known.get(version)
    if (priced !== undefined) return priced
    const found = await findPriceVersion(db, version)
    return found === undefined ? undefined : keep(found)
  }
  return {
    find,
    current: async (db) =>
      (await find(db, await getLatestPriceVersion(db))) ?? keep(await recordPrices(db, catalogue)),
    catalogueAt: async (db, version) => (await find(db, version))?.catalogue ?? catalogue,
  }
}

/** Records a new version if the program's prices differ from the latest one, as after an update of the program. */
export async function recordPrices(db: Db, catalogue: Catalogue): Promise<PriceVersion> {
  return changePrices(db, (changes) => ({ changes, prices: listPrices(catalogue, changes) }))
}

export type PriceSetting = {
  action: string
  provider?: string | undefined
  field?: string | undefined
  credits: number
  missCredits?: number | undefined
}

/** Sets a price for everything that is enqueued from now on. */
export async function setPrice(db: Db, catalogue: Catalogue, given: PriceSetting): Promise<PriceVersion> {
  const change = checkSetting(catalogue, given)
  return changePrices(db, (before) => {
    const changes = [...before.filter((one) => !isReplaced(one, change)), change]
    return { changes, prices: listPrices(catalogue, changes) }
  })
}

/** Removes prices that were set, for all actions or for one. */
export async function resetPrices(
  db: Db,
  catalogue: Catalogue,
  action: string | undefined,
): Promise<PriceVersion> {
  if (action !== undefined) requireAction(catalogue, action)
  return changePrices(db, (before) => {
    const changes = action === undefined ? [] : before.filter((one) => one.action !== action)
    return { changes, prices: listPrices(catalogue, changes) }
  })
}

const isReplaced = (before: PriceChange, { action, provider, field }: PriceChange): boolean =>
  before.action === action && before.provider === provider && (field === null || before.field === field)

function requireAction(catalogue: Catalogue, id: string): void {
  if (id === AGENT || catalogue.get(id) !== undefined) return
  const names = [AGENT, ...catalogue.list().map((action) => action.id)]
  throw new AppError(
    'Not Found',
    `There is no action ${id}${didYouMean(id, names) || '; loam actions lists them'}`,
  )
}

function checkSetting(catalogue: Catalogue, given: PriceSetting): PriceChange {
  const { action, credits, missCredits = null } = given
  requireAction(catalogue, action)
  const priced = listPrices(catalogue).actions.find(({ action_id }) => action_id === action)
  const providers = priced?.providers ?? []
  if (given.provider === undefined) {
    if (missCredits !== null) throw invalid('miss-credits', 'is a price of a provider: give --provider too')
    if (given.field !== undefined)
      throw invalid('field', 'names the field that lists a provider: give --provider too')
    if (providers.length > 0 && priced?.credits === 0) {
      const names = [...new Set(providers.map(({ provider }) => provider))].join(', ')
      throw invalid('provider', `${action} is priced by provider; give one of: ${names}`)
    }
    return { action, provider: null, field: null, credits, missCredits: null }
  }
  const wanted = given.provider.trim().toLowerCase()
  const named = providers.filter(({ provider }) => provider.toLowerCase() === wanted)
  const found = named.find(({ field }) => given.field === undefined || field === given.field)
  if (found === undefined) {
    const names = [...new Set(providers.map(({ provider }) => provider))]
    const problem =
      named.length > 0
        ? `${given.provider} is not listed in ${given.field}; it is in ${named.map(({ field }) => field).join(', ')}`
        : `${action} asks no provider ${given.provider}${names.length === 0 ? '' : `; there are: ${names.join(', ')}`}`
    throw invalid(named.length > 0 ? 'field' : 'provider', problem)
  }
  return { action, provider: found.provider, field: given.field ?? null, credits, missCredits }
}
