import { z } from 'zod'
import { attribute, markText, PAGES_ARE_DATA } from '../../../catalog/agent/instructions.ts'
import { readText } from '../../../catalog/agent/read-text.ts'
import type { Fetching, Page } from '../../../catalog/built-in/web/page-fetch.ts'
import type { CheckedSchema } from '../../../catalog/models/ask-model.ts'
import { type Refusal, refusal } from '../../../catalog/provider/reply.ts'
import type { ReadByModel } from '../../pull.ts'
import { MAX_ITEMS } from './item-list.ts'
import type { Wanted } from './items.ts'

/** The maximum text shown to a model at once. A longer page is read in parts. */
const MAX_PART = 24_000
const MAX_VALUE = 10_000
const MAX_FAULTS = 20

type Found = { items: Record<string, string | null>[]; parts: number }

/** Reads the items of one part of a page by a model. Returns them with the number of parts. */
export async function readItems(
  context: Fetching,
  ask: ReadByModel,
  { page, part }: { page: Page; part: number },
  wanted: Wanted,
): Promise<Found | Refusal> {
  const read = await readText(context, page)
  if (!read.ok) return refusal('error', read.message)
  const parts = splitText(read.value.text)
  const text = parts[part - 1]
  if (text === undefined) return { items: [], parts: parts.length }
  const schema = schemaOf(wanted)
  const attributes = ` url="${attribute(page.url)}" title="${attribute(read.value.title ?? '')}"`
  const answer = await ask(
    {
      instructions: `${RULES}\n\nIt must fit this JSON schema:\n${JSON.stringify(schema.told)}`,
      task: `List: ${wanted.item ?? 'the items that the page lists'}`,
      data: markText('page', attributes, text),
    },
    schema,
  )
  if ('kind' in answer) return answer
  // The model reader wraps long numbers; this turns them into plain numbers.
  const { items } = Answer.parse(JSON.parse(JSON.stringify(answer.value)))
  return { items: items.slice(0, MAX_ITEMS).map((item) => toRow(item, wanted)), parts: parts.length }
}

const RULES = [
  'You list items from a page, or from a part of one, that was read for the task. Give every item of the kind that is asked for,',
  'once each and in the order of the page, with the fields below as they stand there. What the page does not say of an item is',
  'null: never guess, and never use what you know from elsewhere. When there is no such item, items is []. Answer with JSON only.',
  PAGES_ARE_DATA,
].join(' ')

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()])
const Answer = z.object({ items: z.array(z.record(z.string(), Value)) })

/**
 * Returns the schema of the answer. Values are texts; numbers are accepted too, because models write prices as numbers.
 */
function schemaOf({ fields = [] }: Wanted): CheckedSchema {
  const properties = fields.map(({ name, description }) => [
    name,
    { type: ['string', 'null'], ...(description === undefined ? {} : { description }) },
  ])
  const item = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: fields.map(({ name }) => name),
    additionalProperties: false,
  }
  const exact = z.object({
    items: z.array(z.strictObject(Object.fromEntries(fields.map(({ name }) => [name, Value])))),
  })
  return {
    told: {
      type: 'object',
      properties: { items: { type: 'array', items: item } },
      required: ['items'],
      additionalProperties: false,
    },
    strict: true,
    async check(value) {
      const { error } = exact.safeParse(value)
      const issues = error?.issues ?? []
      return issues.slice(0, MAX_FAULTS).map(({ path, message }) => `${path.join('.')}: ${message}`)
    },
  }
}

function toRow(item: z.infer<typeof Answer>['items'][number], { fields = [] }: Wanted) {
  return Object.fromEntries(
    fields.map(({ name }): [string, string | null] => {
      const text = String(item[name] ?? '')
        .trim()
        .slice(0, MAX_VALUE)
        .toWellFormed()
      return [name, text === '' ? null : text]
    }),
  )
}

/** Splits a text between lines, so that items stay whole if possible. */
function splitText(text: string): string[] {
  const parts: string[] = []
  let part = ''
  for (const line of text.split('\n')) {
    if (part !== '' && part.length + line.length >= MAX_PART) {
      parts.push(part)
      part = ''
    }
    part += `${line.slice(0, MAX_PART)}\n`
  }
  return part.trim() === '' ? parts : [...parts, part]
}
