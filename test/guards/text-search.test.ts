import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/**
 * Matches searches for a text that is neither a literal nor a constant, in a variable that is named like a
 * text or in the result of a call, and regular expressions made of such texts.
 */
const SEARCH =
  /(?:[tT]exts?|[wW]ords?|[bB]ody|[hH]tml|[cC]ontent|[mM]essage|[tT]itle|[hH]eader|[lL]ine|[pP]art|[qQ]uote|[vV]alue|[sS]tring|[xX]ml|[aA]ddress|[uU]rl|pending|plain|\))\.(?:includes|indexOf|lastIndexOf|replaceAll|split)\((?!['"`/)]|[A-Z_]{3})\w+[^\n]*|new RegExp\((?:[a-z]|[^\n]*\$\{[a-z])[^\n]*/g

/** The number of searches in a file, and why they are harmless. */
const KNOWN: Record<string, [count: number, why: string]> = {
  'server/src/catalog/built-in/technologies/detection.ts': [2, 'signs of ours'],
  'server/src/catalog/built-in/web/industries.ts': [1, 'words of ours'],
  'server/src/catalog/built-in/web/nesting.ts': [2, 'marks of HTML'],
  'server/src/catalog/built-in/web/useful-pages.ts': [1, 'words of ours'],
  'server/src/catalog/crm/hubspot-options.ts': [1, 'a list'],
  'server/src/catalog/formula/binding.ts': [1, 'words of a message'],
  'server/src/catalog/http/secrets.ts': [2, 'at most 64 characters'],
  'server/src/catalog/records/fields.ts': [1, 'a list'],
  'server/src/catalog/schema/json-schema.ts': [2, 'compiled only, and used in the sandbox'],
  'server/src/files/reading/xml-scanner.ts': [1, 'marks of XML'],
  'server/src/lib/find-chromium.ts': [1, 'a sign'],
  'server/src/lib/readers/readers.ts': [1, 'a list'],
  'server/src/lib/search.ts': [2, 'at most 64 characters'],
  'server/src/lib/timing/fair-queue.ts': [1, 'a list'],
  'server/src/sources/systems/s3/listing.ts': [1, 'names of ours'],
  'server/src/sources/systems/sales-navigator/search.ts': [1, 'words of ours'],
  'server/src/sources/systems/visitors/networks.ts': [1, 'parts of a network address'],
  'server/src/sources/systems/website/choice.ts': [1, 'a list'],
  'server/src/database/connection/give-way.ts': [1, 'words of ours'],
}

it('texts are searched for what a tenant chose by lib/search.ts only (F56)', () => {
  const files = globSync('server/src/**/*.ts').filter((path) => !/\.test\.ts$|\/testing\//.test(path))
  const found = files
    .map((path): [string, number] => [path, readFileSync(path, 'utf8').match(SEARCH)?.length ?? 0])
    .filter(([, count]) => count > 0)
  const known = Object.entries(KNOWN).map(([path, [count]]) => [path, count])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(known))
})
