import { expect, it } from 'vitest'
import type { Paused } from './adapter.ts'
import { collectPages, type Page } from './pages.ts'
import type { Refusal } from './reply.ts'

const down: Refusal = { kind: 'error', message: 'down', transient: true }

/** Collects pages by their cursor, and returns which of them were read. */
async function collect(pages: Record<string, Page<number, string> | Refusal | Paused>, max = 100) {
  const read: string[] = []
  const result = await collectPages<number, string>(
    async (cursor) => {
      read.push(cursor)
      return pages[cursor] ?? down
    },
    { first: 'a', max },
  )
  return { ...result, read: read.join('') }
}
const page = (next: string | null, ...items: number[]) => ({ items, next })

it.each([
  ['to the end', { a: page('b', 1, 2), b: page(null, 3) }, [1, 2, 3], 'ab'],
  ['a token that repeats', { a: page('b', 1), b: page('a', 2) }, [1, 2], 'ab'],
  ['a first page that is empty', { a: page('b'), b: page(null, 1) }, [1], 'ab'],
  [
    'nothing but empty pages',
    { a: page('b'), b: page('c'), c: page('d'), d: page('e'), e: page(null, 1) },
    [],
    'abc',
  ],
])('reads pages: %s', async (_what, pages, items, read) => {
  expect(await collect(pages)).toEqual({ kind: 'pages', items, read, note: null })
})

it('reads no more than is wanted', async () => {
  expect(await collect({ a: page('b', 1, 2), b: page('c', 3, 4) }, 3)).toEqual({
    kind: 'pages',
    items: [1, 2, 3],
    read: 'ab',
    note: null,
  })
})

it('items read before a refusal are kept, and a note says that there are more', async () => {
  expect(await collect({ a: page('b', 1), b: down })).toEqual({
    kind: 'pages',
    items: [1],
    read: 'ab',
    note: 'only the first 1: down',
  })
})

it('a first page that is refused is a refusal', async () => {
  expect(await collect({ a: down })).toEqual({ ...down, read: 'a' })
})

it('a page that must wait pauses the whole, and the pages before it are kept', async () => {
  const paused: Paused = { kind: 'paused', ms: 5 }
  expect(await collect({ a: page('b', 1), b: paused })).toEqual({ ...paused, read: 'ab' })
})
