import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SERVER = fileURLToPath(new URL('../../', import.meta.url))
const files = globSync('**/*.ts', { cwd: SERVER }).filter((file) => !/\.test\.ts$|testing\//.test(file))

/** The forms that statements must not have; see docs/decisions/plans-for-any-organisation.md. */
const FORMS: [string, RegExp, string[]][] = [
  // Exceptions: pages of rows are read on connections that never sort; sources query databases of others.
  [
    'a limit is a literal',
    /\b(limit|offset) \$\{(?!sql\.lit\()/,
    [
      'sheets/store/rows.ts',
      'sources/systems/postgres/page-query.ts',
      'sources/systems/snowflake/page-query.ts',
    ],
  ],
  ['a bound is a plain parameter', /[<>=] coalesce\(\$\{/, []],
  // Exceptions: conditions on a column that is read anyway, never on the column that finds the row.
  [
    'a condition without a value is left out',
    /\(\$\{[^}]*\}(::\w+)? is null or /,
    [
      'runs/engine/sql/find-hits.ts',
      'money/store/provider-tallies.ts',
      'organisation/store/sealed-values.ts',
      'money/store/limits/budget-limits.ts',
      'records/store/terms.ts',
      'sheets/store/sheet-reach.ts',
      'sheets/store/value-filters.ts',
    ],
  ],
]

it.each(FORMS)('in statements %s', (_, wrong, excepted) => {
  expect(files.length).toBeGreaterThan(1000)
  const found = files.filter((file) => wrong.test(readFileSync(`${SERVER}${file}`, 'utf8'))).toSorted()
  expect(found).toEqual(excepted.toSorted())
})
