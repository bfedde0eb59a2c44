import { isDeepStrictEqual } from 'node:util'
import type { InputColumn } from './definition.ts'
import { mapStrings } from './reference-walk.ts'
import { parseTemplate, type TokenPart } from './references.ts'
import { findInputPath, type ValuePath } from './value-path.ts'

/** The inputs of a sheet before and after some of them were renamed. Columns keep their numbers. */
export type InputRenames = {
  /** The new names by the former ones. */
  names: ReadonlyMap<string, string>
  before: ReadonlyMap<string, number>
  after: ReadonlyMap<string, number>
}

/** Returns the renames that lead from some inputs to others, or null if every common column kept its name. */
export function findRenames(
  before: readonly InputColumn[],
  after: readonly InputColumn[],
): InputRenames | null {
  const columns = new Map(after.map(({ column, name }) => [column, name]))
  const names = before.flatMap(({ column, name }): [string, string][] => {
    const next = columns.get(column)
    return next === undefined || next === name ? [] : [[name, next]]
  })
  return names.length === 0
    ? null
    : { names: new Map(names), before: columnsByName(before), after: columnsByName(after) }
}

const columnsByName = (inputs: readonly InputColumn[]) =>
  new Map(inputs.map(({ name, column }) => [name, column]))

/** Renames inputs in the tokens of a text. The rest of the text stays as it was written. */
export function renameInText(text: string, renames: InputRenames): string {
  if (!text.includes('{{')) return text
  return parseTemplate(text)
    .map((part) => (part.kind === 'text' ? part.text : renameInToken(part, renames)))
    .join('')
}

/** Renames inputs in the tokens of every text in a value. */
export function renameInTexts<Value>(value: Value, renames: InputRenames): Value {
  // The copy has the shape of the value: only texts are replaced, by texts.
  return mapStrings(value, (text) => renameInText(text, renames)) as Value
}

function renameInToken({ token, source }: TokenPart, { names, before }: InputRenames): string {
  if (token.kind !== 'input') return source
  const head = findInputPath(token.name, (name) => before.has(name))?.head
  const next = head === undefined ? undefined : names.get(head)
  if (head === undefined || next === undefined) return source
  const start = source.indexOf(head, source.indexOf('.') + 1)
  return source.slice(0, start) + next + source.slice(start + head.length)
}

/**
 * Finds a reference that would mean something else after the renames. A name may hold dots, as a path does: if `a.b` is an
 * input and `c` becomes `a`, `{{input.c.b}}` would become the reference of another input.
 */
export function findAmbiguous(sources: Iterable<string>, renames: InputRenames): string | undefined {
  const { before, after } = renames
  for (const source of sources) {
    const was = meaningOf(source, before)
    const next = renameInText(source, renames)
    if (was !== null && !isDeepStrictEqual(was, meaningOf(next, after))) return next
  }
  return undefined
}

/** Returns the column and the path that a token leads to, or null if it leads nowhere. */
function meaningOf(source: string, columns: ReadonlyMap<string, number>) {
  const [part] = parseTemplate(source)
  if (part?.kind !== 'token' || part.token.kind !== 'input') return null
  const found: ValuePath | null = findInputPath(part.token.name, (name) => columns.has(name))
  return found === null ? null : { column: columns.get(found.head), steps: found.steps }
}

/** Returns the renames that lead from former names of inputs to their names, or null if there are none. */
export function findFormerNames(inputs: readonly InputColumn[]): InputRenames | null {
  const after = columnsByName(inputs)
  const former = inputs.flatMap(({ name, column, former_names = [] }) =>
    former_names.filter((old) => !after.has(old)).map((old) => ({ old, name, column })),
  )
  if (former.length === 0) return null
  const before = new Map(after)
  for (const { old, column } of former) before.set(old, column)
  return { names: new Map(former.map(({ old, name }) => [old, name])), before, after }
}

/**
 * Returns a row by the names that its inputs have now. Senders that cannot follow a rename go on with the former name; a
 * value under the present name counts more.
 */
export function nameAsNow(row: unknown, former: InputRenames | null): unknown {
  if (former === null || typeof row !== 'object' || row === null || Array.isArray(row)) return row
  const entries = Object.entries(row).map(([key, value]): [string, unknown] => {
    const name = former.names.get(key)
    return [name === undefined || Object.hasOwn(row, name) ? key : name, value]
  })
  return Object.fromEntries(entries)
}
