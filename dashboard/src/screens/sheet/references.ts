import type { Row } from '../../api/sheet.ts'
import { valueText } from './cell-text.ts'
import type { ActionColumn, Column, InputColumn } from './columns.ts'
import {
  findTokens,
  isRecord,
  openValue,
  printStep,
  readPath,
  readToken,
  splitInputPath,
  splitPath,
  type Step,
} from './tokens.ts'

/** The columns that an action can use, those that it cannot, and the row whose values are shown. */
export type Sight = { columns: readonly Column[]; later: readonly Column[]; row: Row | undefined }

/** A value that a token can name, with the words that a person reads for it. */
export type Reference = { token: string; label: string; type: string; sample: string }

/** Returns the columns before an action, and the others. Without an action, all columns can be used. */
export function splitColumns(
  columns: readonly Column[],
  { action, after }: { action: string | null; after?: string | null },
): Pick<Sight, 'columns' | 'later'> {
  const own = columns.findIndex(({ key }) => key === action)
  const before = columns.findIndex(({ key }) => key === after)
  const inputs = columns.filter(({ kind }) => kind === 'input').length
  const end =
    own >= 0 ? own : after === 'input' ? inputs : before >= 0 ? Math.max(before + 1, inputs) : columns.length
  return { columns: columns.slice(0, end), later: columns.slice(end) }
}

const MAX_SAMPLE = 80

/** Returns a value as one short line. */
export function sampleText(value: unknown): string {
  const text = valueText(value).replaceAll(/\s+/g, ' ').trim()
  return text.length > MAX_SAMPLE ? `${text.slice(0, MAX_SAMPLE)}…` : text
}

/** Returns the type of a value in the words of the API. */
function typeOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'raw_array'
  if (isRecord(value)) return 'json'
  return typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string'
}

export const printLabel = (name: string, steps: readonly Step[]): string => [name, ...steps].join(' › ')

type Target = { name: string; type: string; value: unknown; isKnown: boolean }

/** Returns what a token leads to, with its value in the row. */
export function describeToken(content: string, sight: Sight): Reference & { leads: boolean } {
  const token = `{{${content}}}`
  const parts = readToken(content)
  const lost = { token, label: content, type: 'unknown', sample: 'leads nowhere', leads: false }
  if (parts === null) return lost
  if (parts.kind === 'env') {
    return { token, label: parts.key, type: 'variable', sample: 'set in Environment', leads: true }
  }
  const found = parts.kind === 'input' ? findInput(parts.path, sight) : findOutput(parts, sight)
  if (found === null) return { ...lost, label: labelOfLost(content, sight) }
  const { name, type, value, isKnown } = found
  const sample = isKnown ? sampleText(value) || 'empty' : 'leads nowhere'
  return { token, label: name, type, sample, leads: isKnown }
}

/** Returns the label of a token whose column comes later, or what is between its braces. */
function labelOfLost(content: string, { columns, later, row }: Sight): string {
  const parts = readToken(content)
  const all = { columns: [...columns, ...later], later: [], row }
  return (parts?.kind === 'output' ? findOutput(parts, all)?.name : undefined) ?? content
}

function findInput(path: string, { columns, row }: Sight): Target | null {
  const inputs = columns.filter((column): column is InputColumn => column.kind === 'input')
  const split = splitInputPath(path, (name) => inputs.some((input) => input.name === name))
  const input = inputs.find(({ name }) => name === split?.head)
  if (split === null || input === undefined) return null
  const value = readPath(row?.inputs[input.name], split.steps)
  const type = split.steps.length === 0 ? input.type : typeOfValue(value)
  return { name: printLabel(input.name, split.steps), type, value, isKnown: true }
}

function findOutput(
  { action, path }: { action: string; path: string },
  { columns, row }: Sight,
): Target | null {
  const column = columns.find((one): one is ActionColumn => one.kind === 'action' && one.key === action)
  if (column === undefined) return null
  const { head, steps } = splitPath(path) ?? { head: path, steps: [] }
  const answers = row?.cells[action]?.outputs
  const declared = column.node.outputs?.find(({ name }) => name === head)
  const value = readPath(answers?.[head], steps)
  const isKnown = declared !== undefined || answers === undefined || Object.hasOwn(answers, head)
  const type = steps.length === 0 && declared !== undefined ? declared.type : typeOfValue(value)
  return { name: printLabel(nameOutput(column, head), steps), type, value, isKnown }
}

/** Names an output by its column, and by itself too if the action has several. */
function nameOutput(column: ActionColumn, output: string): string {
  const names = column.node.outputs?.map(({ name }) => name) ?? []
  return names.length === 1 && names[0] === output ? column.name : `${column.name} › ${output}`
}

const MAX_PATHS = 400
const MAX_ITEMS = 5
const MAX_DEPTH = 6

/** Returns what an action can refer to: the columns before it, then the paths into the values of the row. */
export function listReferences({ columns, row }: Sight): Reference[] {
  const roots = columns.flatMap((column) => rootsOf(column, row))
  const paths: Reference[] = []
  for (const root of roots) addPaths(root, paths)
  const tops = roots.map(({ path, label, type, value }) => ({
    token: `{{${path}}}`,
    label,
    type,
    sample: sampleText(value),
  }))
  const known = new Set(tops.map(({ token }) => token))
  return [...tops, ...paths.filter(({ token }) => !known.has(token))]
}

type Root = { path: string; label: string; type: string; value: unknown }

function rootsOf(column: Column, row: Row | undefined): Root[] {
  if (column.kind === 'input') {
    const { name, type } = column
    return [{ path: `input.${name}`, label: name, type, value: row?.inputs[name] }]
  }
  const answers = row?.cells[column.key]?.outputs ?? {}
  const declared = column.node.outputs ?? []
  const shown = Object.keys(answers).filter((name) => !declared.some((output) => output.name === name))
  const further = shown.flatMap((name) =>
    printStep(name) === null ? [] : [{ name, type: typeOfValue(answers[name]) }],
  )
  return [...declared, ...further].map(({ name, type }) => ({
    path: `${column.key}.${name}`,
    label: nameOutput(column, name),
    type,
    value: answers[name],
  }))
}

function addPaths({ path, label, value }: Root, found: Reference[], depth = 0): void {
  const opened = openValue(value)
  const entries: [Step, unknown][] = Array.isArray(opened)
    ? opened.slice(0, MAX_ITEMS).map((item: unknown, place) => [place, item])
    : isRecord(opened)
      ? Object.entries(opened)
      : []
  if (depth === MAX_DEPTH) return
  for (const [step, item] of entries) {
    const printed = printStep(step)
    if (printed === null || found.length === MAX_PATHS) continue
    const root = {
      path: `${path}${printed}`,
      label: `${label} › ${step}`,
      type: typeOfValue(item),
      value: item,
    }
    found.push({ token: `{{${root.path}}}`, label: root.label, type: root.type, sample: sampleText(item) })
    addPaths(root, found, depth + 1)
  }
}

const MAX_SHOWN = 50

/** Returns the references that hold each typed word in their label, token or value. Those whose label begins with it come first. */
export function searchReferences<Found extends Reference>(all: readonly Found[], typed: string): Found[] {
  const words = typed
    .toLowerCase()
    .split(/[\s›]+/)
    .filter(Boolean)
  const wanted = typed.trim().toLowerCase()
  const textOf = ({ label, token, sample }: Found) => `${label} ${token} ${sample}`.toLowerCase()
  const rank = ({ label }: Found) => {
    const text = label.toLowerCase()
    return text.startsWith(wanted) ? 0 : text.includes(wanted) ? 1 : 2
  }
  return all
    .filter((one) => words.every((word) => textOf(one).includes(word)))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MAX_SHOWN)
}

/** Returns a text for people with the labels of columns instead of tokens. */
export function nameTokens(text: string, sight: Sight): string {
  return findTokens(text).reduceRight(
    (named, { from, to, content }) =>
      `${named.slice(0, from)}"${describeToken(content, sight).label}"${named.slice(to)}`,
    text,
  )
}

/** Returns the value of a token in the row: an empty text where there is none, undefined if it leads nowhere. */
export function resolveToken(content: string, sight: Sight): unknown {
  const parts = readToken(content)
  if (parts === null || parts.kind === 'env') return undefined
  const found = parts.kind === 'input' ? findInput(parts.path, sight) : findOutput(parts, sight)
  const hasCell = parts.kind === 'input' || sight.row?.cells[parts.action] !== undefined
  return found === null || !hasCell ? undefined : (found.value ?? '')
}
