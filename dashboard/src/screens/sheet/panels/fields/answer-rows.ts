import type { OutputType } from '#contract/actions.ts'
import type { GraphNode } from '../../../../api/sheet.ts'
import { isRecord } from '../../tokens.ts'

/** One field of an answer. */
export type AnswerRow = { name: string; type: OutputType; description: string; choices: string[] }

/** The shape of an answer: rows, a schema that is being typed, or a saved one, which the server does not show again. */
export type AnswerShape =
  | { kind: 'rows'; rows: AnswerRow[] }
  | { kind: 'schema'; schema: unknown }
  | { kind: 'saved schema'; rows: AnswerRow[] }

/** The types of fields, with the words for them. */
export const TYPE_LABELS: Readonly<Record<OutputType, string>> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
  url: 'URL',
  email: 'Email',
  json: 'Any JSON',
  raw_array: 'List',
  structured_array: 'Table',
}
const isType = (type: unknown): type is OutputType =>
  typeof type === 'string' && Object.hasOwn(TYPE_LABELS, type)
export const ANSWER_TYPES: readonly OutputType[] = Object.keys(TYPE_LABELS).filter(isType)

/**
 * Reads the shape of an answer. The server shows a saved one only as `fields` or `json`; the fields stand in the outputs of
 * the action then. Returns null for what a form cannot show.
 */
export function readAnswer(
  value: unknown,
  node: Pick<GraphNode, 'outputs'> | null,
  declared: readonly string[],
): AnswerShape | null {
  if (value === undefined || value === null) return { kind: 'rows', rows: [] }
  if (value === 'fields' || value === 'json') {
    const rows = (node?.outputs ?? [])
      .filter(({ name }) => !declared.includes(name))
      .map(({ name, type, description = '', choices = [] }) => ({ name, type, description, choices }))
    return { kind: value === 'fields' ? 'rows' : 'saved schema', rows }
  }
  if (!isRecord(value)) return null
  if ('json' in value) return { kind: 'schema', schema: value['json'] }
  const list: unknown = value['fields']
  if (!Array.isArray(list)) return null
  const rows = list.flatMap(readRow)
  return rows.length === list.length ? { kind: 'rows', rows } : null
}

function readRow(item: unknown): AnswerRow[] {
  if (!isRecord(item)) return []
  const { name, type = 'string', description = '', choices = [], ...rest } = item
  const isList = Array.isArray(choices) && choices.every((text) => typeof text === 'string')
  const isKnown = typeof name === 'string' && isType(type) && typeof description === 'string' && isList
  return isKnown && Object.keys(rest).length === 0 ? [{ name, type, description, choices }] : []
}

/** Returns rows as the API takes them, or null without any. */
export function printAnswer(rows: readonly AnswerRow[]): unknown {
  if (rows.length === 0) return null
  return {
    fields: rows.map(({ name, type, description, choices }) => ({
      name,
      type,
      description,
      ...(choices.length === 0 || type !== 'string' ? {} : { choices }),
    })),
  }
}

/** Returns the fields that fit an example: JSON, or lines of names and values. Returns null if it has none. */
export function readExample(text: string): AnswerRow[] | null {
  const value = parseExample(text)
  const example: unknown = Array.isArray(value) ? value[0] : value
  if (!isRecord(example)) return null
  const names = new Set<string>()
  const rows = Object.entries(example).flatMap(([key, item]): AnswerRow[] => {
    const name = toName(key)
    if (name === '' || names.has(name)) return []
    names.add(name)
    return [{ name, type: typeOfExample(item), description: '', choices: [] }]
  })
  return rows.length === 0 ? null : rows
}

function parseExample(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    const lines = text.split('\n').flatMap((line) => {
      const [, key, value] = /^\s*[-*]?\s*([^:]{1,60}?)\s*:\s*(.*?)\s*$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, readLoose(value)] as const]
    })
    return lines.length === 0 ? undefined : Object.fromEntries(lines)
  }
}

/** Reads the value of a line: a number or a yes or no as such, all else as text. */
function readLoose(text: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text
}

/** Returns a name of small letters, digits and underscores. */
export function toName(text: string): string {
  const words = text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '_')
  return words.replaceAll(/^[_\d]+|_+$/g, '')
}

function typeOfExample(value: unknown): OutputType {
  if (Array.isArray(value))
    return value.length > 0 && value.every(isRecord) ? 'structured_array' : 'raw_array'
  if (isRecord(value)) return 'json'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'number') return 'number'
  const text = typeof value === 'string' ? value : ''
  if (/^https?:\/\/\S+$/i.test(text)) return 'url'
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) return 'email'
  return /^\d{4}-\d\d-\d\d(T[\d:.]+Z?)?$/.test(text) ? 'date' : 'string'
}
