import type { FieldError } from '#contract/errors.ts'
import { problemOfChoices } from '#contract/inputs.ts'
import type { GivenInput, GivenOutput } from '#contract/shortcuts.ts'
import { type Definition, findInstance, type InputColumn } from '../catalog/chain/definition.ts'
import { parseTemplate, printToken, soleToken } from '../catalog/chain/references.ts'
import { type OutputToken, pathOf } from '../catalog/chain/value-path.ts'
import type { OutputDescriptor } from '../catalog/describe.ts'
import type { Catalogue } from '../catalog/registry.ts'
import { snakeCase } from '../catalog/values/output-names.ts'
import type { FrozenInput, FrozenOutput } from '../database/connection/json-columns.ts'

/** A list of fields, with all errors in what was given for it. */
export type Schema<Entry> = { entries: Entry[]; errors: FieldError[] }

/** Derives one field for each input of the sheet. Inputs of the previous version keep their references. */
export function deriveInputs(inputs: readonly InputColumn[], before: readonly FrozenInput[]): FrozenInput[] {
  const kept = new Map(before.map(({ column, reference }) => [column, reference]))
  const references = chooseNames(
    inputs.map(({ column, name }) => [column, snakeCase(name)]),
    kept,
  )
  return inputs.map(({ column, name, type, description, choices }) => ({
    column,
    reference: references.get(column) ?? snakeCase(name),
    name,
    ...(description === '' ? {} : { description }),
    type,
    ...(choices === undefined ? {} : { choices: [...choices] }),
  }))
}

/** Derives one field for each output of each action. Outputs of the previous version keep their names. */
export function deriveOutputs(
  outputs: readonly OutputDescriptor[],
  before: readonly FrozenOutput[],
): FrozenOutput[] {
  const kept = new Map(before.map(({ reference, name }) => [reference, name]))
  const names = chooseNames(
    outputs.map(({ reference, name }) => [reference, snakeCase(name)]),
    kept,
  )
  return outputs.map(({ reference, name, description }) => ({
    name: names.get(reference) ?? snakeCase(name),
    reference,
    ...(description === undefined ? {} : { description }),
  }))
}

/** Chooses a name for each key: its former name, or the wanted one, with `_2` and so on if it is taken. */
function chooseNames<Key>(wanted: [Key, string][], kept: ReadonlyMap<Key, string>): Map<Key, string> {
  const names = new Map(
    wanted.flatMap(([key]): [Key, string][] => {
      const name = kept.get(key)
      return name === undefined ? [] : [[key, name]]
    }),
  )
  const used = new Set(names.values())
  for (const [key, wish] of wanted) {
    if (names.has(key)) continue
    let name = wish
    for (let n = 2; used.has(name); n += 1) name = `${wish}_${n}`
    used.add(name)
    names.set(key, name)
  }
  return names
}

/** Returns the given entries as the complete list: an input without an entry is not part of the form. */
export function chooseInputs(
  derived: readonly FrozenInput[],
  given: readonly GivenInput[],
): Schema<FrozenInput> {
  const errors: FieldError[] = []
  const entries = given.flatMap((entry, place): FrozenInput[] => {
    const { reference, name, description, type, choices, required, defaultValue } = entry
    const input =
      derived.find((known) => known.reference === reference) ?? derived.find((known) => known.name === name)
    if (input === undefined) {
      const field = `inputs[${place}].${reference === undefined ? 'name' : 'reference'}`
      const known = derived.map((one) => `${one.reference} (${one.name})`).join(', ') || 'none'
      errors.push({ field, message: `the workflow has no such input; it has: ${known}` })
      return []
    }
    const fieldType = type ?? input.type
    const offered = choices ?? (fieldType === 'select' ? input.choices : undefined)
    const problem = problemOfChoices({ type: fieldType, choices: offered })
    if (problem !== null) errors.push({ field: `inputs[${place}].choices`, message: problem })
    return [
      {
        column: input.column,
        reference: reference ?? input.reference,
        name: name ?? input.name,
        ...optional('description', description ?? input.description),
        type: fieldType,
        ...optional('choices', offered),
        ...optional('required', required),
        ...optional('defaultValue', defaultValue),
      },
    ]
  })
  errors.push(
    ...findRepeats(entries, ({ reference }) => reference, 'inputs', 'reference'),
    ...findRepeats(entries, ({ column }) => column, 'inputs', 'name'),
  )
  return { entries, errors }
}

/** The chain whose outputs can be chosen. */
export type Chain = { definition: Definition; catalogue: Catalogue }

/** Returns the given entries as the complete list. Each is a derived name, or a custom name with a token. */
export function chooseOutputs(
  derived: readonly FrozenOutput[],
  given: readonly GivenOutput[],
  chain: Chain,
): Schema<FrozenOutput> {
  const errors: FieldError[] = []
  const known = derived.map(({ name, reference }) => `${name} (${reference})`).join(', ') || 'none'
  const entries = given.flatMap(({ name, reference, description, display_column }, place): FrozenOutput[] => {
    const source = reference === undefined ? undefined : readOutputToken(reference)
    const output =
      reference === undefined
        ? derived.find((one) => one.name === name)
        : derived.find((one) => source !== undefined && one.reference === printToken(source))
    const named =
      output?.reference ?? (source !== undefined && canHaveOutput(source, chain) ? printToken(source) : null)
    if (named === null) {
      const field = `outputs[${place}].${reference === undefined ? 'name' : 'reference'}`
      const hint = reference === undefined ? '; give a reference to choose a name of your own' : ''
      errors.push({ field, message: `the workflow has no such output; it has: ${known}${hint}` })
      return []
    }
    return [
      {
        name,
        reference: named,
        ...optional('description', description ?? output?.description),
        ...optional('display_column', display_column),
      },
    ]
  })
  errors.push(...findRepeats(entries, ({ name }) => name, 'outputs', 'name'))
  return { entries, errors }
}

/** Reads the token of an output. The braces around it are optional. */
export function readOutputToken(text: string): OutputToken | undefined {
  const token = soleToken(parseTemplate(text.includes('{{') ? text.trim() : `{{${text}}}`))
  return token?.kind === 'output' || token?.kind === 'column' ? token : undefined
}

/** Returns true if the action can have this output, although no run has shown it yet. */
function canHaveOutput(token: OutputToken, { definition, catalogue }: Chain): boolean {
  const action = findInstance(definition, token.action)
  const template = action === undefined ? undefined : catalogue.get(action.action_id)
  if (template === undefined) return false
  return template.dynamic || Object.hasOwn(template.outputs, pathOf(token).head)
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined) {
  // The type is correct, since the key is the name and the value is not undefined, but the compiler cannot
  // see it.
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Exclude<Value, undefined> }
}

function findRepeats<Entry>(
  entries: readonly Entry[],
  key: (entry: Entry) => unknown,
  list: string,
  field: string,
): FieldError[] {
  const seen = new Set<unknown>()
  return entries.flatMap((entry, place) => {
    const repeated = seen.has(key(entry))
    seen.add(key(entry))
    return repeated
      ? [{ field: `${list}[${place}].${field}`, message: 'must be unique; this is a duplicate' }]
      : []
  })
}
