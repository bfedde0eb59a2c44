import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/**
 * The catalogue from bottom to top: a part may import those before it. No definition imports the store: what
 * it needs is passed to it.
 */
const CATALOG = [
  'outcome.ts', // results of running an action
  'outputs.ts',
  'values/', // names, JSON and lists in inputs and outputs
  'formula/', // expressions of callers and their sandbox
  'schema/', // JSON schemas of callers
  'fields/', // inputs of actions
  'http/',
  'built-in/', // facts that are found without a third party
  'provider/', // calls of third parties
  'questions/', // the questions that third parties answer
  'providers/',
  'waterfalls/', // the providers that are asked a question, and their order
  'crm/',
  'push/', // writing to other systems
  'records/', // access of actions to the record store
  'models/',
  'agent/', // the web agent
  'define.ts', // the definition of an action
  'actions/',
  'registry.ts',
  'describe.ts',
  'catalogue-entry.ts', // the description of an action for callers
  'configuration/', // actions in a chain
]

/**
 * The areas. Imports go strictly downward: a file may import its own area and those listed, which all stand
 * above it.
 */
export const AREAS: Record<string, { at: string; imports: string }> = {
  contract: { at: 'contract/', imports: '' },
  lib: { at: 'server/src/lib/', imports: 'contract' },
  // Rules of a sheet's definition that need no other area.
  chain: { at: 'server/src/catalog/chain/', imports: 'contract lib' },
  database: { at: 'server/src/database/', imports: 'contract lib chain' },
  ...Object.fromEntries(
    CATALOG.map((part, n) => [
      `catalog/${part}`,
      {
        at: `server/src/catalog/${part}`,
        imports: ['contract lib chain', ...CATALOG.slice(0, n).map((lower) => `catalog/${lower}`)].join(' '),
      },
    ]),
  ),
  sources: { at: 'server/src/sources/', imports: 'contract lib chain catalog' },
  // The SQL of each room.
  'organisation/store': { at: 'server/src/organisation/store/', imports: 'contract lib database' },
  'money/store': { at: 'server/src/money/store/', imports: 'contract lib database organisation/store' },
  'runs/store': { at: 'server/src/runs/store/', imports: 'contract lib database money/store' },
  'sheets/store': {
    at: 'server/src/sheets/store/',
    imports: 'contract lib chain database runs/store organisation/store',
  },
  // One statement finds the keys of requests and the sheets that their paths name.
  admission: {
    at: 'server/src/organisation/store/admission.ts',
    imports: 'lib database sheets/store organisation/store',
  },
  'webhooks/store': {
    at: 'server/src/runs/webhooks/store/',
    imports: 'contract lib database sheets/store organisation/store admission',
  },
  'files/store': { at: 'server/src/files/store/', imports: 'contract lib database sheets/store' },
  'records/store': { at: 'server/src/records/store/', imports: 'contract lib database' },
  'segments/store': { at: 'server/src/records/segments/store/', imports: 'contract lib database' },
  'syncs/store': { at: 'server/src/records/syncs/store/', imports: 'contract lib database' },
  'shortcuts/store': { at: 'server/src/shortcuts/store/', imports: 'contract lib database' },
  'sources/store': {
    at: 'server/src/sources/store/',
    imports: 'contract lib database money/store sheets/store',
  },
  'agent/store': { at: 'server/src/agent/store/', imports: 'lib database money/store' },
  // The rules of each room, which the API and the commands share.
  organisation: {
    at: 'server/src/organisation/',
    imports:
      'contract lib database catalog money/store runs/store sheets/store organisation/store admission sources/store',
  },
  money: {
    at: 'server/src/money/',
    imports: 'contract lib database catalog money/store sheets/store organisation/store',
  },
  webhooks: {
    at: 'server/src/runs/webhooks/webhooks.ts',
    imports: 'contract lib database money/store organisation/store webhooks/store',
  },
  sheets: {
    at: 'server/src/sheets/',
    imports: 'contract lib chain database catalog sheets/store organisation/store organisation webhooks',
  },
  runs: {
    at: 'server/src/runs/',
    imports:
      'contract lib chain database catalog sources money/store runs/store sheets/store organisation/store organisation money sheets',
  },
  'webhook-intake': {
    at: 'server/src/runs/webhooks/',
    imports: 'contract lib database sheets/store webhooks/store webhooks money runs',
  },
  // The price of a run, without running it.
  estimates: {
    at: 'server/src/money/estimates/',
    imports: 'contract lib chain database catalog money/store runs/store sheets/store runs',
  },
  files: {
    at: 'server/src/files/',
    imports: 'contract lib chain database catalog sheets/store files/store organisation sheets runs',
  },
  workspace: { at: 'server/src/process/workspace.ts', imports: 'lib database files' },
  backup: { at: 'server/src/database/backup/', imports: 'lib database files/store files workspace' },
  records: {
    at: 'server/src/records/',
    imports: 'contract lib database organisation/store records/store segments/store syncs/store',
  },
  segments: {
    at: 'server/src/records/segments/',
    imports:
      'contract lib chain database organisation/store records/store segments/store syncs/store sources/store records',
  },
  // Deliveries of segments' members into workflows.
  syncs: {
    at: 'server/src/records/syncs/',
    imports:
      'contract lib chain database sheets/store organisation/store records/store syncs/store sources/store money sheets runs records segments',
  },
  // Pulls of sources, with what they import and its targets.
  pulls: {
    at: 'server/src/sources/pulls/',
    imports:
      'contract lib chain database catalog sources money/store runs/store sheets/store organisation/store sources/store money sheets runs',
  },
  engine: {
    at: 'server/src/runs/engine/',
    imports:
      'contract lib chain database catalog money/store runs/store sheets/store organisation/store money sheets runs records',
  },
  // The tests of actions, as a worker runs them.
  'cell-tests/running': {
    at: 'server/src/runs/cell-tests/running/',
    imports:
      'contract lib chain database catalog money/store runs/store sheets/store organisation/store money sheets runs engine',
  },
  shortcuts: {
    at: 'server/src/shortcuts/',
    imports:
      'contract lib chain database catalog sheets/store organisation/store shortcuts/store organisation money sheets runs',
  },
  agent: {
    at: 'server/src/agent/',
    imports: 'contract lib database catalog money/store agent/store runs',
  },
  // The code that every request passes through. It does not import the engine: main passes it in.
  api: {
    at: 'server/src/api/',
    imports:
      'contract lib chain database catalog sources sheets/store organisation/store admission money files agent',
  },
  // The endpoints of each room.
  'money/routes': {
    at: 'server/src/money/routes/',
    imports: 'contract lib database money/store sheets/store money sheets estimates files api',
  },
  'sheets/routes': {
    at: 'server/src/sheets/routes/',
    imports:
      'contract lib chain database catalog money/store runs/store sheets/store organisation/store webhooks/store records/store organisation money webhooks sheets runs api money/routes',
  },
  'runs/routes': {
    at: 'server/src/runs/routes/',
    imports:
      'contract lib chain database money/store runs/store sheets/store money sheets runs estimates api money/routes sheets/routes',
  },
  'organisation/routes': {
    at: 'server/src/organisation/routes/',
    imports:
      'contract lib database catalog sheets/store organisation/store files/store organisation api sheets/routes',
  },
  'webhooks/routes': {
    at: 'server/src/runs/webhooks/routes/',
    imports:
      'contract lib database sheets/store webhooks/store webhooks sheets webhook-intake api sheets/routes',
  },
  'files/routes': {
    at: 'server/src/files/routes/',
    imports:
      'contract lib chain database sheets/store organisation/store files/store money sheets runs files api money/routes sheets/routes',
  },
  'records/routes': {
    at: 'server/src/records/routes/',
    imports:
      'contract lib sheets/store records/store segments/store syncs/store runs records segments syncs api money/routes sheets/routes',
  },
  'sources/routes': {
    at: 'server/src/sources/routes/',
    imports:
      'contract lib catalog sources sheets/store sources/store runs pulls api money/routes sheets/routes',
  },
  'shortcuts/routes': {
    at: 'server/src/shortcuts/routes/',
    imports:
      'contract lib database sheets/store organisation/store shortcuts/store sheets shortcuts api money/routes sheets/routes',
  },
  'agent/routes': {
    at: 'server/src/agent/routes/',
    imports: 'contract lib database catalog money/store agent/store api money/routes',
  },
  welcome: { at: 'server/src/api/welcome.ts', imports: 'lib api' },
  'dashboard-files': {
    at: 'server/src/api/dashboard/',
    imports: 'lib organisation/store organisation api organisation/routes welcome',
  },
  // The single list of all routes.
  routes: {
    at: 'server/src/api/routes.ts',
    imports:
      'money api money/routes sheets/routes runs/routes organisation/routes webhooks/routes files/routes records/routes sources/routes shortcuts/routes agent/routes dashboard-files',
  },
  app: { at: 'server/src/api/app.ts', imports: 'lib api routes welcome' },
  // The work of a worker process, and the order of start and end. main and the tests start it.
  process: {
    at: 'server/src/process/',
    imports:
      'lib database catalog sources organisation/store organisation money sheets runs webhook-intake files workspace records segments syncs pulls engine cell-tests/running shortcuts agent dashboard-files app',
  },
  main: { at: 'server/src/main.ts', imports: 'lib process' },
  sdk: { at: 'sdk/', imports: 'contract' },
  cli: {
    at: 'cli/',
    imports:
      'contract lib chain database catalog sources money/store runs/store sheets/store organisation/store admission webhooks/store records/store segments/store shortcuts/store sources/store organisation money webhooks sheets runs estimates files workspace backup records segments pulls shortcuts agent process sdk',
  },
  serve: { at: 'cli/commands/serve.ts', imports: 'cli main' },
  loam: { at: 'cli/main.ts', imports: 'cli serve' },
  scripts: {
    at: 'scripts/',
    imports:
      'contract lib catalog sources sheets/store organisation/store webhooks/store files api files/routes cli loam',
  },
  mcp: { at: 'mcp/', imports: 'contract sdk' },
  dashboard: { at: 'dashboard/', imports: 'contract sdk' },
}
/** The packages that an area may import, if they are limited. */
const PACKAGES: Record<string, string[]> = { contract: ['zod'] }
/** Tests, their fixtures and benches may import anything, but nothing else may import them. */
const TEST_CODE = /^(test|bench)\/|\.test\.tsx?$|\/testing\/|^vitest\.config\.ts$/

type Import = { line: number; target: string; kind: 'value' | 'type' | 'lazy' }
type Offence = string

const STATIC = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w$\s{},*]*?\sfrom\s+)?['"]([^'"\n]+)['"]/gm
const LAZY = /\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g
const aliases: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8')).imports

/** Returns the areas that an area may import. `catalog` stands for all its parts. */
export const importable = (area: string) =>
  (AREAS[area]?.imports.split(' ').filter(Boolean) ?? []).flatMap((name) =>
    name === 'catalog' ? CATALOG.map((part) => `catalog/${part}`) : [name],
  )

export function parseImports(text: string): Import[] {
  const lineOf = (at: number) => text.slice(0, at).split('\n').length
  return [
    ...text.matchAll(STATIC).map(({ 0: all, 1: type, 2: target = '', index }): Import => {
      return { line: lineOf(index + all.length), target, kind: type === undefined ? 'value' : 'type' }
    }),
    ...text
      .matchAll(LAZY)
      .map(({ 1: target = '', index }): Import => ({ line: lineOf(index), target, kind: 'lazy' })),
  ]
}

/** Returns the file in the repository that an import means, or null for a package. */
function resolve(from: string, target: string): string | null {
  if (target.startsWith('.')) return join(dirname(from), target)
  for (const [alias, path] of Object.entries(aliases)) {
    const start = alias.replace('*', '')
    if (target.startsWith(start)) return join(path.replace('*', target.slice(start.length)))
  }
  return null
}

/** Returns the area with the longest path that contains the file. */
function areaOf(file: string): string | undefined {
  const holding = Object.keys(AREAS).filter((name) => file.startsWith(AREAS[name]?.at ?? ''))
  return holding.sort((a, b) => (AREAS[b]?.at.length ?? 0) - (AREAS[a]?.at.length ?? 0))[0]
}

export function findOffences(files: Record<string, string>): Offence[] {
  return Object.entries(files).flatMap(([file, text]) => {
    if (TEST_CODE.test(file)) return []
    const area = areaOf(file)
    if (area === undefined) return [`${file} is in no area of the table`]
    return parseImports(text).flatMap(({ line, target }) => {
      const path = resolve(file, target)
      const words = `${file}:${line} (${area}) imports`
      if (path === null) {
        const permitted = PACKAGES[area]
        return permitted === undefined || permitted.includes(target) ? [] : [`${words} the package ${target}`]
      }
      if (TEST_CODE.test(path)) return [`${words} test code: ${path}`]
      const other = areaOf(path)
      if (other === area) return []
      if (other === undefined) return [`${words} ${path}, which is in no area of the table`]
      return importable(area).includes(other) ? [] : [`${words} ${path} (${other})`]
    })
  })
}

/**
 * Finds cycles of imports, except through imports that are deferred to a call. By default it finds those that
 * exist when the program runs.
 */
export function findCycles(files: Record<string, string>, kinds: Import['kind'][] = ['value']): Offence[] {
  const edges = new Map(
    Object.entries(files).map(([file, text]) => [
      file,
      parseImports(text).flatMap(({ kind, line, target }) => {
        const path = kinds.includes(kind) ? resolve(file, target) : null
        return path === null ? [] : [{ line, path }]
      }),
    ]),
  )
  const cycles: Offence[] = []
  const done = new Set<string>()
  const visit = (file: string, trail: { file: string; line: number }[]): void => {
    const start = trail.findIndex((step) => step.file === file)
    if (start >= 0) {
      const steps = trail.slice(start).map((step) => `${step.file}:${step.line}`)
      cycles.push([...steps, file].join(' -> '))
      return
    }
    if (done.has(file)) return
    for (const { line, path } of edges.get(file) ?? []) visit(path, [...trail, { file, line }])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  return cycles
}
