import { isDeepStrictEqual } from 'node:util'
import { type Configuration, MAX_CONFIGURATION } from '#contract/actions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { parseWithNumberTexts, withPlainNumbers } from '../../lib/json/lossless-json.ts'
import { makeStorable } from '../../lib/json/storable.ts'
import { createHints } from '../../lib/nearest-name.ts'
import { checkOperators, dropEnvConditions, type TypeOf } from '../chain/condition-check.ts'
import { type ConditionGroup, parseRunIf, type RunIf } from '../chain/condition-shape.ts'
import type { ActionInstance, ConfiguredValue } from '../chain/definition.ts'
import type { Action } from '../define.ts'
import type { Field } from '../fields/field.ts'
import { fieldOf } from './references.ts'

/** The most warnings about one configuration. The number of further ones is reported with them. */
const MAX_WARNINGS = 100

/** The result of a configuration request. If there are errors, nothing is saved. */
export type Configured = { action: ActionInstance; warnings: Warning[]; errors: FieldError[] }

/** The result of one part of a request. Without `value` that part keeps its previous value. */
type Change<Value> = { value?: Value; warnings?: Warning[]; errors?: FieldError[] }

/** Merges a configuration, as a caller sends it, into an action. Fields that are not sent keep their values. */
export function configureAction(
  action: ActionInstance,
  template: Action | undefined,
  given: Configuration,
  typeOf: TypeOf,
): Configured {
  const inputs = configureInputs(action, template, given.inputs ?? {}, typeOf)
  const runIf = configureRunIf(given.run_if, action.run_if, typeOf)
  const flag = configureFlag(given)
  const note: Change<string> = given.note === undefined ? {} : { value: given.note }
  const { run_if, continue_workflow_if_action_fails, note: _note, ...rest } = action
  const parts = [inputs, runIf, flag, note]
  return {
    action: {
      ...rest,
      inputs: inputs.value ?? action.inputs,
      ...present('run_if', runIf.value === undefined ? run_if : (runIf.value ?? undefined)),
      ...present('continue_workflow_if_action_fails', flag.value ?? continue_workflow_if_action_fails),
      ...present('note', (note.value ?? action.note) || undefined),
    },
    warnings: parts.flatMap((part) => part.warnings ?? []),
    errors: parts.flatMap((part) => part.errors ?? []),
  }
}

function present<Key extends string, Value>(key: Key, value: Value | undefined) {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value }
}

function configureInputs(
  action: ActionInstance,
  template: Action | undefined,
  given: Record<string, unknown>,
  typeOf: TypeOf,
): Change<ActionInstance['inputs']> {
  const inputs = new Map(Object.entries(action.inputs))
  const warnings: Warning[] = []
  let more = 0
  const errors: FieldError[] = []
  const hint = createHints(Object.keys(template?.inputs ?? {}))
  for (const [name, raw] of Object.entries(given)) {
    if (warnings.length >= MAX_WARNINGS && fieldOf(template, name) === undefined) {
      more += 1
      continue
    }
    const change = configureField(name, raw, { action, template, typeOf, hint })
    warnings.push(...(change.warnings ?? []))
    errors.push(...(change.errors ?? []))
    if (change.value === null) inputs.delete(name)
    else if (change.value !== undefined) inputs.set(name, change.value)
  }
  if (more > 0) {
    const message = `this action has no such fields: ${more} more were ignored`
    warnings.push({ field: 'inputs', code: 'unknown_field', message })
  }
  const value = Object.fromEntries(inputs)
  if (Object.keys(given).length > 0 && JSON.stringify(value).length > MAX_CONFIGURATION) {
    errors.push({ field: 'inputs', message: `must be at most ${MAX_CONFIGURATION} characters of JSON` })
  }
  return { value, warnings, errors }
}

type FieldContext = {
  action: ActionInstance
  template: Action | undefined
  typeOf: TypeOf
  hint: (name: string) => string
}

/** Configures one field. Null clears it. */
function configureField(
  name: string,
  raw: unknown,
  { action, template, typeOf, hint }: FieldContext,
): Change<ConfiguredValue | null> {
  const path = `inputs.${name}`
  const field = fieldOf(template, name)
  if (field === undefined) {
    const message = `this action has no such field; it was ignored${hint(name)}`
    return { warnings: [{ field: path, code: 'unknown_field', message }] }
  }
  if (raw === null) return { value: null }
  const current = Object.hasOwn(action.inputs, name) ? action.inputs[name] : undefined
  if (current !== undefined && isShown(raw, field, current)) return { value: current }
  const notes: Warning[] = []
  const note = (message: string) => notes.push({ field: path, code: 'value_normalized', message })
  const given = field.keepsNumbers === true ? makeStorable(raw, note) : withPlainNumbers(raw)
  const checked = field.check(given, path, current)
  if (checked.kind === 'refuse') return { errors: checked.errors }
  if (checked.kind === 'drop') {
    return { warnings: [{ field: path, code: checked.code, message: checked.message }] }
  }
  const { value, warnings = [] } = checked
  if (field.conditions?.over !== 'row') return { value, warnings: [...warnings, ...notes] }
  // The field checked the shape: its value is an array of condition groups.
  const saved = (current ?? []) as ConditionGroup[]
  const change = restrictConditions(value as ConditionGroup[], path, typeOf, saved)
  return { ...change, warnings: [...warnings, ...notes, ...(change.warnings ?? [])] }
}

/** Accepts a field in the form in which Get Action shows it, without changing anything (D87). */
function isShown(raw: unknown, { show }: Field, current: ConfiguredValue): boolean {
  const shown = show === undefined ? current : show(current)
  return (
    isDeepStrictEqual(withPlainNumbers(raw), shown) || isDeepStrictEqual(asPrinted(raw), asPrinted(shown))
  )
}

/** Returns a value as its JSON text says it: numbers by their digits, objects without regard to how they were made. */
function asPrinted(value: unknown): unknown {
  return parseWithNumberTexts(JSON.stringify(value))
}

/** Checks types and leaves out conditions over environment variables. If none remains, nothing is saved. */
function restrictConditions(
  groups: ConditionGroup[],
  path: string,
  typeOf: TypeOf,
  saved: readonly ConditionGroup[] = [],
): Change<ConditionGroup[]> {
  const errors = checkOperators(groups, typeOf, path, saved)
  const { groups: kept, dropped } = dropEnvConditions(groups, path)
  const message = `conditions cannot use environment variables; this one was not saved, and ${describeKept(kept, saved, path)}`
  const warnings = dropped.map((field) => ({ field, code: ENV_DROPPED, message }))
  return kept.length === 0 && dropped.length > 0 ? { warnings, errors } : { value: kept, warnings, errors }
}

export const ENV_DROPPED = 'env_not_supported_in_conditions'

/** Describes the conditions that remain after some were left out. */
function describeKept(
  kept: readonly ConditionGroup[],
  saved: readonly ConditionGroup[],
  path: string,
): string {
  if (kept.length > 0) return 'the other conditions were'
  if (saved.length > 0) return 'the conditions from before still stand'
  return path.startsWith('run_if') ? 'the action runs on every row' : 'the field has no conditions'
}

function configureRunIf(
  raw: Configuration['run_if'],
  saved: RunIf | undefined,
  typeOf: TypeOf,
): Change<RunIf | null> {
  if (raw === undefined) return {}
  if (raw === null) return { value: null }
  const parsed = parseRunIf(raw)
  if (!parsed.ok) return { errors: parsed.errors }
  if (parsed.value === null) return {}
  const { conditions } = parsed.value
  const restricted = restrictConditions(conditions, 'run_if.conditions', typeOf, saved?.conditions)
  const { value, errors = [] } = restricted
  const warnings = [...(parsed.warnings ?? []), ...(restricted.warnings ?? [])]
  const run_if = value === undefined ? {} : { value: { ...parsed.value, conditions: value } }
  if (!parsed.deprecated) return { ...run_if, warnings, errors }
  // The sender of a flat form does not know the groups it was nested in.
  const flatten = <Item extends { field: string }>(item: Item): Item => ({
    ...item,
    field: item.field.replace('run_if.conditions[0].conditions[0]', 'run_if'),
  })
  return {
    ...run_if,
    warnings: [DEPRECATED_FORMAT, ...warnings.map(flatten)],
    errors: errors.map(flatten),
  }
}

const DEPRECATED_FORMAT: Warning = {
  field: 'run_if',
  code: 'deprecated_format',
  message: 'a single flat condition is deprecated; it was saved as {conditions: [{conditions: [...]}]}',
}

/** Reads the flag. The older spelling counts only if the newer is not sent. */
function configureFlag(given: Configuration): Change<boolean> {
  const { continue_workflow_if_action_fails: flag, continue_workflow_on_failure: old } = given
  if (old === undefined) return flag === undefined ? {} : { value: flag }
  const message = 'use continue_workflow_if_action_fails'
  return {
    value: flag ?? old,
    warnings: [{ field: 'continue_workflow_on_failure', code: 'deprecated_field', message }],
  }
}
