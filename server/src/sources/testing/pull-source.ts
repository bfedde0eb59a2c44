import { onTestFinished } from 'vitest'
import { createModels } from '../../catalog/models/models.ts'
import { createKey } from '../../catalog/provider/access.ts'
import type { Refusal } from '../../catalog/provider/reply.ts'
import { OPEN_GATE } from '../../catalog/testing/provider-double.ts'
import { readConfig } from '../../lib/config/config.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import type { Source } from '../define.ts'
import { isReached, type Reached, reachSource, type SourceServices } from '../reach.ts'
import { loadSources } from '../registry.ts'
import { readRequest } from '../request.ts'
import { readPage, START, stepOn } from '../walk.ts'

export type Settings = {
  /** The URLs of providers, by id. */
  urls?: Record<string, string>
  /** The fields of the connection to every provider. With null, nothing is connected. */
  fields?: Record<string, string> | null
  /** The environment variables of the organisation. */
  env?: Record<string, string>
  now?: Date
  /** The environment variables that configure the models. */
  models?: Record<string, string>
  /** Ready-made services, instead of those built from the other settings. */
  services?: SourceServices
}

/** Makes the services of sources, with providers at `urls`, until the test ends. */
export function makeServices({ urls = {}, now, models = {} }: Settings = {}): SourceServices {
  const egress = createEgress({
    allow: parseEgressAllow('127.0.0.0/8').entries,
    baseUrls: new Map(Object.entries(urls)),
  })
  const offered = createModels(readConfig(models))
  onTestFinished(async () => {
    await Promise.all([egress.close(), offered.close()])
  })
  const { signal } = new AbortController()
  return { egress, signal, now: () => now ?? new Date(), models: offered, gate: OPEN_GATE }
}

type Opened = { source: Source; reached: Reached; body: Record<string, unknown>; services: SourceServices }

/** Opens a source with everything needed to read its pages. */
export async function openSource(
  slug: string,
  raw: Record<string, unknown>,
  settings: Settings,
): Promise<Opened> {
  const source = (await loadSources()).get(slug)
  if (source === undefined) throw new Error(`there is no source ${slug}`)
  const request = readRequest(source, raw)
  const services = settings.services ?? makeServices(settings)
  const { fields = { secret: 'a-key' } } = settings
  const own = async () => (fields === null ? null : createKey('own', fields))
  const env = async () => new Map(Object.entries(settings.env ?? {}))
  const reached = await reachSource(source, request, { platform: () => null, own, env }, services)
  if (!isReached(reached)) throw new Error(`${reached.field}: ${reached.message}`)
  return { source, reached, body: request.body, services }
}

export type Pulled = {
  rows: Record<string, unknown>[]
  /** The rows as JSON text, with every digit. */
  stored: string[]
  keys: string[]
  skipped: number
  pages: number
  total: number | null
  capped: boolean
  /** The state where the next scheduled pull starts. */
  resume: unknown
  refusal: Refusal | null
  note: string | null
}

/** Runs a whole pull of a definition from a state, as a worker does. `limit` is requested of each page. */
export async function pullSource(
  slug: string,
  raw: Record<string, unknown>,
  settings: Settings & { state?: unknown; limit?: number } = {},
): Promise<Pulled> {
  const { source, reached, body, services } = await openSource(slug, raw, settings)
  const pulled: Pulled = {
    rows: [],
    stored: [],
    keys: [],
    skipped: 0,
    pages: 0,
    total: null,
    capped: false,
    resume: null,
    refusal: null,
    note: null,
  }
  let state: unknown = settings.state ?? null
  let progress = START
  for (;;) {
    const page = await readPage(source, reached, { body, state, limit: settings.limit ?? 1000 }, services)
    if ('kind' in page) return { ...pulled, refusal: page }
    pulled.pages += 1
    for (const { key, data } of page.records) {
      pulled.keys.push(key)
      pulled.stored.push(data)
      pulled.rows.push(JSON.parse(data) as Record<string, unknown>)
    }
    pulled.skipped += page.skipped
    pulled.total = page.total ?? pulled.total
    pulled.capped ||= page.capped
    pulled.resume = page.resume
    const step = stepOn(progress, state, page)
    if (!step.goesOn) return { ...pulled, note: step.note }
    progress = step.progress
    // A state that passes through the database becomes JSON.
    state = JSON.parse(JSON.stringify(page.next)) as unknown
  }
}
