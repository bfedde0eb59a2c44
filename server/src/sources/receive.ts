import type { z } from 'zod'
import type { Ask } from '../catalog/provider/adapter.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import type { Refusal } from '../catalog/provider/reply.ts'
import type { SourceContext } from './pull.ts'
import type { BodyOf, Shape } from './shape.ts'

/** A company found by a lookup. `name` is null if only the domain is known. */
export type FoundCompany = { name: string | null; domain: string; found_by: string }

/** A way to find the company behind a subject, such as an IP address. */
export type Lookup = {
  provider: Provider
  /** The credits for a new record found by this lookup, on the platform's key. */
  price: number
  /** Returns null if it knows no company for the subject. */
  find(subject: string, means: { ask: Ask; context: SourceContext }): Promise<FoundCompany | null | Refusal>
}

/** The ways in which items arrive: from a script on the customer's own pages, or posted by another service. */
export type Way = 'pixel' | 'webhook'

export type Folding<Row, Item> = {
  /** The record so far, or null if there is none. */
  before: Row | null
  item: Item
  company: FoundCompany | null
  at: Date
  /** Set if this visit has not been counted before. */
  isNewVisit: boolean
}

/** The sender of an item, according to the connection and its headers. */
export type Sender = { address: string; userAgent: string; origin: string | undefined }

/**
 * A posted body with its sender. `salt` is the salt of the day: its hashes cannot be compared with those of another
 * day.
 */
export type Arriving<Body> = { body: Body; sender: Sender; salt: Buffer }

export type ReceiverSpec<Body, Row, Item, Sent> = {
  from: { id: string; name: string }
  /** The way items are posted, their schema, and the part that is stored. `read` returns null to store nothing. */
  posted: { way: Way; schema: z.ZodType<Sent>; read(sent: Sent, arriving: Arriving<Body>): Item | null }
  /** Returns extra attributes for the script tag, from the body of the source. */
  tag?(body: Body): Record<string, string>
  /** The schema of a stored item. Items are sealed and kept until they are part of a record. */
  item: z.ZodType<Item>
  /** The lookups, asked in this order. */
  lookups?: readonly Lookup[]
  /** Returns the subject to look up, or null if there is nothing to look up. */
  subjectOf?(item: Item): string | null
  /** Returns the id of the visit, so that the same visit is counted once. With null, every item counts as a visit. */
  visitOf(item: Item): string | null
  /** Returns the key of the record that an item belongs to, or null if its owner is unknown. */
  keyOf(item: Item, company: FoundCompany | null): string | null
  /** Returns the record with the item merged into it. */
  fold(folding: Folding<Row, Item>): Row
}

/** A receiver: the way a source gets pushed records, as all code outside its own file sees it. */
export type Receiver = {
  from: { id: string; name: string }
  posted: {
    way: Way
    schema: z.ZodType
    read(sent: unknown, arriving: Arriving<Record<string, unknown>>): Record<string, unknown> | null
  }
  tag(body: Record<string, unknown>): Record<string, string>
  lookups: readonly Lookup[]
  /** Returns null for an item stored by a version with another format. */
  read(stored: unknown): ReceivedItem | null
}

export type ReceivedItem = {
  subject: string | null
  visit: string | null
  keyOf(company: FoundCompany | null): string | null
  fold(folding: Omit<Folding<unknown, never>, 'item'>): Record<string, unknown>
}

/**
 * Defines a source that receives: the counterpart of `definePull`. An item is stored before its request is answered. A
 * job then looks up its company and merges it into the record of that key, with the limits, credits and syncs of every
 * source.
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
      // The schemas that `read` declares have read both.
      read: (sent, arriving) =>
        posted.read(sent as Sent, { ...arriving, body: arriving.body as BodyOf<Body> }),
    },
    // The schema of the same shape has read the body, so it has the type that `tag` declares.
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
