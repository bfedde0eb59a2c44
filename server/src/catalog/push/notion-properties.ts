import { textOf } from '../chain/references.ts'
import { createNotionOptions } from './notion.ts'

type Printed = { ok: true; value: unknown } | { ok: false; message: string }

/** The maximum length of a text object: developers.notion.com/reference/request-limits. */
const MAX_TEXT = 2000
const MAX_PARTS = 100

const done = (value: unknown): Printed => ({ ok: true, value })
const toTexts = (value: unknown): string[] =>
  (Array.isArray(value) ? value.map(textOf) : textOf(value).split(','))
    .map((one) => one.trim())
    .filter(Boolean)

function printText(value: unknown): Printed {
  const text = textOf(value)
  const parts = Array.from({ length: Math.ceil(text.length / MAX_TEXT) }, (_, n) =>
    text.slice(n * MAX_TEXT, (n + 1) * MAX_TEXT).toWellFormed(),
  )
  if (parts.length > MAX_PARTS) return { ok: false, message: 'is longer than Notion takes' }
  return done(parts.map((content) => ({ text: { content } })))
}

function printNumber(value: unknown): Printed {
  const number = Number(textOf(value))
  return Number.isFinite(number) ? done(number) : { ok: false, message: 'must be a number' }
}

function printCheck(value: unknown): Printed {
  const text = textOf(value).trim().toLowerCase()
  if (['true', 'yes', '1'].includes(text)) return done(true)
  if (['false', 'no', '0'].includes(text)) return done(false)
  return { ok: false, message: 'must be true or false' }
}

const printPlain = (value: unknown) => done(textOf(value))
const printName = (value: unknown) => done({ name: textOf(value) })

/**
 * The functions that print a value, by the type of its property: developers.notion.com/reference/page-property-values.
 */
const PRINTERS: Readonly<Record<string, (value: unknown) => Printed>> = {
  title: printText,
  rich_text: printText,
  number: printNumber,
  checkbox: printCheck,
  select: printName,
  status: printName,
  multi_select: (value) => done(toTexts(value).map((name) => ({ name }))),
  date: (value) => done({ start: textOf(value) }),
  url: printPlain,
  email: printPlain,
  phone_number: printPlain,
  relation: (value) => done(toTexts(value).map((id) => ({ id }))),
  people: (value) => done(toTexts(value).map((id) => ({ id }))),
}
/** The types whose empty value is an empty list. The empty value of all others is null. */
const LISTS = new Set(['title', 'rich_text', 'multi_select', 'relation', 'people'])

const isWritableType = (type: string): boolean => Object.hasOwn(PRINTERS, type)

export function printProperty(type: string, value: unknown): Printed {
  const print = isWritableType(type) ? PRINTERS[type] : undefined
  if (print === undefined) return { ok: false, message: `is ${type}, which Notion does not let others write` }
  if (value === null) return done(type === 'checkbox' ? false : LISTS.has(type) ? [] : null)
  return print(value)
}

const COMPARED = new Set(['title', 'rich_text', 'url', 'email', 'phone_number', 'number', 'select', 'status'])

/** Returns a filter for pages whose property has this value, or null if Notion cannot compare it. */
export function printFilter(property: string, type: string, value: unknown): object | null {
  const text = textOf(value)
  if (value === null || !COMPARED.has(type) || text.length > MAX_TEXT) return null
  return { property, [type]: { equals: type === 'number' ? Number(text) : text } }
}

export const NOTION_OPTIONS = createNotionOptions(isWritableType)
