import { atEnd } from '#test/plumbing/at-end.ts'
import { readConfig } from '../../lib/config/config.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress, type Egress } from '../../lib/egress/egress.ts'
import { createPageReaders } from '../agent/page-reader.ts'
import { type BrowserPool, createBrowserPool } from '../built-in/web/browser/browser.ts'
import type { ConfiguredValue } from '../chain/definition.ts'
import { type TokenValue, type Lookup, printToken } from '../chain/references.ts'
import { findInputPath, pathOf, readOutput, readPath } from '../chain/value-path.ts'
import { readInputs, resolveInputs } from '../configuration/inputs.ts'
import type { Action, SheetAccess } from '../define.ts'
import { createSandbox } from '../formula/sandbox.ts'
import { createModels, type Models } from '../models/models.ts'
import type { Outcome } from '../outcome.ts'
import type { ProviderGate, ProviderKeys } from '../provider/access.ts'
import type { RecordAccess } from '../records/access.ts'
import { loadCatalogue } from '../registry.ts'
import { createSheets } from './sheets.ts'

/** A row as tokens see it: its inputs, and the outputs of earlier actions. */
export type TestRow = {
  input?: Record<string, unknown>
  env?: Record<string, string>
  outputs?: Record<string, Record<string, unknown>>
}

export type Settings = {
  row?: TestRow
  state?: unknown
  wasCutOff?: boolean
  now?: Date
  sheets?: SheetAccess
  signal?: AbortSignal
  /** The egress to use. By default one that reaches loopback and no name server. */
  egress?: Egress
  /** The addresses of providers, by id. */
  urls?: Record<string, string>
  keys?: ProviderKeys
  gate?: ProviderGate
  knowledge?: string
  /** The environment variables that configure models. */
  models?: Record<string, string>
  cellRun?: string
  /** The installation's mail server. */
  mailUrl?: string
  /** The number of recipients that are left in this hour. */
  mailsLeft?: number
  /** The path of a Chromium. */
  browser?: string
  /** The credits that the organisation has left. */
  credits?: number
}

/** Rejects every call: actions on the record store are tested on a real one, by rows. */
const noRecords = () => Promise.reject(new Error('there is no record store here'))
const NO_RECORDS: RecordAccess = {
  ingest: noRecords,
  lookup: noRecords,
  update: noRecords,
  relate: noRecords,
}

const OPEN: ProviderGate = { enter: async () => ({ kind: 'entered', leave: () => undefined }) }

export type Run = (
  id: string,
  inputs: Record<string, unknown>,
  settings?: Settings,
) => Promise<Outcome<Record<string, unknown>>>

/**
 * Configures, resolves, reads and runs actions, each through the production code. The services are closed after the
 * test file.
 */
export function useActions(): Run {
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.0/8').entries })
  const sandbox = createSandbox()
  const loading = loadCatalogue()
  const models = new Map<string, Models>()
  const modelsOf = (env: Record<string, string>) => {
    const known = models.get(JSON.stringify(env)) ?? createModels(readConfig(env))
    models.set(JSON.stringify(env), known)
    return known
  }
  const browsers = new Map<string, BrowserPool>()
  const browsersOf = (path: string | undefined) => {
    if (path === undefined) return null
    const known = browsers.get(path) ?? createBrowserPool(path)
    browsers.set(path, known)
    return known
  }
  atEnd(async () => {
    const others = [...models.values(), ...browsers.values()]
    await Promise.all([egress.close(), sandbox.close(), ...others.map((each) => each.close())])
  })
  return async (id, inputs, { row = {}, ...settings } = {}) => {
    const action = (await loading).get(id)
    if (action === undefined) throw new Error(`there is no action ${id}`)
    const { resolved, missing } = resolveInputs(action, configure(action, inputs), lookupIn(row))
    if (missing[0] !== undefined)
      return { kind: 'unrunnable', message: `${printToken(missing[0])} does not exist` }
    const read = readInputs(action, resolved)
    if (!read.ok) return { kind: 'unrunnable', message: read.message }
    const context = {
      egress: {
        ...(settings.egress ?? egress),
        baseUrl: (id: string, fallback: string) => settings.urls?.[id] ?? egress.baseUrl(id, fallback),
      },
      models: modelsOf(settings.models ?? {}),
      pages: createPageReaders({ keepSeconds: 0, browsers: browsersOf(settings.browser) }).of('a test'),
      price: action.credits,
      cellRun: settings.cellRun ?? 'run/row/action_1',
      mail: { url: settings.mailUrl, from: 'loam@loam.test', perHour: 200 },
      takeMailTurn: async (recipients: number) => {
        const left = settings.mailsLeft ?? Number.POSITIVE_INFINITY
        return recipients <= left
          ? { ok: true as const, replyTo: 'member@loam.test' }
          : { ok: false as const, waitMs: 60_000 }
      },
      sandbox: sandbox.of('a test'),
      signal: settings.signal ?? new AbortController().signal,
      now: () => settings.now ?? new Date(),
      state: settings.state,
      wasCutOff: settings.wasCutOff ?? false,
      sheets: settings.sheets ?? createSheets({}),
      records: NO_RECORDS,
      keys: settings.keys ?? { platform: () => null, own: async () => null },
      gate: settings.gate ?? OPEN,
      secrets: () => Object.values(row.env ?? {}),
      knowledge: async () => settings.knowledge ?? null,
      reserve: async (credits: number) => credits <= (settings.credits ?? Number.POSITIVE_INFINITY),
    }
    return action.run({ inputs: read.inputs, context })
  }
}

/** Returns the saved form of a caller's values. Throws with the messages if one is refused. */
export function configure(action: Action, given: Record<string, unknown>): Record<string, ConfiguredValue> {
  const saved = Object.entries(given).flatMap(([name, raw]): [string, ConfiguredValue][] => {
    const checked = action.inputs[name]?.check(raw, name)
    if (checked === undefined) throw new Error(`${action.id} has no field ${name}`)
    if (checked.kind === 'refuse') {
      throw new Error(checked.errors.map(({ field, message }) => `${field} ${message}`).join('; '))
    }
    return checked.kind === 'save' ? [[name, checked.value]] : []
  })
  return Object.fromEntries(saved)
}

/**
 * Reads a test's row as the chain is read: with paths into values, and a column of a list as the list of its values.
 */
export function lookupIn({ input = {}, env = {}, outputs = {} }: TestRow): Lookup {
  const get = (from: Record<string, unknown> | undefined, name: string): TokenValue =>
    from !== undefined && Object.hasOwn(from, name) ? { found: true, value: from[name] } : { found: false }
  return (token) => {
    if (token.kind === 'env') return get(env, token.key)
    if (token.kind === 'input') {
      const path = findInputPath(token.name, (name) => Object.hasOwn(input, name))
      return path === null ? { found: false } : { found: true, value: readPath(input[path.head], path.steps) }
    }
    const whole = get(outputs[token.action], pathOf(token).head)
    return whole.found ? { found: true, value: readOutput(whole.value, token) } : whole
  }
}
