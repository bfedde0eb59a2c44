import { type Definition, findInstance } from '../../catalog/chain/definition.ts'
import { readsEarlierResults } from '../../catalog/chain/earlier-results.ts'
import { outputsOf } from '../../catalog/describe.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Store } from '../../database/connection/db.ts'
import type { EnvValues } from '../../lib/security/env-values.ts'
import { createPriceBook } from '../../money/prices.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import type { RunEnvironment } from '../run-environment.ts'
import type { FlightStore } from './flights/flight-store.ts'
import type { RunFacts } from './flights/flight.ts'

/** The setting that the rows of a run share. */
export type RunSetting = {
  definition: Definition
  catalogue: Catalogue
  env: EnvValues
  /** Returns whether an action can have an output of that name. */
  knownOutputs: (actionId: string, name: string, instanceId: string) => boolean
}

export type SettingOf = (run: RunFacts) => Promise<RunSetting>

/**
 * The time for which a setting is kept. Rows of a run follow each other within microseconds; a change of the
 * environment is seen a moment later.
 */
const KEPT_MS = 100

type Sources = {
  store: Store
  flights: Pick<FlightStore, 'leaveEarlierResults'>
  environment: Pick<RunEnvironment, 'envOf'>
  catalogue: Catalogue
}

/** Creates a reader of settings, which reads once for the rows of a run that ask about the same time. */
export function createRunSettings({ store, flights, environment, catalogue: current }: Sources): SettingOf {
  const kept = new WeakMap<RunFacts, { setting: Promise<RunSetting>; until: number }>()
  const prices = createPriceBook(current)

  async function read(facts: RunFacts): Promise<RunSetting> {
    const [definition, env, catalogue] = await Promise.all([
      getDefinition(store.system, facts),
      environment.envOf(facts),
      prices.catalogueAt(store.system, facts.price_version),
    ])
    if (!readsEarlierResults(definition, facts.actions)) flights.leaveEarlierResults(facts)
    return { definition, env, catalogue, knownOutputs: knownOutputsIn(definition, catalogue) }
  }

  return (facts) => {
    const known = kept.get(facts)
    if (known !== undefined && performance.now() < known.until) return known.setting
    const reading = { setting: read(facts), until: Infinity }
    kept.set(facts, reading)
    reading.setting.then(
      () => (reading.until = performance.now() + KEPT_MS),
      () => (reading.until = 0),
    )
    return reading.setting
  }
}

/** Returns how the rows of a definition tell whether an action can have an output. */
export function knownOutputsIn(definition: Definition, catalogue: Catalogue): RunSetting['knownOutputs'] {
  return (actionId, name, instanceId) => {
    const template = catalogue.get(actionId)
    if (template === undefined || Object.hasOwn(template.outputs, name)) return true
    if (!template.dynamic) return false
    const { outputs, closed } = outputsOf(template, findInstance(definition, instanceId)?.inputs ?? {})
    return !closed || Object.hasOwn(outputs, name)
  }
}
