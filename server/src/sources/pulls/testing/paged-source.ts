import { z } from 'zod'
import { defineProvider } from '../../../catalog/provider/provider.ts'
import { defineSource, type Source, type SourceMode } from '../../define.ts'
import { fromQuery } from '../../option-query.ts'
import { definePull, type Pull } from '../../pull.ts'
import { createSources, type SourceCatalogue } from '../../registry.ts'
import { unmasked } from '../../rows.ts'
import { defineShape } from '../../shape.ts'

/** A test provider: pages of records by token, on own keys or the platform's key. */
export const paged = defineProvider({
  id: 'paged',
  name: 'Paged',
  evidence: 'this test',
  baseUrl: 'http://paged.invalid',
  auth: { kind: 'bearer' },
  statuses: { 400: 'ineligible', 404: 'miss' },
})

/** A test provider that needs no key. */
export const open = defineProvider({
  id: 'open',
  name: 'Open',
  evidence: 'this test',
  baseUrl: 'http://open.invalid',
  auth: { kind: 'none' },
})

const shape = defineShape({
  body: {
    list: z.string().trim().min(1).describe('The list to read'),
    since: z.string().describe('Only later records').optional(),
    tags: z.array(z.string()).max(3).describe('Words').optional(),
  },
  row: z.object({ name: unmasked, email: unmasked.nullable(), at: z.string().nullable() }),
})

const Reply = z.object({
  items: z.array(
    z.object({
      id: z.union([z.string(), z.number()]),
      name: z.string(),
      email: z.string().nullish(),
      at: z.string().nullish(),
    }),
  ),
  next: z.string().nullish(),
  total: z.number().optional(),
  resume: z.string().optional(),
  after_ms: z.number().optional(),
})

const pullOf = (provider: typeof paged, price: number) =>
  definePull(shape, provider, {
    price,
    state: z.object({ token: z.string().optional(), since: z.string().optional() }),
    pull: ({ body, state, limit, ask }) =>
      ask(
        { path: `/${body.list}`, query: { token: state?.token, since: state?.since, limit } },
        Reply,
        ({ items, next, total, resume, after_ms }) => ({
          records: items.map(({ id, name, email, at }) => ({
            key: id,
            row: { name, email: email ?? null, at: at ?? null },
          })),
          next:
            next === null || next === undefined
              ? null
              : { token: next, ...(state?.since === undefined ? {} : { since: state.since }) },
          ...(resume === undefined ? {} : { resume: { since: resume } }),
          ...(total === undefined ? {} : { total }),
          ...(after_ms === undefined ? {} : { afterMs: after_ms }),
        }),
      ),
  })

const Lists = z.object({ lists: z.array(z.string()) })

function make(slug: string, mode: SourceMode, pulls: readonly Pull[]): Source {
  return defineSource({
    slug,
    name: `Test ${slug}`,
    description: 'For tests.',
    mode,
    shape,
    maxCountAlias: 'max_items',
    pulls,
    options: {
      list: fromQuery({
        provider: paged,
        parent: { field: 'object_type', fits: (value) => /^[a-z]+$/.test(value) },
        async list(send, parent) {
          const reply = await send({ path: '/lists', query: { of: parent } }, Lists)
          return reply.ok
            ? { ok: true, body: reply.body.lists.map((value) => ({ value, label: value.toUpperCase() })) }
            : reply
        },
      }),
      tags: [{ value: 'a', label: 'A' }],
    },
  })
}

/**
 * Test sources. `paged_once` and `paged_either` cost one credit a record on the platform's key; `open_once` needs no
 * key.
 */
export const pagedSources: SourceCatalogue = createSources(
  [
    make('paged_once', 'once', [pullOf(paged, 1)]),
    make('paged_either', 'either', [pullOf(paged, 1)]),
    make('paged_tracked', 'recurring', [pullOf(paged, 1)]),
    make('open_once', 'once', [pullOf(open, 1)]),
    make('several_once', 'once', [pullOf(paged, 1), pullOf(open, 0)]),
  ].map((source) => ({ file: `${source.slug}.ts`, module: { default: source } })),
)
