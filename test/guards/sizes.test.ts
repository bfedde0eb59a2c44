import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'

const MAX_FILE_LINES = 400
const MAX_FUNCTION_LINES = 80

/** The files and functions that are still longer. Remove a line when it is no longer needed; add none. */
const LONG_FILES: string[] = ['server/src/runs/engine/flights/simulation.test.ts']
const LONG_FUNCTIONS: string[] = [
  'cli/commands/budget.ts define',
  'cli/commands/connection.ts define',
  'cli/commands/credits.ts define',
  'cli/commands/key.ts define',
  'cli/commands/records.ts define',
  'cli/commands/schedule.ts define',
  'cli/commands/segment.ts define',
  'cli/commands/source.ts defineMaking',
  'cli/commands/webhook.ts define',
  'cli/source-changing.ts defineChanging',
  'server/src/agent/agent.ts createAgent',
  'server/src/agent/routes/agent.ts agentRoutes',
  'server/src/api/app.ts addHooks',
  'server/src/api/health.ts healthRoutes',
  'server/src/api/http/connection-limits.ts limitConnections',
  'server/src/catalog/built-in/web/browser/browser.ts createBrowserPool',
  'server/src/catalog/built-in/web/browser/proxy.ts openProxy',
  'server/src/catalog/built-in/web/company-profile.ts profileCompany',
  'server/src/catalog/formula/binding.ts createLexer',
  'server/src/catalog/formula/sandbox-evaluator.ts createEvaluator',
  'server/src/catalog/formula/sandbox.ts createSandbox',
  'server/src/catalog/models/models.ts createModels',
  'server/src/catalog/provider/provider.ts defineProvider',
  'server/src/database/connection/db.ts openStore',
  'server/src/files/reading/xlsx-cells.ts createCellReader',
  'server/src/files/reading/xlsx-strings.ts createSharedStrings',
  'server/src/files/routes/imports.ts importRoutes',
  'server/src/files/routes/uploads.ts uploadRoutes',
  'server/src/lib/csv/csv-parser.ts createCsvParser',
  'server/src/lib/egress/egress.ts createEgress',
  'server/src/lib/json/parse-in-turns.ts parseScanned',
  'server/src/lib/json/storable.ts toStorableJsonInSteps',
  'server/src/lib/readers/reader.ts lineUp',
  'server/src/lib/readers/readers.ts createReaders',
  'server/src/lib/timing/batcher.ts createBatcher',
  'server/src/lib/timing/yielding.ts createYielding',
  'server/src/organisation/routes/screens/connections.ts connectionSettings',
  'server/src/organisation/routes/screens/members.ts memberSettings',
  'server/src/organisation/routes/screens/sessions.ts sessionRoutes',
  'server/src/records/routes/screens/segments.ts segmentSettings',
  'server/src/records/routes/segment-syncs.ts segmentSyncRoutes',
  'server/src/runs/engine/handed-rows.ts takeHandedRows',
  'server/src/runs/engine/testing/flight-store-fixture.ts makeFlightSheet',
  'server/src/runs/routes/runs.ts runRoutes',
  'server/src/sheets/routes/actions/action-layout.ts actionLayoutRoutes',
  'server/src/sheets/routes/actions/actions.ts actionRoutes',
  'server/src/sheets/routes/rows/cells.ts cellRoutes',
  'server/src/sheets/routes/rows/change-audiences.ts createAudiences',
  'server/src/sheets/routes/rows/rows.ts rowRoutes',
  'server/src/sheets/routes/screens/row-edits.ts rowEditRoutes',
  'server/src/sheets/routes/workflows/workflows.ts workflowRoutes',
  'server/src/shortcuts/routes/screens/shortcuts.ts shortcutSettings',
  'server/src/shortcuts/routes/shortcut-runs.ts shortcutRunRoutes',
  'server/src/sources/routes/pixel.ts pixelRoutes',
  'server/src/sources/routes/source-instances.ts sourceInstanceRoutes',
  'server/src/sources/routes/sources.ts sourceRoutes',
]

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

const texts = new Map(
  globSync('{server,contract,cli,dashboard,scripts}/**/*.{ts,tsx,mjs}', {
    exclude: (path) => /(^|\/)(node_modules|dist[^/]*)$/.test(path),
  }).map((file) => [file, readFileSync(file, 'utf8')]),
)

const countLines = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

/** Returns the functions that have too many lines, by their own names or the nearest names around them. */
function findLongFunctions(file: string, text: string): string[] {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const found = new Set<string>()
  const visit = (part: unknown, around: string): void => {
    if (Array.isArray(part)) for (const one of part) visit(one, around)
    if (!isNode(part)) return
    const name = part.id?.name ?? part.key?.name ?? around
    const isLong = countLines(text.slice(part.start, part.end)) > MAX_FUNCTION_LINES
    if (isLong && FUNCTIONS.has(part.type)) found.add(`${file} ${name}`)
    if (isLong) for (const inner of Object.values(part)) visit(inner, name)
  }
  visit(program, 'a function without a name')
  return [...found]
}

type Node = { type: string; start: number; end: number; id?: { name?: string }; key?: { name?: string } }
const isNode = (part: unknown): part is Node =>
  typeof part === 'object' && part !== null && 'type' in part && 'start' in part

describe('code can be read in one go', () => {
  it(`a file has at most ${MAX_FILE_LINES} lines`, () => {
    expect(texts.size).toBeGreaterThan(1000)
    const long = [...texts].flatMap(([file, text]) => (countLines(text) > MAX_FILE_LINES ? [file] : []))
    expect(long.toSorted()).toEqual(LONG_FILES)
  })

  it(`a function has at most ${MAX_FUNCTION_LINES} lines, except in tests`, () => {
    const long = [...texts].flatMap(([file, text]) =>
      file.endsWith('.test.ts') || countLines(text) <= MAX_FUNCTION_LINES
        ? []
        : findLongFunctions(file, text),
    )
    expect(long.toSorted()).toEqual(LONG_FUNCTIONS)
  })

  it.each([
    ['a declaration', (body: string) => `export async function long() {\n${body}}`],
    ['an arrow', (body: string) => `const long = () => {\n${body}}`],
    ['a method', (body: string) => `class Holder {\n  long() {\n${body}}\n}`],
    ['a function within a short one', (body: string) => `const long = wrap(() => {\n${body}})`],
  ])('the length of %s is seen', (_what, write) => {
    expect(findLongFunctions('a.ts', write('  step()\n'.repeat(79)))).toEqual(['a.ts long'])
    expect(findLongFunctions('a.ts', write('  step()\n'.repeat(78)))).toEqual([])
  })
})
