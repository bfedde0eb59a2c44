import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const NOUNS =
  'actions attempts cells changes charges columns comments credits days errors exports files hours inputs members minutes pages points ' +
  'records recipients requests rows runs seconds sheets streams times values workflows'
const COUNTED = new RegExp(
  String.raw`\{([^{}]+)\} (?:validation errors|${NOUNS.replaceAll(' ', '|')})\b(?!=)`,
  'g',
)

/** Limits of the program, which are never 1. */
const CONSTANT = /^[A-Z][A-Z_\d]+\b/
/** The text that the specification fixes, limits with other names, and verbs that look like nouns. */
const ALLOWED = new Map([
  ['cli/commands/schedule.ts', 'only what'],
  ['server/src/lib/errors.ts', 'errors.length'],
  ['server/src/lib/egress/response.ts', 'most'],
  ['server/src/api/http/body.ts', "maxValues.toLocaleString('en-US')"],
  ['server/src/catalog/configuration/warnings.ts', 'name'],
  ['server/src/database/embedded/cluster.ts', 'place'],
])

/** Lists the counts in texts of a source that stand before a noun that is always in the plural. */
function listFixedPlurals(source: string): string[] {
  return [...source.matchAll(COUNTED)]
    .map(([, count = '']) => count)
    .filter((count) => !CONSTANT.test(count) && !count.startsWith('...'))
}

it('finds a count before a noun that is always in the plural', () => {
  const texts = ['`${count} rows`', '<p>{list.length} values</p>', '`${n} validation errors`']
  expect(texts.flatMap(listFixedPlurals)).toEqual(['count', 'list.length', 'n'])
  expect(["`${plural(count, 'row')} queued`", '`${MAX_ROWS} rows`'].flatMap(listFixedPlurals)).toEqual([])
})

it('one row is called a row: texts count by plural()', () => {
  const sources = globSync('{server/src,cli,contract,sdk/src,dashboard/src}/**/*.{ts,tsx}')
  const found = sources
    .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
    .flatMap((file) =>
      listFixedPlurals(readFileSync(file, 'utf8'))
        .filter((count) => ALLOWED.get(file)?.split(' ').includes(count) !== true)
        .map((count) => `${file}: ${count}`),
    )
  expect(found, 'use plural() of server/src/lib/plural.ts or dashboard/src/ui/figure.ts').toEqual([])
})
