import type { z } from 'zod'
import type { Ask } from '../catalog/provider/adapter.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import type { Refusal } from '../catalog/provider/reply.ts'
import type { SourceContext } from './pull.ts'
import type { BodyOf, Shape } from './shape.ts'

/** A company as a lookup tells of it. `name` is null where only its domain is known. */
export type FoundCompany = { name: string | null; domain: string; found_by: string }

/** One way to find out whose something is, such as an address. */
export type Lookup = {
  provider: Provider
  /** Credits for a new record that it found, on the platform's key. */
  price: number
  /** Null when it knows nobody. */
  find(subject: string, means: { ask: Ask; context: SourceContext }): Promise<FoundCompany | null | Refusal>
}

/** How it gets here: from a script on the customer's own pages, or posted by another service. */
export type Way = 'pixel' | 'webhook'

export type Folding<Row, Item> = {
  /** The record so far; null when there is none. */
  before: Row | null
  item: Item
  company: FoundCompany | null
  at: Date
  /** Whether this visit was not counted before. */
  isNewVisit: boolean
}

/** Who sent something, as the connection and its headers tell. */
export type Sender = { address: string; userAgent: string; origin: string | undefined }

/** `salt` is that of the day: hashes that are made with it cannot be compared with those of another day. */
export type Arriving<Body> = { body: Body; sender: Sender; salt: Buffer }

export type ReceiverSpec<Body, Row, Item, Sent> = {
  from: { id: string; name: string }
  /** What is posted to its address, and what is kept of it; null keeps nothing. */
  posted: { way: Way; schema: z.ZodType<Sent>; read(sent: Sent, arriving: Arriving<Body>): Item | null }
  /** More attributes of the script's tag, by the body of the source. */
  tag?(body: Body): Record<string, string>
  /** What is kept of something that arrived, sealed, until it is part of a record. */
  item: z.ZodType<Item>
  /** Asked in this order. */
  lookups?: readonly Lookup[]
  /** What is looked up; null when there is nothing to ask about. */
  subjectOf?(item: Item): string | null
  /** Names the visit, so that the same one is counted once; null counts each. */
  visitOf(item: Item): string | null
  /** The key of the record that an item belongs to; null when nobody knows whose it is. */
  keyOf(item: Item, company: FoundCompany | null): string | null
  /** The record with the item in it. */
  fold(folding: Folding<Row, Item>): Row
}

/** How a source gets records that come by themselves, as everybody but its own file sees it. */
export type Receiver = {
  from: { id: string; name: string }
  posted: {
    way: Way
    schema: z.ZodType
    read(sent: unknown, arriving: Arriving<Record<string, unknown>>): Record<string, unknown> | null
  }
  tag(body: Record<string, unknown>): Record<string, string>
  lookups: readonly Lookup[]
  /** Null for what was stored by a version that kept other things. */
  read(stored: unknown): ReceivedItem | null
}

export type ReceivedItem = {
  subject: string | null
  visit: string | null
  keyOf(company: FoundCompany | null): string | null
  fold(folding: Omit<Folding<unknown, never>, 'item'>): Record<string, unknown>
}

/**
 * The counterpart of `definePull` for what arrives by itself. It is stored before it is answered; a job then finds out whose it
 * is and folds it into the record of that key, with the limits, credits and syncs of every source.
 */
export function defineReceiver<
  Body extends z.ZodRawShape,
  Row extends z.ZodType<Record<string, unknown>>,
  Item extends Record<string, unknown>,
  Sent,
>(shape: Shape<Body, Row>, spec: ReceiverSpec<BodyOf<Body>, z.output<Row>, Item, Sent>): Receiver {
  const { posted } = spec
  return {
    from: spec.from,
    posted: {
      way: posted.way,
      schema: posted.schema,
      // Both were read by the schemas that `read` declares.
      read: (sent, arriving) =>
        posted.read(sent as Sent, { ...arriving, body: arriving.body as BodyOf<Body> }),
    },
    // Read by the schema of the same shape, so it has the type that `tag` declares.
    tag: (body) => spec.tag?.(body as BodyOf<Body>) ?? {},
    lookups: spec.lookups ?? [],
    read(stored) {
      const parsed = spec.item.safeParse(stored)
      if (!parsed.success) return null
      const item = parsed.data
      return {
        subject: spec.subjectOf?.(item) ?? null,
        visit: spec.visitOf(item),
        keyOf: (company) => spec.keyOf(item, company),
        fold: ({ before, ...rest }) => {
          const known = shape.row.safeParse(before)
          return spec.fold({ ...rest, item, before: known.success ? known.data : null })
        },
      }
    },
  }
}
